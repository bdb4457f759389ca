/** Which rows the address and the chosen mode ask for. The script that asks for the first ones makes the same question. */
import type { HistoryFilter } from "@belay/react";
import { preference } from "../preferences.ts";

/** Turns with what happened between them, or every checkpoint. */
export type RowMode = "turns" | "everything";

/** Whether rows that changed nothing are left out. */
export type Changed = "only" | "all";

/** What is left out unless chosen otherwise: of turns what changed nothing, of checkpoints none. */
export function changedAtFirst(mode: RowMode): Changed {
  return mode === "turns" ? "only" : "all";
}

/** The name under which the choice is kept, each list for itself. */
export function changedKey(mode: RowMode): "changed-turns" | "changed-everything" {
  return `changed-${mode}`;
}

/** The filter of the main screen. */
export function historyFilter(query: URLSearchParams, mode: RowMode): HistoryFilter {
  const [q, thread] = [query.get("q"), query.get("thread")];
  const isOnlyChanged = preference<Changed>(changedKey(mode), changedAtFirst(mode)) === "only";
  const words = [q, mode === "everything" && isOnlyChanged ? "has:changes" : ""].filter(Boolean).join(" ");
  // rows that changed nothing are there too, in folds; a search leaves them out
  const isWhole = (!q && !thread) || !isOnlyChanged;
  return {
    ...(words && { q: words }),
    ...(thread && { thread }),
    ...(mode === "everything" ? { flat: true } : isWhole && { all: true }),
  };
}
