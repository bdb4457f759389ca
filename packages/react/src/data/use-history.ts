/** The history as React state. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useBelay } from "./belay.tsx";
import type { HistoryFilter } from "./first-rows.ts";
import { HistoryStore, type History } from "./history.ts";

/** The rows of the timeline under a filter, live. */
export function useHistory(filter: HistoryFilter): {
  readonly history: History;
  readonly store: HistoryStore;
} {
  const belay = useBelay();
  const { q, thread, agent, all, flat } = filter;
  const store = useMemo(
    () =>
      new HistoryStore(belay, {
        ...(q && { q }),
        ...(thread && { thread }),
        ...(agent && { agent }),
        ...(all && { all }),
        ...(flat && { flat }),
      }),
    [belay, q, thread, agent, all, flat],
  );
  useEffect(() => store.open(), [store]);
  const history = useSyncExternalStore(store.subscribe, store.get, store.get);
  return { history, store };
}
