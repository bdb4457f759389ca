/**
 * The way to another branch: a capture on the branch that is left, an exact restore to the head of the other, and in the
 * transaction that records it the working copy is on that one. The undo of a switch, and its redo, take the same way.
 */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import { branchAt, workingCopyOn } from "../history/branches.ts";
import { assertSealed } from "../history/checkpoint-seal.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import type { Finish } from "../history/journal.ts";
import { branchHere } from "../history/line.ts";
import { callsAtWork } from "../history/liveness.ts";
import { openSteps } from "../history/step-rows.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import { EMPTY_PLAN, type Plan, type StepSummary } from "../model/plan.ts";
import { type PlanDraft, type WayBack } from "../restore/go-back.ts";
import { restoreWay } from "../restore/restore-way.ts";

/** Where to go, and what of. */
export interface SwitchRequest {
  /** The id of the branch, and its name. */
  readonly to: number;
  readonly name: string;
  /** Leave the files as they are. */
  readonly keepFiles: boolean;
  /** Go although an agent's tool runs here. */
  readonly whileWorking: boolean;
  /** The earlier switch that is undone or redone; undefined for a new one. */
  readonly again?: { readonly kind: "undo" | "redo"; readonly step: StepSummary };
}

/** The way from the branch here to another one. */
export function switchWay(request: SwitchRequest): WayBack {
  const { to, keepFiles, again } = request;
  const exactly = (context: Context) =>
    restoreWay({
      target: headOf(context, to),
      paths: undefined,
      keepNew: false,
      thread: null,
      scope: "files",
    });
  return {
    safety: {
      description: again === undefined ? `Before switching to ${request.name}` : `Before ${again.kind}`,
    },
    look: (context) => (keepFiles || isHere(context, to) ? {} : exactly(context).look!(context)),
    plan(context, sight) {
      refuseTaken(context, to);
      if (!isHere(context, to)) refuseWork(context, request);
      const files = keepFiles || isHere(context, to) ? NO_FILES : exactly(context).plan(context, sight);
      return draftPlan(context, request, { ...files, base: sight.present.snapshot });
    },
    // a branch that is half there is none: a switch is made whole or not at all
    isWorthDoing: ({ conflicts, steps }) => conflicts.length === 0 && steps.length > 0,
    finish: (context, plan) => finishOf(context, request, plan),
  };
}

const NO_FILES = { ...EMPTY_PLAN, checkpoint: null };

function draftPlan(
  context: Context,
  { to, name, again }: SwitchRequest,
  files: Omit<PlanDraft, "kind" | "description" | "thread" | "checkpoint"> & Pick<PlanDraft, "checkpoint">,
): PlanDraft {
  const { system } = context;
  const description = `Switched to ${name}`;
  const own: StepSummary = {
    id: "",
    kind: "switch",
    thread: null,
    agent: null,
    prompt: null,
    description,
    at: system.now(),
  };
  const shown = { undo: `Undid: ${again?.step.description}`, redo: `Redid: ${again?.step.description}` };
  return {
    ...files,
    kind: again?.kind ?? "switch",
    description: again === undefined ? description : shown[again.kind],
    thread: null,
    // what is on the branch that is left stays there, also the work of other threads
    otherThreads: [],
    leftAlone: [],
    steps: isHere(context, to) ? [] : [again?.step ?? own],
  };
}

function finishOf({ store, system }: Context, { to, again }: SwitchRequest, plan: Plan): Finish {
  return {
    kind: plan.kind,
    description: plan.description,
    thread: null,
    target: null,
    branch: { from: branchHere(store.db), to },
    step: again === undefined ? { id: system.newId(), kind: "switch" } : null,
    moved: again === undefined ? [] : [again.step.id],
  };
}

function isHere({ store }: Context, to: number): boolean {
  return branchHere(store.db) === to;
}

/** The state that a branch is in; throws where its checkpoint is no longer there. */
function headOf({ store: { db } }: Context, branch: number): Checkpoint {
  const { name, head } = branchAt(db, branch);
  const checkpoint = head === null ? undefined : checkpointAt(db, head);
  if (checkpoint === undefined)
    throw new EngineError(
      "BRANCH_NOT_FOUND",
      `The branch "${name}" has no checkpoint any more. Nothing was changed.`,
      { branch: name },
    );
  assertSealed(db, checkpoint);
  return checkpoint;
}

/** One branch, one working copy. */
function refuseTaken({ store: { db } }: Context, to: number): void {
  const { name, state } = branchAt(db, to);
  if (state === "discarded")
    throw new EngineError("BRANCH_NOT_FOUND", `The branch "${name}" was deleted. Nothing was changed.`, {
      branch: name,
    });
  const other = workingCopyOn(db, to);
  if (other === undefined || other.id === db.workingCopy) return;
  throw new EngineError(
    "BRANCH_IN_USE",
    `The files of ${other.path} are on the branch "${name}". Nothing was changed.`,
    { branch: name, path: other.path },
  );
}

/** A tool or a program that runs would go on writing on another branch. A turn of this process is its caller's business. */
function refuseWork(context: Context, { whileWorking }: SwitchRequest): void {
  if (whileWorking) return;
  const { store, system } = context;
  const moment = momentOf(context);
  const programs = openSteps(store.db)
    .filter(({ owner }) => owner !== null && owner.pid !== system.owner.pid && moment.isAlive(owner))
    .map(({ agent }) => agent ?? "a program");
  const tools = [...callsAtWork(store.db, moment).map(({ tool }) => tool), ...programs];
  if (tools.length === 0) return;
  throw new EngineError(
    "RUN_ALIVE",
    `An agent is at work here (${[...new Set(tools)].join(", ")}): what it writes would be on another branch. Nothing was changed.`,
    { tools },
  );
}
