/** Carrying out a plan that was shown: the one way in which files change under `/api/threads`. */
import type { Outcome, Plan } from "@belay/engine";
import type { HostedWorkspace } from "../hosting/hosted-workspace.ts";
import { outcomeJson } from "../json/index.ts";
import { assertApplied } from "./served.ts";

export interface PlanRequest {
  readonly planId: string;
  readonly bestEffort?: boolean | undefined;
}

/** What it did, with `more` about it; conflicts are an answer of their own. */
export async function carryOutPlan<More extends object = object>(
  hosted: HostedWorkspace,
  { planId, bestEffort = false }: PlanRequest,
  { fits, more }: { fits: (plan: Plan) => boolean; more?: (outcome: Outcome) => Promise<More> },
) {
  const plan = hosted.take(planId, fits);
  const outcome = await hosted.workspace.restore(plan, { bestEffort });
  const report = { ...outcomeJson(outcome), ...(await more?.(outcome)) };
  assertApplied(outcome, report);
  return report;
}

/** The plan of going back to this checkpoint. */
export function restoresTo(id: string): (plan: Plan) => boolean {
  return ({ kind, checkpoint }) => kind === "restore" && checkpoint === id;
}
