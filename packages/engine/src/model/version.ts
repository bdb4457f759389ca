/** Versions: checkpoints that were put on a branch on purpose, each with the one before it. */
import type { CheckpointId, CheckpointRef } from "./ids.ts";

/** A checkpoint that was put on a branch on purpose. */
export interface Version {
  readonly id: string;
  readonly checkpoint: CheckpointId;
  /** The name of the branch it was made on. */
  readonly branch: string;
  /** The version before it; null for the first. */
  readonly parent: string | null;
  readonly name: string | null;
  readonly description: string;
  /** What its maker keeps with it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** The checkpoint to make a version of, and what to call it. */
export interface VersionRequest {
  readonly checkpoint: CheckpointRef;
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
