/** How a merge changes files: plan, show, ask, apply, report. What is shown is what is applied, or nothing. */
import type { MergeOutcome, MergePlan, Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { affectedFiles, mergeOutcomeJson, plannedMergeJson } from "@belay/server/json";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { interruptibly } from "../going-back/go-back.ts";
import { previewText } from "../going-back/preview-text.ts";
import { warnAll } from "../wiring/open-workspace.ts";
import { mergeOutcomeText, mergeRemarks, planCounts } from "./merge-text.ts";

/** The parts of a call that a merge needs. */
export type MergeCall = Pick<Call, "json" | "output" | "home" | "operands" | "directory"> & {
  readonly options: { yes?: boolean; "dry-run"?: boolean; all?: boolean };
};

/** A target that moves on while it is planned is planned again this often. */
const TRIES = 5;

/** What is merged, and what happens afterwards. */
export interface MergeWork {
  makePlan(): Promise<MergePlan>;
  /** True where another report follows, which stands for this one in JSON. */
  isFollowed?(outcome: MergeOutcome): boolean;
}

/** Merges as planned; returns the exit code. */
export async function mergeAndReport(
  call: MergeCall,
  workspace: Workspace,
  { makePlan, isFollowed }: MergeWork,
): Promise<number> {
  const tell = (outcome: MergeOutcome) =>
    call.json && isFollowed?.(outcome) === true ? EXIT.refused : report(call, outcome);
  const plan = await makePlan();
  if (call.options["dry-run"] === true) return preview(call, workspace, plan);
  const isAsked = call.options.yes !== true && affectedFiles(plan).length > 1;
  if (isAsked) {
    if (call.output.canAsk) call.output.print(await planText(call, workspace, plan));
    const question = `Merge into ${plan.merge.into}: change ${planCounts(plan)}?`;
    if (!(await confirm(call, question, { dryRun: true }))) return declined(call);
    return tell(await interruptibly({ call, workspace }, () => workspace.merge(plan)));
  }
  return tell(await applyPlan(call, workspace, { plan, makePlan }));
}

/** Applies a plan; where files changed since it was made, it is made again. */
export async function applyPlan(
  call: MergeCall,
  workspace: Workspace,
  { plan, makePlan }: { plan: MergePlan; makePlan: () => Promise<MergePlan> },
): Promise<MergeOutcome> {
  const { EngineError } = await import("@belay/engine");
  for (let [left, next] = [TRIES, plan]; ; left -= 1, next = await makePlan()) {
    try {
      return await interruptibly({ call, workspace }, () => workspace.merge(next));
    } catch (error) {
      if (left === 0 || !(error instanceof EngineError && error.code === "PLAN_STALE")) throw error;
    }
  }
}

async function preview(call: MergeCall, workspace: Workspace, plan: MergePlan): Promise<number> {
  if (call.json) call.output.json(plannedMergeJson(plan));
  else call.output.print(await planText(call, workspace, plan));
  return plan.merge.conflicts.length > 0 ? EXIT.refused : EXIT.done;
}

async function planText(
  { output, options }: MergeCall,
  workspace: Workspace,
  plan: MergePlan,
): Promise<string> {
  const { files } = await workspace.planDetails(plan);
  const list = previewText(plan, {
    output,
    all: options.all,
    files: new Map(files.map((file) => [file.path as string, file])),
    agents: new Map(),
    limits: workspace.limits,
  });
  const summary = plan.edits.length === 0 ? "Nothing would change." : `Would change ${planCounts(plan)}.`;
  return [
    `Merge into ${plan.merge.into}: ${plan.description}`,
    list,
    ...mergeRemarks(plan, output, options.all),
    summary,
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** What a merge did, printed; returns the exit code. */
export function report(call: MergeCall, outcome: MergeOutcome): number {
  const { output, json, options } = call;
  warnAll(call, outcome.notices ?? []);
  const isDone = outcome.outcome === "applied" || outcome.outcome === "unchanged";
  if (json) output.json(mergeOutcomeJson(outcome));
  else if (!output.quiet || !isDone) output.print(mergeOutcomeText(outcome, output, options.all));
  return isDone ? EXIT.done : EXIT.refused;
}
