/**
 * The changes between a thread's approved state and the present, path by path. A thread's own changes count
 * for it, and so do changes without an author. Changes of other threads, or approved in one, do not.
 */
import type { BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import type { AttributedEdit } from "./attribution.ts";
import { readCheckpointRows, type Change, type RecordedChange } from "./changes.ts";
import { onLine } from "./line.ts";
import { approvedStretches, type ApprovedStretch } from "./sessions.ts";

/** A change and whether it counts for the thread. */
export interface OwnedChange extends Change {
  readonly own: boolean;
}

/** The changes on the line here after checkpoint `since`, up to `until`, by path, in the order they happened. */
export function ownedChanges(
  db: Database,
  thread: ThreadId,
  { since, until = Number.MAX_SAFE_INTEGER }: { since: number; until?: number },
): Map<BytePath, OwnedChange[]> {
  const owners = new Owners(db, thread);
  const byPath = new Map<BytePath, OwnedChange[]>();
  const seqs = db.all(
    `SELECT DISTINCT checkpoint AS seq FROM change g WHERE checkpoint > ? AND checkpoint <= ?
       AND ${onLine(db, { seq: "g.checkpoint" })} ORDER BY checkpoint`,
    since,
    until,
  );
  for (const { seq } of seqs) {
    for (const change of readCheckpointRows(db, Number(seq))) {
      const list = byPath.get(change.path) ?? [];
      byPath.set(change.path, list);
      list.push({ ...change, own: owners.isOwn(change) });
    }
  }
  return byPath;
}

/** Adds changes that no checkpoint has yet, attributed as if they were recorded now. */
export function withUnrecorded(
  db: Database,
  thread: ThreadId,
  byPath: Map<BytePath, OwnedChange[]>,
  unrecorded: { readonly changes: readonly AttributedEdit[]; readonly windows: readonly string[] },
): void {
  const threads = threadsOfSteps(db, unrecorded.windows);
  for (const { path, from, to, attribution, step } of unrecorded.changes) {
    const by = attribution === "shared" ? threads : step === null ? [] : threadsOfSteps(db, [step]);
    const own = by.length === 0 || by.includes(thread);
    const change = { checkpoint: Number.MAX_SAFE_INTEGER - 1, path, old: from, new: to };
    byPath.set(path, [...(byPath.get(path) ?? []), { ...change, shared: attribution === "shared", own }]);
  }
}

class Owners {
  readonly #db: Database;
  readonly #thread: ThreadId;
  readonly #approved: readonly ApprovedStretch[];
  readonly #ofStep = new Map<string, ThreadId[]>();
  readonly #ofWindows = new Map<number, string[]>();

  constructor(db: Database, thread: ThreadId) {
    this.#db = db;
    this.#thread = thread;
    this.#approved = approvedStretches(db).filter((each) => each.thread !== thread);
  }

  isOwn(change: RecordedChange): boolean {
    const threads = this.#threads(change);
    if (threads.length > 0 && !threads.includes(this.#thread)) return false;
    if (threads.length === 1) return true;
    const others = this.#approved.filter(({ thread }) => threads.length === 0 || threads.includes(thread));
    return !others.some(({ base, approved }) => base < change.checkpoint && change.checkpoint <= approved);
  }

  /** Empty = no known author. */
  #threads({ step, attribution, checkpoint, path }: RecordedChange): readonly ThreadId[] {
    if (step !== null && attribution !== "merge") return this.#ofOne(step);
    if (attribution === "outside") return [];
    const steps = this.#windows(checkpoint);
    const threads = [...new Set(steps.flatMap((id) => this.#ofOne(id)))];
    if (attribution === "shared" || threads.length < 2) return threads;
    // an undo or a merge of several threads' steps: each path belongs to the threads whose steps changed it
    const touching = steps.filter((id) => this.#touches(id, path));
    return [...new Set(touching.flatMap((id) => this.#ofOne(id)))];
  }

  #touches(step: string, path: BytePath): boolean {
    const bytes = Buffer.from(path, "latin1");
    return (
      this.#db.get("SELECT 1 FROM change WHERE step = ? AND path = ? LIMIT 1", step, bytes) !== undefined
    );
  }

  #ofOne(step: string): readonly ThreadId[] {
    let threads = this.#ofStep.get(step);
    if (threads === undefined) this.#ofStep.set(step, (threads = threadsOfSteps(this.#db, [step])));
    return threads;
  }

  #windows(checkpoint: number): readonly string[] {
    let steps = this.#ofWindows.get(checkpoint);
    if (steps === undefined) {
      const rows = this.#db.all("SELECT step FROM shared_window WHERE checkpoint = ?", checkpoint);
      this.#ofWindows.set(checkpoint, (steps = rows.map((row) => String(row["step"]))));
    }
    return steps;
  }
}

/** A merge is the work of the threads whose steps it brought. */
function threadsOfSteps(db: Database, steps: readonly string[]): ThreadId[] {
  const rows = db.all(
    `SELECT DISTINCT thread FROM step WHERE thread IS NOT NULL AND id IN (SELECT value FROM json_each(?1) UNION
       SELECT w.step FROM change g JOIN shared_window w ON w.checkpoint = g.checkpoint
         WHERE g.step IN (SELECT value FROM json_each(?1)) AND g.attribution = 'merge')`,
    JSON.stringify(steps),
  );
  return rows.map((row) => row["thread"] as ThreadId);
}
