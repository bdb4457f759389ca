/** The end of a change of files: made durable, or told why the system refused it. */
import type { Anchor } from "../fs/anchor.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { syncDirectory, syncFileSystem } from "../fs/durable-file.ts";
import { isErrno } from "../fs/file-stat.ts";
import { parentPath, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { Edit } from "../model/plan.ts";

/** Directories synced one by one up to this many, then the file system as a whole. */
const SYNC_EACH_LIMIT = 64;

/** Makes the names in every directory that the edits touched durable. */
export function syncTouched(root: AbsolutePath, anchor: Anchor, edits: readonly Edit[]): void {
  const directories = new Set(edits.map(({ path }) => parentPath(path)));
  if (directories.size > SYNC_EACH_LIMIT && syncFileSystem(root)) return;
  for (const directory of directories) {
    try {
      syncDirectory(directory === "" ? root : anchor.at(directory));
    } catch (error) {
      // a directory that this operation removed has nothing left to sync; its parent is in the set too
      if (!isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) throw changeRefused(directory, error);
    }
  }
}

/** A change that the system refused, as an error of the engine. */
export function changeRefused(path: BytePath, error: unknown): EngineError<"FILE_SYSTEM"> {
  const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  return new EngineError(
    "FILE_SYSTEM",
    `${JSON.stringify(path)} could not be changed (${code}).`,
    { path, operation: "restore" },
    error,
  );
}
