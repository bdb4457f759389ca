/**
 * Where two branches last met. What a branch holds is a number for each branch: all checkpoints of that one up to it. A
 * branch holds what it began with, and what was merged into it and is still there.
 */
import type { Database } from "../store/database.ts";
import { beginningOf, headSeq, type Place } from "./line.ts";
import { meetings, type Meeting } from "./meetings.ts";

/**
 * The seqs of the checkpoints where the source and the target last met: more than one where each was merged into the
 * other. [I72] None of them is then the base of a path on which they differ.
 */
export function lastMet(db: Database, { source, target }: { source: number; target: number }): number[] {
  const history = new History(db);
  const [theirs, ours] = [
    history.heldBy(source, headSeq(db, source)),
    history.heldBy(target, headSeq(db, target)),
  ];
  const common = [...theirs].flatMap(([branch, until]) => {
    const own = ours.get(branch);
    return own === undefined ? [] : [{ branch, seq: Math.min(until, own) }];
  });
  const best = common.filter(
    (place) =>
      !common.some((other) => other !== place && other.seq !== place.seq && history.holds(other, place)),
  );
  const seqs = [...new Set(best.map(({ seq }) => seq))].sort((a, b) => a - b);
  return history.afterSetUp(source, seqs);
}

class History {
  readonly #db: Database;
  readonly #meetings: readonly Meeting[];

  constructor(db: Database) {
    this.#db = db;
    this.#meetings = meetings(db);
  }

  /** By branch: up to which checkpoint its work is in the given one. */
  heldBy(branch: number, seq: number): Map<number, number> {
    const held = new Map<number, number>();
    const waiting: Place[] = [{ branch, seq }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { branch: id, seq: until } = next;
      if ((held.get(id) ?? -1) >= until) continue;
      held.set(id, until);
      const beginning = beginningOf(this.#db, id);
      if (beginning !== undefined)
        waiting.push({ branch: beginning.branch, seq: Math.min(beginning.seq, until) });
      for (const { into, checkpoint, source, head } of this.#meetings)
        if (into === id && checkpoint <= until) waiting.push({ branch: source, seq: head });
    }
    return held;
  }

  holds(place: Place, other: Place): boolean {
    return (this.heldBy(place.branch, place.seq).get(other.branch) ?? -1) >= other.seq;
  }

  /** A fork begins with what its set-up left: that is not a change of its own. */
  afterSetUp(source: number, seqs: readonly number[]): number[] {
    const row = this.#db.get(
      "SELECT b.base AS base FROM branch b JOIN checkpoint c ON c.seq = b.base WHERE b.id = ? AND c.branch = b.id",
      source,
    );
    const beginning = beginningOf(this.#db, source);
    if (row === undefined || beginning === undefined) return [...seqs];
    const isEarlier = seqs.every((seq) => {
      const on = this.#db.get("SELECT branch FROM checkpoint WHERE seq = ?", seq);
      return this.holds(beginning, { branch: Number(on?.["branch"]), seq });
    });
    return isEarlier ? [Number(row["base"])] : [...seqs];
  }
}
