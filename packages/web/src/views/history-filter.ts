/** Which rows the address and the chosen mode ask for. */
import type { HistoryFilter } from "@belay/react";

/** Turns with what happened between them, or every checkpoint. */
export type RowMode = "turns" | "everything";

/** The filter of the main screen. */
export function historyFilter(query: URLSearchParams, mode: RowMode): HistoryFilter {
  const [q, thread] = [query.get("q"), query.get("thread")];
  // rows that changed nothing are there too, in folds; a search leaves them out
  const isWhole = !q && !thread;
  return {
    ...(q && { q }),
    ...(thread && { thread }),
    ...(mode === "everything" ? { flat: true } : isWhole && { all: true }),
  };
}
