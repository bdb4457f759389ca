/** File edits of a thread: not a second truth, but what its captures say. */
import { fileChanges } from "../diff/file-changes.ts";
import { readCheckpointChanges } from "../history/changes.ts";
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { FileEdit } from "../model/conversation.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import type { FileChange } from "../model/file-change.ts";
import type { Store } from "../store/store.ts";

/** Newest first. */
export function listFileEdits(store: Store, thread: ThreadId, limit: number): FileEdit[] {
  const rows = store.db.all(
    `SELECT g.path AS path, g.checkpoint AS seq, c.id AS id, c.created_at AS at,
       (SELECT max(m.number) FROM message m WHERE m.step = g.step AND m.role = 'user') AS message
     FROM step s JOIN change g ON g.step = s.id JOIN checkpoint c ON c.seq = g.checkpoint
     WHERE s.thread = ? AND s.kind = 'turn' AND g.attribution = 'tool' ORDER BY g.checkpoint DESC, g.path LIMIT ?`,
    thread,
    limit,
  );
  return rows.flatMap((row) => {
    const change = describeChange(store, Number(row["seq"]), pathFromBytes(row["path"] as Uint8Array));
    if (change === undefined) return [];
    return [
      {
        path: change.path,
        checkpoint: String(row["id"]) as CheckpointId,
        createdAt: Number(row["at"]),
        messageIndex: row["message"] === null ? null : Number(row["message"]),
        type: change.type,
        diff: change.diff ?? null,
      },
    ];
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
