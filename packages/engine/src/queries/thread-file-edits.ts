/** Which files did the turns of a thread change, and how? Derived from its captures. */
import { fileChanges } from "../diff/file-changes.ts";
import { readCheckpointChanges, readThreadChanges } from "../history/changes.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { FileEdit } from "../model/conversation.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { FileChange } from "../model/file-change.ts";
import type { Store } from "../store/store.ts";

/** The files that a thread's turns changed, newest first. */
export function listFileEdits(store: Store, thread: ThreadId, limit: number): FileEdit[] {
  return readThreadChanges(store.db, thread, limit).flatMap(({ path, seq, ...facts }) => {
    const change = describeChange(store, seq, path);
    return change === undefined
      ? []
      : [{ path: change.path, ...facts, type: change.type, diff: change.diff ?? null }];
  });
}

/** One change of a capture with its diff; undefined for a directory, or when it is no longer known. */
export function describeChange({ db, objects }: Store, seq: number, path: BytePath): FileChange | undefined {
  const change = readCheckpointChanges(db, seq).find((each) => each.path === path);
  if (change === undefined) return undefined;
  const edit = { path, from: change.old, to: change.new };
  try {
    return fileChanges(objects, [edit], { detail: "text" })[0];
  } catch (error) {
    // content that is gone or damaged has no diff; that the file was edited is still true
    if (error instanceof EngineError) return fileChanges(objects, [edit], { detail: "names" })[0];
    throw error;
  }
}
