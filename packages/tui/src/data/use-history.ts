/** The rows of the timeline for a screen. */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { History, type HistoryFilter, type HistoryState } from "./history.ts";
import { useSource } from "./source.tsx";
import type { HistoryStep } from "./history-row.ts";

/** The rows that a filter finds. While another filter is asked for, the rows of the last one stay. */
export function useHistory({ thread, q, all }: HistoryFilter): { history: History; state: HistoryState } {
  const source = useSource();
  const history = useMemo(() => new History(source, { thread, q, all }), [source, thread, q, all]);
  const state = useSyncExternalStore(history.watch, () => history.state);
  const last = useRef(state);
  if (state.total !== null || state.problem !== undefined) last.current = state;
  return { history, state: state.total === null ? last.current : state };
}

/** The steps of unfolded rows, by ref; `failed` hears why those of a row cannot be shown. */
export function useSteps(
  unfolded: ReadonlySet<string>,
  state: HistoryState,
  failed: (problem: string) => void,
): ReadonlyMap<string, readonly HistoryStep[]> {
  const source = useSource();
  const [steps, setSteps] = useState<ReadonlyMap<string, readonly HistoryStep[]>>(new Map());
  const wanted = [...unfolded].join(" ");
  useEffect(() => {
    let isWanted = true;
    for (const ref of wanted.split(" ").filter((each) => each !== "")) {
      source
        .call("GET /api/history/:seq/steps", {
          params: { seq: ref },
          query: { workspace: source.place.workspace },
        })
        .then(
          ({ steps: found }) => isWanted && setSteps((known) => new Map(known).set(ref, found.toReversed())),
          (error: Error) => isWanted && failed(error.message),
        );
    }
    return () => {
      isWanted = false;
    };
    // a turn that works gets more steps with every answer
  }, [source, wanted, state]);
  return steps;
}
