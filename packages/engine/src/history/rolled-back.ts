/** What was taken back without the agent's knowledge, net of what was put back again. */
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { RolledBack } from "../model/conversation.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database, Row } from "../store/database.ts";
import { onLine } from "./line.ts";

const TOLD_PATHS = 20;

interface Operation {
  readonly by: RolledBack["by"];
  readonly description: string;
  readonly changes: readonly { readonly path: BytePath; readonly old: string; readonly new: string }[];
}

/** Restores, resets, undos and redos on the line here after a checkpoint, without those that cancel out. Oldest first. */
export function rolledBackSince(db: Database, thread: ThreadId, after: number): RolledBack[] {
  const operations = db
    .all(
      `SELECT seq, kind, description FROM checkpoint WHERE kind IN ('restore', 'reset') AND seq > ?
         AND (thread IS NULL OR thread = ?) AND ${onLine(db, { seq: "seq", branch: "branch" })} ORDER BY seq`,
      after,
      thread,
    )
    .map((row) => toOperation(db, row));
  const lasting = lastingPaths(operations);
  return withoutTakenBack(operations).flatMap((operation) => {
    const { by, description, changes } = operation;
    const paths = changes.map(({ path }) => path).filter((path) => lasting.get(path) === operation);
    if (changes.length > 0 && paths.length === 0) return [];
    return [{ by, description, paths: paths.slice(0, TOLD_PATHS), pathsTotal: paths.length }];
  });
}

/** Paths that differ from before the first of these operations, each with the last one that changed it. */
function lastingPaths(operations: readonly Operation[]): Map<BytePath, Operation> {
  const first = new Map<BytePath, string>();
  const last = new Map<BytePath, Operation>();
  for (const operation of operations) {
    for (const { path, old, new: now } of operation.changes) {
      if (!first.has(path)) first.set(path, old);
      if (first.get(path) === now) last.delete(path);
      else last.set(path, operation);
    }
  }
  return last;
}

/** Rewinding the conversation alone changes no path: there an undo is recognised by its name. */
function withoutTakenBack(operations: readonly Operation[]): Operation[] {
  const left: Operation[] = [];
  for (const operation of operations) {
    const undone = left.findLastIndex(
      ({ description, changes }) =>
        changes.length === 0 &&
        operation.changes.length === 0 &&
        operation.description === `Undid: ${description}`,
    );
    if (undone < 0) left.push(operation);
    else left.splice(undone, 1);
  }
  return left;
}

function toOperation(db: Database, row: Row): Operation {
  const changes = db.all(
    "SELECT path, old, new FROM change WHERE checkpoint = ? ORDER BY path",
    Number(row["seq"]),
  );
  return {
    by: row["kind"] as RolledBack["by"],
    description: String(row["description"]),
    changes: changes.map(({ path, old, new: now }) => ({
      path: pathFromBytes(path as Uint8Array),
      old: entryKey(old),
      new: entryKey(now),
    })),
  };
}

function entryKey(entry: unknown): string {
  return entry === null ? "" : Buffer.from(entry as Uint8Array).toString("latin1");
}
