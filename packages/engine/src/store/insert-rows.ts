/** Many rows of one table with few statements: to execute one takes longer than to insert one of its rows. */
import type { Database, Value } from "./database.ts";

const ROWS_PER_STATEMENT = 32;

/** Inserts rows that have the same columns; `into` is the statement up to its values. */
export function insertRows(db: Database, into: string, rows: readonly (readonly Value[])[]): void {
  const row = `(${"?,".repeat(rows[0]?.length ?? 0).slice(0, -1)})`;
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const some = rows.slice(at, at + ROWS_PER_STATEMENT);
    db.run(`${into} VALUES ${`${row},`.repeat(some.length).slice(0, -1)}`, ...some.flat());
  }
}
