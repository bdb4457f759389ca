/**
 * Turns are numbered T1, T2 … in the order in which they began. No step is ever deleted, so a number stays with its turn
 * for good, whatever is pruned.
 */
import { EngineError } from "../model/errors.ts";
import type { Database } from "../store/database.ts";
import { findStep, type Step } from "./step-rows.ts";

/** The numbers of turns, by the seqs of their steps. */
export function turnNumbers(db: Database, seqs: readonly number[]): Map<number, number> {
  if (seqs.length === 0) return new Map();
  const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
  const earlier = db.get("SELECT count(*) AS n FROM step WHERE kind = 'turn' AND seq < ?", first);
  const rows = db.all(
    "SELECT seq FROM step WHERE kind = 'turn' AND seq >= ? AND seq <= ? ORDER BY seq",
    first,
    last,
  );
  return new Map(rows.map((row, index) => [Number(row["seq"]), Number(earlier?.["n"] ?? 0) + index + 1]));
}

/** The turn that "T3" names; undefined when the text has another form. Throws when there is no such turn. */
export function findTurn(db: Database, ref: string): Step | undefined {
  const number = /^T(\d{1,9})$/.exec(ref)?.[1];
  if (number === undefined) return undefined;
  const turn = turnAt(db, Number(number));
  if (turn !== undefined) return turn;
  throw new EngineError("CHECKPOINT_NOT_FOUND", `There is no turn ${ref}. Nothing was changed.`, {
    checkpoint: ref,
  });
}

function turnAt(db: Database, number: number): Step | undefined {
  if (number < 1) return undefined;
  const row = db.get("SELECT id FROM step WHERE kind = 'turn' ORDER BY seq LIMIT 1 OFFSET ?", number - 1);
  return row === undefined ? undefined : findStep(db, String(row["id"]));
}

/** The turn that began or ended with a checkpoint, and on which side of it the checkpoint lies. */
export function turnOfEnd(
  db: Database,
  seq: number,
): { side: "before" | "after"; description: string; prompt: string | null } | undefined {
  const row = db.get(
    `SELECT before, description, prompt FROM step WHERE kind = 'turn' AND (before = ?1 OR after = ?1)
       ORDER BY before = ?1 DESC, seq DESC LIMIT 1`,
    seq,
  );
  if (row === undefined) return undefined;
  return {
    side: Number(row["before"]) === seq ? "before" : "after",
    description: String(row["description"]),
    prompt: row["prompt"] === null ? null : String(row["prompt"]),
  };
}
