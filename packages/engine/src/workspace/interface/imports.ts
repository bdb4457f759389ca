/** Checkpoints that were captured elsewhere come into a workspace. */
import type { Imported, ImportedThread, ImportRequest, ThreadImport } from "../../model/arrival.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";

/** What a workspace takes over from other programs. What it took over is never the newest checkpoint, and no step. */
export interface Imports {
  /** Imports a checkpoint; one whose alias is there already is returned as it is. */
  importCheckpoint(request: ImportRequest): Promise<Checkpoint>;
  /** Imports checkpoints: all of them, or none. */
  importCheckpoints(requests: Iterable<ImportRequest>): Promise<Imported>;
  /** Imports a conversation with its checkpoints, messages and sessions: all of it, or nothing. */
  importThread(request: ThreadImport): Promise<ImportedThread>;
}
