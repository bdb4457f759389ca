/** Carries out a previewed plan: the only way in which files change under `/api/threads`. */
import type { Outcome, Plan, Workspace } from "@belay/engine";
import { assertApplied } from "./served.ts";

/** Which plan, and whether it may skip conflicts. */
export interface PlanRequest {
  readonly planId: string;
  readonly bestEffort?: boolean | undefined;
}

/** Carries it out and answers with `report`; conflicts are an error answer. */
export async function carryOutPlan<Report extends object>(
  workspace: Workspace,
  { planId, bestEffort = false }: PlanRequest,
  { fits, report }: { fits: (plan: Plan) => boolean; report: (outcome: Outcome) => Report },
): Promise<Report> {
  const plan = workspace.plans.find(workspace.id, planId, fits);
  const outcome = await workspace.restore(plan, { bestEffort });
  const told = report(outcome);
  assertApplied(outcome, told);
  return told;
}

/** The plan of going back to this checkpoint. */
export function restoresTo(id: string): (plan: Plan) => boolean {
  return ({ kind, checkpoint }) => kind === "restore" && checkpoint === id;
}
