/** A plan on the server, made again whenever a choice changes, and carried out once. */
import { ClientError, type BelayClient } from "@belay/protocol/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import type { DetailedPlan, PlanBody, PlanOutcome, PlanRequest } from "./request.ts";

/** What the person chose beyond the request. */
export interface Choices {
  readonly keepNew: boolean;
  /** Paths that are left out. */
  readonly without: ReadonlySet<string>;
  /** Threads that stay alone although others are taken back; undefined: every other thread. */
  readonly except: readonly string[] | undefined;
  /** How many steps, for undo and redo. */
  readonly count: number;
}

/** Nothing chosen yet. */
export const NO_CHOICES: Choices = { keepNew: false, without: new Set(), except: undefined, count: 1 };

/** The plan as far as it is known. */
export interface PlanState {
  /** The newest plan; null: nothing to do; undefined: not known yet. */
  readonly plan: DetailedPlan | null | undefined;
  /** The plan without left-out paths: what the list shows. */
  readonly whole: DetailedPlan | null | undefined;
  readonly error: Error | undefined;
  /** Set when the files changed since the preview: a new one is shown, to be confirmed again. */
  readonly staleWords: string | undefined;
  readonly isPlanning: boolean;
  readonly isApplying: boolean;
}

const NOTHING: PlanState = {
  plan: undefined,
  whole: undefined,
  error: undefined,
  staleWords: undefined,
  isPlanning: true,
  isApplying: false,
};

/** Plans, plans again when a choice changes, applies. */
export function usePlan(request: PlanRequest, choices: Choices, onDone: (outcome: PlanOutcome) => void) {
  const { client, workspace } = useBelay();
  const [state, setState] = useState(NOTHING);
  const turn = useRef(0);
  const change = (part: Partial<PlanState>) => setState((before) => ({ ...before, ...part }));
  const plan = useCallback(
    async (staleWords?: string) => {
      const mine = (turn.current += 1);
      change({ isPlanning: true });
      try {
        const made = await makePlans(client, workspace, { request, choices });
        if (turn.current === mine) change({ ...made, error: undefined, isPlanning: false, staleWords });
      } catch (error) {
        if (turn.current === mine) change({ error: error as Error, isPlanning: false });
      }
    },
    [client, workspace, request, choices],
  );
  useEffect(() => void plan(), [plan]);
  const apply = async (bestEffort = false) => {
    if (!state.plan || state.isPlanning || state.isApplying) return;
    change({ isApplying: true });
    try {
      const input = { params: { id: state.plan.id }, query: { workspace }, body: { bestEffort } };
      onDone(await client.call("POST /api/plans/:id/apply", input));
    } catch (error) {
      change({ isApplying: false });
      if (error instanceof ClientError && error.code === "PLAN_STALE") await plan(error.message);
      else change({ error: error as Error });
    }
  };
  return { ...state, apply };
}

interface Asked {
  readonly request: PlanRequest;
  readonly choices: Choices;
}

/** The plan of everything, and the plan of what was chosen. */
async function makePlans(client: BelayClient, workspace: string, { request, choices }: Asked) {
  const ask = async (body: PlanBody) =>
    (await client.call("POST /api/plans", { query: { workspace }, body })).plan;
  const body = bodyOf(request, choices);
  const whole = await ask(body);
  const paths = (whole?.files ?? []).map(({ path }) => path).filter((path) => !choices.without.has(path));
  if (whole === null || paths.length === whole.files.length) return { whole, plan: whole };
  return { whole, plan: paths.length === 0 ? null : await ask({ ...body, paths }) };
}

/** The request with the choices that its kind knows. */
function bodyOf({ kind, target, thread, paths }: PlanRequest, { keepNew, except, count }: Choices): PlanBody {
  const named = { ...(target && { target }), ...(paths && { paths: [...paths] }) };
  const its = { ...(thread && { thread }) };
  switch (kind) {
    case "restore":
      return {
        kind,
        ...named,
        ...its,
        ...(keepNew && { keepNew }),
        ...(except && { exceptThreads: [...except] }),
      };
    case "revert":
      return { kind, ...named };
    case "reset":
      return { kind, ...its };
    default:
      return { kind, ...its, count };
  }
}
