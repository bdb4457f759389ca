/** The seal of a checkpoint's row: alterations of what it says are noticed before it is used. */
import { hash } from "node:crypto";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { Database } from "../store/database.ts";

/** What the seal covers of a checkpoint, beside its recorded changes. */
type Sealed = Pick<
  Checkpoint,
  | "id"
  | "thread"
  | "kind"
  | "createdAt"
  | "snapshot"
  | "rules"
  | "excluded"
  | "parents"
  | "messageId"
  | "toolUseId"
  | "git"
>;

/**
 * Covers what a checkpoint's row says about its files, so that alterations are noticed. Trees prove
 * themselves; the row that names them and its recorded changes need this seal.
 */
export function sealOf(checkpoint: Sealed, delta: Uint8Array, version = SEAL_VERSION): Buffer {
  const { id, thread, kind, createdAt, snapshot, rules, excluded, parents } = checkpoint;
  const { messageId, toolUseId, git } = checkpoint;
  const later = version === 1 ? [] : [messageId, toolUseId, git];
  const line = JSON.stringify([id, thread, kind, createdAt, snapshot, rules, excluded, parents, ...later]);
  return hash("sha256", Buffer.concat([Buffer.from(line, "utf8"), delta]), "buffer");
}

/** The present scope of seals. A row sealed by an older version is verified with that version's scope. */
export const SEAL_VERSION = 2;

/** Throws unless the row of a checkpoint is as it was written. */
export function assertSealed(db: Database, checkpoint: Checkpoint): void {
  const row = db.get("SELECT delta, seal, sealed FROM checkpoint WHERE seq = ?", checkpoint.seq);
  const [delta, seal, version] = [row?.["delta"], row?.["seal"], Number(row?.["sealed"])];
  if (
    delta instanceof Uint8Array &&
    seal instanceof Uint8Array &&
    sealOf(checkpoint, delta, version).equals(seal)
  )
    return;
  throw new EngineError(
    "OBJECT_CORRUPT",
    `The record of checkpoint ${checkpoint.seq} is damaged. It was not used; your files are untouched.`,
    {
      object: checkpoint.snapshot,
      checkpoints: [checkpoint.id],
    },
  );
}
