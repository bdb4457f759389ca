/** Marks on checkpoints and messages whose effect an undo or a restore took back. Nothing is deleted. */
import type { Database } from "../store/database.ts";
import type { Finish } from "./journal.ts";
import { onLine } from "./line.ts";

/** Marks what the operation took back, and unmarks what it brought back. Call inside the transaction that records it. */
export function markRolledBack(db: Database, finish: Finish): void {
  for (const id of finish.moved) {
    for (const table of ["checkpoint", "message"])
      db.run(`UPDATE ${table} SET rolled_back_by = NULL WHERE rolled_back_by = ?`, id);
    mark(db, id, finish.kind === "redo" ? restored(db) : TURN);
  }
  if (finish.kind === "restore" && finish.step !== null) mark(db, finish.step.id, restored(db));
}

interface Marked {
  readonly checkpoint: string;
  readonly message: string;
}

/** A turn's own; each condition selects nothing for the other kind of step. */
const TURN: Marked = {
  checkpoint:
    "s.kind = 'turn' AND s.thread = checkpoint.thread AND s.branch = checkpoint.branch AND checkpoint.seq BETWEEN s.before AND s.after",
  message: "s.kind = 'turn' AND message.step = s.id",
};

/**
 * Those that a restore went back over, on the line here; messages only if the conversation was to go back. A state from
 * another line is not one that this line went back to.
 */
const restored = (db: Database): Marked => ({
  checkpoint: `s.target IS NOT NULL AND s.scope <> 'conversation' AND checkpoint.thread IS NOT NULL
    AND checkpoint.seq > s.target AND checkpoint.seq < s.before
    AND ${onLine(db, { seq: "checkpoint.seq", branch: "checkpoint.branch" })} AND ${onLine(db, { seq: "s.target" })}`,
  message: `s.target IS NOT NULL AND s.scope <> 'files' AND message.since >= s.target AND message.since < s.before
    AND message.thread = coalesce(s.thread, (SELECT thread FROM checkpoint WHERE seq = s.target), message.thread)
    AND (${onLine(db, { seq: "message.since" })} AND ${onLine(db, { seq: "s.target" })} OR ${ARRIVED_CONVERSATION})`,
});

/** A conversation that was imported goes back to a place of its own, which is on no line. */
const ARRIVED_CONVERSATION =
  "EXISTS (SELECT 1 FROM checkpoint a WHERE a.seq = s.target AND a.origin IS NOT NULL AND a.thread = message.thread)";

function mark(db: Database, id: string, which: Marked): void {
  for (const table of ["checkpoint", "message"] as const)
    db.run(
      `UPDATE ${table} SET rolled_back_by = ?1 WHERE rolled_back_by IS NULL
         AND EXISTS (SELECT 1 FROM step s WHERE s.id = ?1 AND ${which[table]})`,
      id,
    );
}
