/** The plan of a screen: made again for every choice, older answers dropped, new files marked after the tree moved on. */
import { useCallback, useEffect, useRef, useState } from "react";
import { useSource } from "../../data/source.tsx";
import { makePlan, refusalOf, type Plan, type PlanRequest } from "../../plans/plan.ts";

/** A plan, or why there is none. */
export interface PlanState {
  /** undefined: not made yet. null: there is nothing to do. */
  readonly plan: Plan | null | undefined;
  /** Whether the plan is the one of the present request. */
  readonly isCurrent: boolean;
  readonly error: string | undefined;
  /** The workspace's code of the error; empty where it has none. */
  readonly code: string;
  /** Makes it again, of the files as they are now. */
  again(): void;
}

/** Makes the plan of a request for a screen that previews it; undefined asks for none. */
export function usePlan(request: PlanRequest | undefined): PlanState {
  const source = useSource();
  const key = JSON.stringify(request);
  const [state, setState] = useState<{
    key: string;
    plan: Plan | null | undefined;
    error?: string;
    code?: string;
  }>({
    key: "",
    plan: undefined,
  });
  const [round, setRound] = useState(0);
  const asked = useRef(0);
  // a plan is known to the process that made it
  useEffect(() => source.hold(), [source]);
  useEffect(() => {
    if (request === undefined) return;
    const mine = ++asked.current;
    const isLatest = () => mine === asked.current;
    makePlan(source, source.place.workspace, request).then(
      ({ plan }) => isLatest() && setState({ key: `${key} ${round}`, plan }),
      (error: unknown) => {
        const { code, message, hint } = refusalOf(error);
        if (isLatest())
          setState({ key: `${key} ${round}`, plan: undefined, code, error: `${message} ${hint}`.trim() });
      },
    );
    // `key` stands for the request
  }, [source, key, round]);
  return {
    plan: state.plan,
    isCurrent: request !== undefined && state.key === `${key} ${round}`,
    error: state.error,
    code: state.code ?? "",
    again: useCallback(() => setRound((number) => number + 1), []),
  };
}
