/** A plan with what people choose by, in the contract's shape. */
import type { CaptureLimits, Plan, PlanDetails, PlannedFile, ThreadId } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { gitJson } from "./checkpoint-json.ts";
import { listField } from "./list-field.ts";
import { pathJson, withPathJson } from "./path-json.ts";
import { latestJson, planJson } from "./plan-json.ts";
import { stepJson } from "./step-json.ts";

/** A plan of this workspace's own history; a switch of branches has a preview of its own. */
export type GoingBack = Plan & { readonly kind: Exclude<Plan["kind"], "switch" | "merge"> };

/** The plan, each file with its marks, and the warnings with the most serious first. */
export function detailedPlanJson(
  plan: GoingBack,
  {
    files,
    working,
    agents,
    limits,
  }: PlanDetails & { readonly agents: ReadonlyMap<ThreadId, string>; readonly limits: CaptureLimits },
): Json<typeof shapes.detailedPlan> {
  const agentOf = (thread: ThreadId) => agents.get(thread) ?? null;
  const atWork = working.map((thread) => ({ thread, agent: agentOf(thread) ?? "An agent" }));
  return {
    ...planJson(plan),
    kind: plan.kind,
    hunks: plan.hunks?.map(withPathJson) ?? null,
    ...listField(
      "files",
      files.map((file) => fileJson(file, agentOf)),
    ),
    leftAlone: plan.leftAlone.map(({ thread, paths }) => ({
      thread,
      agent: agentOf(thread),
      ...listField("files", paths.map(pathJson)),
    })),
    working: atWork,
    git: { target: gitJson(plan.git.target), now: gitJson(plan.git.now) },
    limits: { ...limits },
    warnings: warningsOf(plan, atWork),
    steps: plan.steps.map(stepJson),
  };
}

function fileJson(
  { scripts, byHand, others, latest, ...file }: PlannedFile,
  agentOf: (thread: ThreadId) => string | null,
): Json<typeof shapes.plannedFile> {
  const marks = [
    ...(scripts ? ["scripts"] : []),
    ...(byHand ? [file.threads.length > 0 ? "by hand too" : "by hand"] : []),
    ...new Set(others.map((thread) => `${agentOf(thread) ?? "another agent"} too`)),
  ];
  return { ...withPathJson(file), marks, ...latestJson(latest) };
}

function warningsOf(plan: Plan, working: readonly { readonly agent: string }[]): string[] {
  if (plan.edits.length === 0) return [...plan.warnings];
  const verb = plan.kind === "revert" ? "undo" : plan.kind;
  return [
    ...new Set(
      working.map(
        ({ agent }) =>
          `${agent} is working right now. What it writes while you ${verb} stays as it wrote it, and is listed.`,
      ),
    ),
    ...plan.warnings,
    ...(plan.doubts.length > 0 ? [doubtWarning(plan.doubts.length)] : []),
  ];
}

function doubtWarning(doubts: number): string {
  return `${doubts === 1 ? "1 file was" : `${doubts} files were`} captured with a doubt: this version may not be the one that is meant`;
}
