/**
 * The one way to count changed files, for checkpoints, differences, plans and outcomes. Files are counted by
 * path, so a move is one deletion and one addition. Directories are not files.
 */
import type { Entry } from "../model/entry.ts";
import type { ChangeCounts } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";

/** Counts added, modified and deleted files. */
export function countChanges(changes: readonly Pick<Edit, "from" | "to">[]): ChangeCounts {
  const count = { added: 0, modified: 0, deleted: 0 };
  for (const { from, to } of changes) {
    const [before, after] = [isFile(from), isFile(to)];
    if (before && after) count.modified += 1;
    else if (after) count.added += 1;
    else if (before) count.deleted += 1;
  }
  return count;
}

function isFile(entry: Entry | undefined): boolean {
  return entry !== undefined && entry.kind !== "directory";
}
