/** Which row of the timeline does a reference mean? */
import { EngineError } from "../model/errors.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Database, Row } from "../store/database.ts";
import { readHappenings, type Happening } from "./happenings.ts";
import { branchOf } from "./line.ts";
import { resolveState, type References } from "./references.ts";
import { findTurn } from "./turn-numbers.ts";

/** What a number means where a turn begins with the checkpoint of another row: the row of that name, or the turn. */
export type Preference = "row" | "turn";

/** The turn that is named, or what a checkpoint belongs to; throws `CHECKPOINT_NOT_FOUND`. */
export function findHappening(references: References, ref: string, preference: Preference): Happening {
  const { db } = references.store;
  const turn = findTurn(db, ref);
  if (turn !== undefined) return ofTurn(db, turn.seq)!;
  const checkpoint = resolveState(references, ref);
  const isNumber = preference === "row" && ref === String(checkpoint.seq);
  return (isNumber ? namedBy(db, checkpoint.seq) : undefined) ?? happeningOf(db, checkpoint);
}

/** The row that the timeline calls by this number. A turn may begin or end with the same checkpoint. */
function namedBy(db: Database, seq: number): Happening | undefined {
  const [row] = [
    ...readHappenings(db, { before: seq + 1, after: seq - 1, ...anywhere(db, seq), all: false }),
  ].filter(({ kind }) => kind !== "turn");
  return row?.kind === "hand" ? handsWith(db, seq) : row;
}

/** A checkpoint can be named from every branch: what it belongs to is looked for on its own. */
function anywhere(db: Database, seq: number) {
  return { threads: null, branch: branchOf(db, seq) };
}

/** What a checkpoint belongs to: itself, the restore it completed, the turn it was taken for, the changes it found. */
function happeningOf(db: Database, checkpoint: Checkpoint): Happening {
  const { seq, id, description } = checkpoint;
  const own = [...readHappenings(db, { before: seq + 1, after: seq - 1, ...anywhere(db, seq), all: true })];
  const turn =
    own.find(({ kind }) => kind === "turn") ??
    own.find(({ kind }) => kind !== "hand") ??
    turnAround(db, checkpoint);
  const found = turn ?? handsWith(db, seq);
  if (found !== undefined) return found;
  throw new EngineError(
    "CHECKPOINT_NOT_FOUND",
    `Checkpoint ${seq} (${description}) belongs to no turn and changed nothing. Nothing was changed.`,
    { checkpoint: id },
  );
}

/** The turn in which a checkpoint was taken, of its thread. */
function turnAround(db: Database, { seq, thread }: Checkpoint): Happening | undefined {
  const row = db.get(
    `SELECT seq FROM step WHERE kind = 'turn' AND thread IS ?1 AND before <= ?2 AND (after IS NULL OR after >= ?2)
       AND branch = (SELECT branch FROM checkpoint WHERE seq = ?2) ORDER BY seq DESC LIMIT 1`,
    thread,
    seq,
  );
  return row === undefined ? undefined : ofTurn(db, Number(row["seq"]));
}

function ofTurn(db: Database, step: number): Happening | undefined {
  const row = db.get("SELECT before AS seq, seq AS step, opened_at AS at FROM step WHERE seq = ?", step);
  return row === undefined ? undefined : toTurn(row);
}

function toTurn(row: Row): Happening {
  return {
    kind: "turn",
    seq: Number(row["seq"]),
    step: Number(row["step"]),
    at: Number(row["at"]),
    captures: [],
  };
}

/** How far above a checkpoint later changes by hand are looked for that are one row with its own. */
const FURTHER = 512;

/** Changes by hand are found with those around them, as the timeline shows them. */
function handsWith(db: Database, seq: number): Happening | undefined {
  const around = { before: seq + FURTHER, after: 0, ...anywhere(db, seq), all: false };
  for (const each of readHappenings(db, around)) {
    if (each.captures.includes(seq)) return each;
    if (each.seq < seq) return undefined;
  }
  return undefined;
}
