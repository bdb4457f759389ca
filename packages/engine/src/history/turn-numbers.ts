/**
 * Turns are numbered T1, T2 … in the order in which they began. No step is ever deleted, so a number stays with its turn
 * for good, whatever is pruned.
 */
import { EngineError } from "../model/errors.ts";
import type { Database } from "../store/database.ts";
import { readTurns } from "./happenings.ts";
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

/** True for a reference that names a turn, not a checkpoint: "T3", "@turn", "@turn-1". */
export function isTurnName(ref: string): boolean {
  return NUMBERED.test(ref) || COUNTED.test(ref);
}

const NUMBERED = /^T(\d{1,9})$/;
const COUNTED = /^@turn(?:-(\d{1,9}))?$/;

/**
 * The turn that "T3", "@turn" (the newest) or "@turn-2" (the second before it) names; undefined when the text has another
 * form. Throws when there is no such turn.
 */
export function findTurn(db: Database, ref: string): Step | undefined {
  const number = NUMBERED.exec(ref)?.[1];
  const back = COUNTED.exec(ref);
  if (number === undefined && back === null) return undefined;
  const turn = number === undefined ? listedTurn(db, Number(back?.[1] ?? 0)) : turnAt(db, Number(number));
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

/** As the timeline lists them: turns without changes do not count. */
function listedTurn(db: Database, back: number): Step | undefined {
  let left = back;
  for (const { step } of readTurns(db)) {
    if (left === 0) return stepAt(db, step);
    left -= 1;
  }
  return undefined;
}

function stepAt(db: Database, seq: number): Step | undefined {
  const row = db.get("SELECT id FROM step WHERE seq = ?", seq);
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
