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
import { SAFETY_KEEP_MS, type RetentionPolicy } from "../model/retention.ts";
import type { System } from "../model/system.ts";
import type { Store } from "../store/store.ts";

const HOUR_MS = 60 * 60 * 1000;

/** The checkpoints that a policy drops, oldest first. */
export function selectPrunable(store: Store, policy: RetentionPolicy, now: number): Checkpoint[] {
  const all = listCheckpoints(store.db);
  // age is measured in recorded time: a clock that runs ahead must not make everything look old
  const present = all.reduce((latest, { createdAt }) => Math.max(latest, Math.min(createdAt, now)), 0);
  const lastEvent = new Map<string | null, number>();
  for (const { thread, createdAt } of all)
    lastEvent.set(thread, Math.max(lastEvent.get(thread) ?? 0, createdAt));
  const rank = new Map<string | null, number>();
  const newest = checkpointsOfNewestSteps(store.db, "turns");
  return all
    .filter((checkpoint, index) => {
      const place = rank.get(checkpoint.thread) ?? 0;
      rank.set(checkpoint.thread, place + 1);
      if (index === 0 || newest.has(checkpoint.seq)) return false;
      if (isProtected(checkpoint, present, lastEvent.get(checkpoint.thread) ?? 0)) return false;
      if (place < policy.keepMinimum) return false;
      if (policy.keepMaximum !== null && place >= policy.keepMaximum) return true;
      const age = present - checkpoint.createdAt;
      return age > hoursKept(checkpoint, policy) * HOUR_MS;
    })
    .reverse();
}

function hoursKept({ kind }: Checkpoint, policy: RetentionPolicy): number {
  return kind === "message" || kind === "turn" || kind === "restore"
    ? policy.keepTurnsHours
    : policy.keepAllHours;
}

/**
 * Manual, named, tagged, initial and approved checkpoints stay; safety checkpoints stay while their thread is
 * active.
 */
function isProtected(checkpoint: Checkpoint, now: number, lastEvent: number): boolean {
  const { kind, name, tags } = checkpoint;
  if (kind === "manual" || kind === "initial" || kind === "approve" || name !== null || tags.length > 0)
    return true;
  return kind === "safety" && now - lastEvent <= SAFETY_KEEP_MS;
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
