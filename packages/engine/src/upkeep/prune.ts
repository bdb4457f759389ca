/**
 * Drops checkpoints by policy. A pruned checkpoint is no longer listed, and can be brought back until its
 * grace time ends.
 */
import { endsOfBranches } from "../history/branches.ts";
import { listCheckpoints } from "../history/list-checkpoints.ts";
import { closedThreads } from "../history/closed-threads.ts";
import { appendEvent } from "../history/events.ts";
import { appendOperation } from "../history/operations.ts";
import { versionSeqs } from "../history/versions.ts";
import { queuedCheckpoints } from "../history/queued-checkpoints.ts";
import { checkpointsOfNewestSteps } from "../history/step-rows.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { OperationId, ThreadId } from "../model/ids.ts";
import { remoteOrigin } from "../model/origin.ts";
import {
  FETCHED_KEEP_MS,
  PROTECTIONS,
  SAFETY_KEEP_MS,
  type DropRule,
  type KeepRule,
  type Protection,
  type RetentionPolicy,
} from "../model/retention.ts";
import type { System } from "../model/system.ts";
import type { Store } from "../store/store.ts";

const HOUR_MS = 60 * 60 * 1000;

/** What a policy drops, oldest first, and which rules decided. */
export interface Selection {
  readonly dropped: readonly Checkpoint[];
  readonly keptBy: Readonly<Partial<Record<KeepRule, number>>>;
  readonly droppedBy: Readonly<Partial<Record<DropRule, number>>>;
}

/** Applies a policy to all checkpoints, or to those of one thread. */
export function selectPrunable(
  store: Store,
  policy: RetentionPolicy,
  { now, thread: only }: { readonly now: number; readonly thread?: ThreadId | undefined },
): Selection {
  const all = listCheckpoints(store.db, { branch: "all" });
  const newest = all.find(({ origin }) => origin === null);
  const ends = endsOfBranches(store.db);
  // age is measured in recorded time: a clock that runs ahead must not make everything look old
  const present = all.reduce((latest, each) => Math.max(latest, Math.min(timeOf(each), now)), 0);
  const lastEvent = new Map<string | null, number>();
  for (const each of all)
    if (remoteOrigin(each.origin) === undefined)
      lastEvent.set(each.thread, Math.max(lastEvent.get(each.thread) ?? 0, timeOf(each)));
  const rank = new Map<string, number>();
  const needed = checkpointsOfNewestSteps(store.db, "turns");
  const versions = versionSeqs(store.db);
  const queued = queuedCheckpoints(store.db);
  const closed = closedThreads(store.db, present);
  const [keptBy, droppedBy]: [Partial<Record<KeepRule, number>>, Partial<Record<DropRule, number>>] = [
    {},
    {},
  ];
  const dropped = all.filter((checkpoint) => {
    const { thread, seq, origin } = checkpoint;
    if (only !== undefined && thread !== only) return false;
    // what came from elsewhere takes no place from what was captured here, and gets old from when it came
    const list = `${thread} ${origin}`;
    const place = rank.get(list) ?? 0;
    rank.set(list, place + 1);
    const age = present - timeOf(checkpoint);
    const kept =
      (checkpoint === newest || ends.has(seq) ? "newest" : undefined) ??
      (needed.has(seq) ? "undo" : undefined) ??
      (versions.has(seq) ? "named" : undefined) ??
      protection(checkpoint, policy, present - (lastEvent.get(thread) ?? 0)) ??
      // [T14] what a remote does not have yet waits for it
      (queued.has(seq) ? "queued" : undefined) ??
      (place < policy.keepMinimum ? "last" : undefined);
    const rule =
      remoteOrigin(origin) === undefined
        ? (kept ?? judge(checkpoint, policy, { place, age, isClosed: closed.has(thread) }))
        : versions.has(seq)
          ? "named"
          : judgeFetched(checkpoint, age);
    if (isDropRule(rule)) droppedBy[rule] = (droppedBy[rule] ?? 0) + 1;
    else keptBy[rule] = (keptBy[rule] ?? 0) + 1;
    return isDropRule(rule);
  });
  return { dropped: dropped.reverse(), keptBy, droppedBy };
}

/** When a checkpoint was taken, or came. */
function timeOf({ createdAt, arrivedAt }: Checkpoint): number {
  return arrivedAt ?? createdAt;
}

function isDropRule(rule: KeepRule | DropRule): rule is DropRule {
  return rule === "old" || rule === "surplus";
}

/** [R701] A fetched checkpoint can be fetched again, so its last use decides, or a tag, [R356] unless it is a version here. */
function judgeFetched({ tags }: Checkpoint, age: number): KeepRule | DropRule {
  if (tags.length > 0) return "tagged";
  return age > FETCHED_KEEP_MS ? "old" : "fetched";
}

/** Decides by number and age. */
function judge(
  { kind }: Checkpoint,
  { keepMaximum, keepTurnsHours, keepAllHours, closedHours }: RetentionPolicy,
  { place, age, isClosed }: { place: number; age: number; isClosed: boolean },
): KeepRule | DropRule {
  if (keepMaximum !== null && place >= keepMaximum) return "surplus";
  // [R1780] a conversation that is over keeps less
  if (isClosed && closedHours !== undefined && age > closedHours * HOUR_MS) return "old";
  const isTurn =
    kind === "message" || kind === "turn" || kind === "restore" || kind === "switch" || kind === "merge";
  return age > (isTurn ? keepTurnsHours : keepAllHours) * HOUR_MS ? "old" : "young";
}

/** What keeps a checkpoint whatever its age, of what the policy protects. Safety ones stay while their thread is active. */
function protection(
  { kind, name, tags }: Checkpoint,
  { protect = PROTECTIONS }: RetentionPolicy,
  silence: number,
): Protection | undefined {
  const applies: Readonly<Record<Protection, boolean>> = {
    initial: kind === "initial",
    manual: kind === "manual",
    approved: kind === "approve",
    named: name !== null,
    tagged: tags.length > 0,
    safety: kind === "safety" && silence <= SAFETY_KEEP_MS,
  };
  return PROTECTIONS.find((one) => applies[one] && protect.includes(one));
}

/** Marks checkpoints as pruned. */
export function pruneCheckpoints(store: Store, system: System, checkpoints: readonly Checkpoint[]): void {
  if (checkpoints.length === 0) return;
  const now = system.now();
  store.db.transaction(() => {
    for (const { seq, id, thread } of checkpoints) {
      store.db.run("UPDATE checkpoint SET pruned_at = ? WHERE seq = ?", now, seq);
      appendEvent(store.db, { type: "checkpoint_deleted", thread, at: now, data: { checkpointId: id } });
    }
    log(
      store,
      system,
      "prune",
      checkpoints.map(({ id }) => id),
    );
  });
}

/** Brings back every checkpoint whose grace time has not ended. */
export function unprune(store: Store, system: System): number[] {
  return store.db.transaction(() => {
    const rows = store.db.all("SELECT seq, id FROM checkpoint WHERE pruned_at IS NOT NULL ORDER BY seq");
    if (rows.length === 0) return [];
    store.db.run("UPDATE checkpoint SET pruned_at = NULL WHERE pruned_at IS NOT NULL");
    log(
      store,
      system,
      "unprune",
      rows.map((row) => String(row["id"])),
    );
    return rows.map((row) => Number(row["seq"]));
  });
}

function log(store: Store, system: System, kind: "prune" | "unprune", checkpoints: readonly string[]): void {
  appendOperation(store.db, {
    id: system.newId() as OperationId,
    kind,
    at: system.now(),
    detail: { checkpoints },
  });
}
