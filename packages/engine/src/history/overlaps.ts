/** Paths that an agent is about to touch and that another agent in the same directory changed meanwhile. */
import { pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import { branchHere } from "./line.ts";

/** A path and the threads whose open turns changed it. */
export interface Overlap {
  readonly path: BytePath;
  readonly threads: readonly ThreadId[];
}

/** The overlaps of a turn with the turns of other threads that are open here: what they changed since it began. */
export function overlapsOf(
  db: Database,
  { thread, step, paths }: { thread: ThreadId; step: string; paths: readonly BytePath[] },
): Overlap[] {
  if (paths.length === 0) return [];
  const others = db.all(
    "SELECT id, thread FROM step WHERE kind = 'turn' AND state = 'open' AND branch = ? AND thread IS NOT NULL AND thread <> ?",
    branchHere(db),
    thread,
  );
  if (others.length === 0) return [];
  const since = Number(db.get("SELECT before FROM step WHERE id = ?", step)?.["before"] ?? 0);
  const changed = (other: string, path: BytePath) =>
    db.get(
      "SELECT 1 FROM change WHERE step = ? AND checkpoint > ? AND path = ? LIMIT 1",
      other,
      since,
      pathToBytes(path),
    ) !== undefined;
  return paths.flatMap((path) => {
    const threads = others
      .filter(({ id }) => changed(String(id), path))
      .map((row) => row["thread"] as ThreadId);
    return threads.length === 0 ? [] : [{ path, threads: [...new Set(threads)] }];
  });
}
