/** Which rows came from another line: what is sent leaves them out. */
import { FETCHED_PREFIX } from "../model/origin.ts";

/** The SQL condition that a row of `checkpoint` was fetched; `row` names the row. */
export function isFetchedRow(row: string): string {
  return `(${row}.origin IS NOT NULL AND ${row}.origin GLOB '${FETCHED_PREFIX}*')`;
}
