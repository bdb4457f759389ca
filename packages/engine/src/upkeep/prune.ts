/**
 * Drops checkpoints by policy. A pruned checkpoint is no longer listed, and can be brought back until its
 * grace time ends.
 */
import { listCheckpoints } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { appendOperation } from "../history/operations.ts";
import { checkpointsOfNewestSteps } from "../history/step-rows.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { OperationId } from "../model/ids.ts";
import { SAFETY_KEEP_MS, type DropRule, type KeepRule, type RetentionPolicy } from "../model/retention.ts";
import type { System } from "../model/system.ts";
import type { Store } from "../store/store.ts";

const HOUR_MS = 60 * 60 * 1000;

/** What a policy drops, oldest first, and which rules decided. */
export interface Selection {
  readonly dropped: readonly Checkpoint[];
  readonly keptBy: Readonly<Partial<Record<KeepRule, number>>>;
  readonly droppedBy: Readonly<Partial<Record<DropRule, number>>>;
}

/** Applies a policy to all checkpoints. */
export function selectPrunable(store: Store, policy: RetentionPolicy, now: number): Selection {
  const all = listCheckpoints(store.db);
  // age is measured in recorded time: a clock that runs ahead must not make everything look old
  const present = all.reduce((latest, { createdAt }) => Math.max(latest, Math.min(createdAt, now)), 0);
  const lastEvent = new Map<string | null, number>();
  for (const { thread, createdAt } of all)
    lastEvent.set(thread, Math.max(lastEvent.get(thread) ?? 0, createdAt));
  const rank = new Map<string | null, number>();
  const needed = checkpointsOfNewestSteps(store.db, "turns");
  const [keptBy, droppedBy]: [Partial<Record<KeepRule, number>>, Partial<Record<DropRule, number>>] = [
    {},
    {},
  ];
  const dropped = all.filter((checkpoint, index) => {
    const { thread, seq, createdAt } = checkpoint;
    const place = rank.get(thread) ?? 0;
    rank.set(thread, place + 1);
    const kept =
      (index === 0 ? "newest" : undefined) ??
      (needed.has(seq) ? "undo" : undefined) ??
      protection(checkpoint, present, lastEvent.get(thread) ?? 0) ??
      (place < policy.keepMinimum ? "last" : undefined);
    const rule = kept ?? judge(checkpoint, policy, { place, age: present - createdAt });
    if (isDropRule(rule)) droppedBy[rule] = (droppedBy[rule] ?? 0) + 1;
    else keptBy[rule] = (keptBy[rule] ?? 0) + 1;
    return isDropRule(rule);
  });
  return { dropped: dropped.reverse(), keptBy, droppedBy };
}

function isDropRule(rule: KeepRule | DropRule): rule is DropRule {
  return rule === "old" || rule === "surplus";
}

/** Decides by number and age. */
function judge(
  { kind }: Checkpoint,
  { keepMaximum, keepTurnsHours, keepAllHours }: RetentionPolicy,
  { place, age }: { place: number; age: number },
): KeepRule | DropRule {
  if (keepMaximum !== null && place >= keepMaximum) return "surplus";
  const isTurn = kind === "message" || kind === "turn" || kind === "restore";
  return age > (isTurn ? keepTurnsHours : keepAllHours) * HOUR_MS ? "old" : "young";
}

/**
 * Manual, named, tagged, initial and approved checkpoints stay; safety checkpoints stay while their thread is
 * active.
 */
function protection(checkpoint: Checkpoint, now: number, lastEvent: number): KeepRule | undefined {
  const { kind, name, tags } = checkpoint;
  if (kind === "initial") return "initial";
  if (kind === "manual") return "manual";
  if (kind === "approve") return "approved";
  if (name !== null) return "named";
  if (tags.length > 0) return "tagged";
  return kind === "safety" && now - lastEvent <= SAFETY_KEEP_MS ? "safety" : undefined;
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
