/** Whether an undo or redo would take a switch: then files and branch go together, by the way of a switch. */
import type { Context } from "../capture/context.ts";
import { branchAt } from "../history/branches.ts";
import { listSteps, openSteps, summaryOf, type Step } from "../history/step-rows.ts";
import { EngineError } from "../model/errors.ts";
import { lookNow } from "../capture/look-now.ts";
import { isRootThere } from "../scan/root.ts";
import { stepToUndo, type StepRequest } from "../steps/select-steps.ts";
import type { SwitchRequest } from "./switch-way.ts";

/** The switch that is to be taken back or made again; undefined when it is another step's turn. */
export function switchToMove(context: Context, request: StepRequest): SwitchRequest | undefined {
  const { db } = context.store;
  const { kind, count, thread, paths, hunks } = request;
  if (kind === "revert") return undefined;
  const listed = listSteps(db, kind === "undo" ? "applied" : "undone", { thread, limit: count });
  const at = listed.findIndex((step) => step.kind === "switch");
  if (at === -1 || (kind === "undo" && isTurnFirst(context))) return undefined;
  const step = listed[at]!;
  if (at > 0 || count > 1) throw notTogether(step, { kind, count, at });
  if (paths !== undefined || hunks !== undefined) throw notInPart(step);
  const to = kind === "undo" ? step.fromBranch! : step.branch;
  return {
    to,
    name: branchAt(db, to).name,
    keepFiles: false,
    whileWorking: false,
    again: { kind, step: summaryOf(step) },
  };
}

/** A turn that is open may have changed something that no checkpoint has yet: then it is the newest step. */
function isTurnFirst(context: Context): boolean {
  if (openSteps(context.store.db).length === 0 || !isRootThere(context.workingCopy.root)) return false;
  return stepToUndo(context, lookNow(context))?.kind === "turn";
}

function notTogether(
  { description }: Step,
  { kind, count, at }: { kind: string; count: number; at: number },
): EngineError<"STEPS_MISSING"> {
  const first = at === 0 ? "the first" : `number ${at + 1}`;
  return new EngineError(
    "STEPS_MISSING",
    `"${description}" is ${first} of these ${count} steps, and a switch of branches goes alone: ${kind} ${at === 0 ? "1" : at} first. Nothing was changed.`,
    { wanted: count, available: Math.max(at, 1) },
  );
}

function notInPart({ description }: Step): EngineError<"STEPS_MISSING"> {
  return new EngineError(
    "STEPS_MISSING",
    `The newest step is "${description}", which is taken back as a whole. Nothing was changed.`,
    { wanted: 1, available: 0 },
  );
}
