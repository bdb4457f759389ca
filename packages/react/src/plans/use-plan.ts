/** A plan on the server, made again whenever a choice changes, and carried out once. */
import type { BelayEvent } from "@belay/protocol";
import { ClientError, type BelayClient } from "@belay/protocol/client";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import {
  hunksAt,
  type DetailedPlan,
  type LineRange,
  type PlanBody,
  type PlanOutcome,
  type PlanRequest,
} from "./request.ts";

/** How far the workspace is with what it does at the moment. */
export type RestoreProgress = Pick<
  Extract<BelayEvent, { type: "restore_progress" }>,
  "phase" | "done" | "total"
>;

/** What a restore takes back. */
export type Scope = NonNullable<PlanBody["scope"]>;

/** What the person chose beyond the request. */
export interface Choices {
  readonly keepNew: boolean;
  /** What goes back: the files, the agent's conversation, or both. */
  readonly scope: Scope;
  /** Paths that are left out. */
  readonly without: ReadonlySet<string>;
  /** Of some files only these hunks, as the diff of the plan `basedOn` numbers them. */
  readonly hunks: ReadonlyMap<string, readonly number[]>;
  readonly basedOn: string | undefined;
  /** Threads that stay alone although others are taken back; undefined: every other thread. */
  readonly except: readonly string[] | undefined;
  /** How many steps, for undo and redo. */
  readonly count: number;
}

/** Nothing chosen yet. */
export const NO_CHOICES: Choices = {
  keepNew: false,
  scope: "files",
  without: new Set(),
  hunks: new Map(),
  basedOn: undefined,
  except: undefined,
  count: 1,
};

/** The plan as far as it is known. */
export interface PlanState {
  /** The newest plan; null: nothing to do; undefined: not known yet. */
  readonly plan: DetailedPlan | null | undefined;
  /** The plan without left-out paths: what the list shows. */
  readonly whole: DetailedPlan | null | undefined;
  /** Of files that are chosen in part, these hunks. */
  readonly hunks: Choices["hunks"];
  readonly error: Error | undefined;
  /** Set when the files changed since the preview, to what changed. */
  readonly stale: ReadonlySet<string> | undefined;
  /** A newer plan than the one that is shown, which can no longer be confirmed: it waits until the person wants to see it. */
  readonly newer: Pick<PlanState, "plan" | "whole" | "hunks"> | undefined;
  readonly isPlanning: boolean;
  readonly isApplying: boolean;
  /** How far it is, where that takes long enough to tell. */
  readonly progress: RestoreProgress | undefined;
}

/** Also what the newest plan was made for. */
interface MadeState extends PlanState {
  readonly madeFor: Asked | undefined;
}

const NOTHING: MadeState = {
  madeFor: undefined,
  plan: undefined,
  whole: undefined,
  hunks: new Map(),
  error: undefined,
  stale: undefined,
  newer: undefined,
  isPlanning: true,
  isApplying: false,
  progress: undefined,
};

/** Plans, plans again when a choice changes, applies. */
export function usePlan(asked: PlanRequest, choices: Choices, onDone: (outcome: PlanOutcome) => void) {
  const { client, workspace, live } = useBelay();
  const request = useSame(asked);
  const wanted = useMemo(() => ({ request, choices }), [request, choices]);
  const [{ madeFor, ...state }, setState] = useState(NOTHING);
  const turn = useRef(0);
  const change = (part: Partial<MadeState>) => setState((before) => ({ ...before, ...part }));
  const plan = useCallback(
    async (refusal?: ClientError) => {
      const mine = (turn.current += 1);
      change({ isPlanning: true });
      try {
        const made = await makePlans(client, workspace, wanted);
        if (turn.current !== mine) return;
        setState((before) => ({
          ...before,
          // [R2163] what is being read is not replaced under the eye
          ...(refusal?.code === "PLAN_STALE" ? { newer: made } : { ...made, newer: undefined }),
          madeFor: wanted,
          error: refusal?.code === "PREFLIGHT_FAILED" ? refusal : undefined,
          isPlanning: false,
          stale: staleAfter(refusal, before.whole, made.whole),
        }));
      } catch (error) {
        if (turn.current === mine) change({ madeFor: wanted, error: error as Error, isPlanning: false });
      }
    },
    [client, workspace, wanted],
  );
  useEffect(() => void plan(), [plan]);
  // [R1942] from the choice itself on: in the moment before its plan is asked for, the one before it must not be carried out
  const isPlanning = state.isPlanning || madeFor !== wanted;
  const isWaiting = isRestoreRunning(state.error);
  useEffect(
    () =>
      live.onEvent((event) => {
        if (event.type === "restore_progress")
          setState((before) =>
            event.operation === before.plan?.id ? { ...before, progress: event } : before,
          );
        // the other restore is done: this one can be looked at again
        if (isWaiting && event.type === "restore_finished") void plan();
      }),
    [live, isWaiting, plan],
  );
  const apply = async (bestEffort = false) => {
    if (!state.plan || state.newer !== undefined || isPlanning || state.isApplying) return;
    change({ isApplying: true, progress: undefined });
    try {
      // first: where the agent cannot do it, nothing else has happened
      const conversation = choices.scope === "files" ? undefined : await fork(client, workspace, request);
      const input = { params: { id: state.plan.id }, query: { workspace }, body: { bestEffort } };
      const outcome = await client.call("POST /api/plans/:id/apply", input);
      onDone({ ...outcome, ...(conversation && { conversation }) });
    } catch (error) {
      change({ isApplying: false });
      // a plan is carried out once, also where nothing came of it
      const isOver =
        error instanceof ClientError && (error.code === "PLAN_STALE" || error.code === "PREFLIGHT_FAILED");
      if (isOver) await plan(error);
      else change({ error: error as Error });
    }
  };
  const showNewer = () => change({ ...state.newer, newer: undefined });
  return { ...state, isPlanning, apply, showNewer };
}

/**
 * The same request while it says the same. A host that makes another object each time it draws would have the plan made again
 * with every event, and the button that acts would go dead under the pointer.
 */
function useSame<Value>(value: Value): Value {
  const kept = useRef(value);
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}

/** Whether the server made no plan because another restore has to end first. */
export function isRestoreRunning(error: Error | undefined): boolean {
  return error instanceof ClientError && error.code === "RESTORE_RUNNING";
}

function fork(client: BelayClient, workspace: string, { target = "", thread }: PlanRequest) {
  return client.call("POST /api/checkpoints/:id/fork", {
    params: { id: target },
    query: { workspace },
    body: { ...(thread && { thread }) },
  });
}

/** What to say changed since the plan that was refused; undefined: nothing. */
function staleAfter(
  refusal: ClientError | undefined,
  before: DetailedPlan | null | undefined,
  after: DetailedPlan | null,
): ReadonlySet<string> | undefined {
  if (refusal === undefined) return undefined;
  const changed = changedBetween(before, after);
  return refusal.code === "PLAN_STALE" || changed.size > 0 ? changed : undefined;
}

/** Paths that the newer plan treats in another way. */
function changedBetween(
  before: DetailedPlan | null | undefined,
  after: DetailedPlan | null,
): ReadonlySet<string> {
  const what = ({ change, plus, minus }: DetailedPlan["files"][number]) => `${change} ${plus} ${minus}`;
  const old = new Map((before?.files ?? []).map((file) => [file.path, what(file)]));
  const now = new Map((after?.files ?? []).map((file) => [file.path, what(file)]));
  return new Set([...old.keys(), ...now.keys()].filter((path) => old.get(path) !== now.get(path)));
}

/** As many paths as a request takes. */
const MOST_NAMED = 10_000;

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
  if (whole === null) return { whole, plan: whole, hunks: choices.hunks };
  const isFirst = request.lines !== undefined && choices.basedOn === undefined;
  const { hunks, basedOn } = isFirst
    ? { hunks: await hunksOfLines(client, workspace, { whole, lines: request.lines }), basedOn: whole.id }
    : choices;
  const isIn = (path: string) => !choices.without.has(path) && hunks.get(path)?.length !== 0;
  const all = whole.files.map(({ path }) => path);
  const [paths, without] = [all.filter(isIn), all.filter((path) => !isIn(path))];
  const some = [...hunks]
    .filter(([path, chosen]) => isIn(path) && chosen.length > 0)
    .map(([path, chosen]) => ({ path, hunks: [...chosen] }));
  if (without.length === 0 && some.length === 0) return { whole, plan: whole, hunks };
  if (paths.length === 0) return { whole, plan: null, hunks };
  const part = some.length === 0 ? {} : { hunks: some, ...(basedOn && { basedOn }) };
  // what is left out, so that directories go with their last file; a request has a limit, a plan has none
  const choice = body.paths === undefined && without.length <= MOST_NAMED ? { without } : { paths };
  return { whole, plan: await ask({ ...body, ...choice, ...part }), hunks };
}

/** The hunks of the plan's one file that touch some lines; all of them where single ones cannot be chosen. */
async function hunksOfLines(
  client: BelayClient,
  workspace: string,
  { whole, lines }: { readonly whole: DetailedPlan; readonly lines: LineRange },
): Promise<Choices["hunks"]> {
  const [file, ...others] = whole.files;
  if (file === undefined || others.length > 0) return new Map();
  const { hunks, choices } = await client.call("GET /api/plans/:id/diff", {
    params: { id: whole.id },
    query: { workspace, path: file.path },
  });
  const some = hunksAt(hunks, lines);
  return choices !== hunks.length || some.length === hunks.length ? new Map() : new Map([[file.path, some]]);
}

/**
 * What is to be decided where a plan was refused because of conflicts. Undefined where it cannot be: a restore takes
 * states as they are, and single hunks are numbered on files that a decision changes.
 */
export function decidable(request: PlanRequest, choices: Choices): PlanBody | undefined {
  if (request.kind === "restore" || request.lines !== undefined || choices.hunks.size > 0) return undefined;
  const without = [...choices.without];
  const body = bodyOf(request, choices);
  return without.length === 0 || body.paths !== undefined ? body : { ...body, without };
}

/** The request with the choices that its kind knows. */
function bodyOf(
  { kind, target, thread, paths }: PlanRequest,
  { keepNew, scope, except, count }: Choices,
): PlanBody {
  const named = { ...(target && { target }), ...(paths && { paths: [...paths] }) };
  const its = { ...(thread && { thread }) };
  switch (kind) {
    case "restore":
      return {
        kind,
        ...named,
        ...its,
        ...(keepNew && { keepNew }),
        ...(scope !== "files" && { scope }),
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
