/** What may be made, and what may be deleted. */
import { approvedSeqs } from "./sessions.ts";
import type { Checkpoint, CheckpointRequest } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import { versionSeqs } from "./versions.ts";
import type { Database } from "../store/database.ts";

/** Refuses a manual checkpoint when its thread has as many as the policy allows. */
export function assertRoomForManual(
  db: Database,
  { kind = "manual", thread }: CheckpointRequest,
  limit: number | undefined,
): void {
  if (kind !== "manual" || thread === undefined || limit === undefined) return;
  const row = db.get(
    "SELECT count(*) AS n FROM checkpoint WHERE thread = ? AND kind = 'manual' AND pruned_at IS NULL AND origin IS NULL",
    thread,
  );
  if (Number(row?.["n"]) < limit) return;
  throw new EngineError(
    "LIMIT_REACHED",
    `This thread has ${limit} manual checkpoints, the most its policy allows. No checkpoint was taken.`,
    { limit, thread },
  );
}

/** Approvals and versions stand on their checkpoints. */
export function assertDeletable(db: Database, { id, seq }: Checkpoint): void {
  const isApproved = approvedSeqs(db).has(seq);
  if (!isApproved && !versionSeqs(db).has(seq)) return;
  const reason = isApproved ? "it is an approved state" : "it is a version";
  throw new EngineError(
    "CHECKPOINT_PROTECTED",
    `Checkpoint ${seq} cannot be deleted: ${reason}. Nothing was changed.`,
    { checkpoint: id, reason },
  );
}
