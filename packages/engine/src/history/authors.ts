/** Who changed each path since a checkpoint: threads through their turns, and people or programs without a tool. */
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import type { AttributedEdit } from "./attribution.ts";
import { onLine } from "./line.ts";

/** The authors of what became of one path. */
export interface Authors {
  /** Threads whose turns changed it and are not undone. */
  readonly threads: ReadonlySet<ThreadId>;
  /** Changed without a tool. */
  readonly byHand: boolean;
  /** The threads that made the newest change; none where a person or Belay itself made it. */
  readonly last: readonly ThreadId[];
}

/** Changes that no checkpoint has yet, attributed as the next capture would attribute them. */
interface Unrecorded {
  readonly changes: readonly AttributedEdit[];
  readonly windows: readonly string[];
}

/** The authors of every path that changed after checkpoint `seq`, on the line of the branch here. */
export function authorsSince(db: Database, seq: number, unrecorded?: Unrecorded): Map<BytePath, Authors> {
  return authorsBetween(db, { after: seq, until: Number.MAX_SAFE_INTEGER }, unrecorded);
}

/** The authors of every path that changed after one checkpoint, up to another. */
export function authorsBetween(
  db: Database,
  { after, until }: { readonly after: number; readonly until: number },
  unrecorded?: Unrecorded,
): Map<BytePath, Authors> {
  const threads = new ThreadsOfSteps(db);
  const byPath = new Map<BytePath, WrittenAuthors>();
  const rows = db.iterate(
    `SELECT path, attribution, step, checkpoint FROM change g WHERE checkpoint > ? AND checkpoint <= ? AND ${onLine(db, { seq: "g.checkpoint" })} ORDER BY checkpoint`,
    after,
    until,
  );
  for (const row of rows) {
    const attribution = String(row["attribution"]);
    const by =
      attribution === "shared" || attribution === "merge"
        ? threads.ofWindows(Number(row["checkpoint"]))
        : threads.ofStep(row["step"] === null ? null : String(row["step"]));
    note(byPath, pathFromBytes(row["path"] as Uint8Array), { attribution, by });
  }
  for (const { path, attribution, step } of unrecorded?.changes ?? []) {
    const by = attribution === "shared" ? threads.ofSteps(unrecorded!.windows) : threads.ofStep(step);
    note(byPath, path, { attribution, by });
  }
  return byPath;
}

interface WrittenAuthors extends Authors {
  readonly threads: Set<ThreadId>;
  byHand: boolean;
  last: readonly ThreadId[];
}

function note(
  byPath: Map<BytePath, WrittenAuthors>,
  path: BytePath,
  { attribution, by }: { attribution: string; by: readonly ThreadId[] },
): void {
  const authors = byPath.get(path) ?? { threads: new Set<ThreadId>(), byHand: false, last: [] };
  byPath.set(path, authors);
  for (const thread of by) authors.threads.add(thread);
  if (attribution === "outside") authors.byHand = true;
  authors.last = by;
}

/** The threads of turns that are in place; each step is looked up once. */
class ThreadsOfSteps {
  readonly #db: Database;
  readonly #ofStep = new Map<string, readonly ThreadId[]>();
  readonly #ofWindows = new Map<number, readonly ThreadId[]>();

  constructor(db: Database) {
    this.#db = db;
  }

  ofStep(step: string | null): readonly ThreadId[] {
    return step === null ? [] : this.ofSteps([step]);
  }

  ofSteps(steps: readonly string[]): readonly ThreadId[] {
    return [...new Set(steps.flatMap((step) => this.#ofOne(step)))];
  }

  ofWindows(checkpoint: number): readonly ThreadId[] {
    let threads = this.#ofWindows.get(checkpoint);
    if (threads === undefined) {
      const rows = this.#db.all("SELECT step FROM shared_window WHERE checkpoint = ?", checkpoint);
      threads = this.ofSteps(rows.map((row) => String(row["step"])));
      this.#ofWindows.set(checkpoint, threads);
    }
    return threads;
  }

  #ofOne(step: string): readonly ThreadId[] {
    let threads = this.#ofStep.get(step);
    if (threads === undefined) {
      const row = this.#db.get(
        "SELECT thread FROM step WHERE id = ? AND state IN ('applied', 'open') AND kind = 'turn'",
        step,
      );
      const thread = row?.["thread"] ?? null;
      this.#ofStep.set(step, (threads = thread === null ? [] : [thread as ThreadId]));
    }
    return threads;
  }
}
