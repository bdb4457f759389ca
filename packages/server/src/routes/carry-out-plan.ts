/**
 * Carries out a previewed plan: the only way in which files change under `/api/threads` and `/api/plans`. A plan of many
 * files is carried out by another process: this one goes on serving, and its streams tell how far it is.
 */
import type { ApplyOptions, Outcome, Plan } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { HostedWorkspace } from "../hosting/hosted-workspace.ts";
import { assertApplied, type Served } from "./served.ts";

/** Which plan, and whether it may skip conflicts. */
export interface PlanRequest {
  readonly planId: string;
  readonly bestEffort?: boolean | undefined;
  /** Set where a person asked for it in the page. */
  readonly by?: ApplyOptions["by"];
}

/** Where a plan is carried out. */
export interface PlanPlace {
  readonly served: Served;
  readonly hosted: HostedWorkspace;
}

/** Carries it out and answers with `report`; conflicts are an error answer. */
export async function carryOutPlan<Report extends object>(
  { served, hosted }: PlanPlace,
  { planId, bestEffort = false, by }: PlanRequest,
  {
    fits,
    report,
    assert = assertApplied,
  }: {
    fits: (plan: Plan) => boolean;
    report: (outcome: Outcome) => Report;
    /** Which outcomes are an error answer: conflicts, unless said otherwise. */
    assert?: typeof assertApplied;
  },
): Promise<Report> {
  const { workspace } = hosted;
  const begun = await hosted.inTurn(async () => {
    const plan = workspace.plans.find(workspace.copyId, planId, fits);
    return isLarge(plan)
      ? { handed: workspace.plans.handOver(workspace.copyId, planId) }
      : { outcome: await workspace.restore(plan, { bestEffort, by }) };
  });
  const outcome =
    begun.outcome ?? (await carryOutElsewhere({ served, hosted }, begun.handed, { planId, bestEffort, by }));
  const told = report(outcome);
  assert(outcome, told);
  return told;
}

/** The plan of going back to this checkpoint. */
export function restoresTo(id: string): (plan: Plan) => boolean {
  return ({ kind, checkpoint }) => kind === "restore" && checkpoint === id;
}

const MANY_FILES = 500;
const MANY_BYTES = 64 * 1024 * 1024;

/** Carrying it out would keep this process from serving for longer than starting another one takes. */
function isLarge({ edits }: Plan): boolean {
  if (edits.length >= MANY_FILES) return true;
  return edits.reduce((sum, { to }) => sum + (to?.kind === "file" ? to.size : 0), 0) >= MANY_BYTES;
}

/** [R238] If that process dies, what it had begun is finished or taken back here, as after any crash. */
async function carryOutElsewhere(
  { served, hosted }: PlanPlace,
  handed: Uint8Array,
  { planId, bestEffort, by }: PlanRequest,
): Promise<Outcome> {
  const { workspace } = hosted;
  const words = ["carry-out", planId, ...(bestEffort ? ["--best-effort"] : []), ...(by ? ["--by-page"] : [])];
  try {
    const { outcome } = (await served.work.run(workspace.root, words, handed)) as { outcome: Outcome };
    return outcome;
  } catch (error) {
    if (error instanceof ContractError) throw error;
    await hosted.inTurn(() => workspace.status());
    throw new ContractError(
      "INTERRUPTED",
      "The process that carried out the plan ended before it was done. What it had begun was finished or taken back.",
      { facts: { done: 0, total: 0 }, hint: "The newest checkpoints tell which: `belay list`." },
    );
  }
}
