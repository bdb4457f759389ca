/**
 * The one way in which restore, undo, redo and revert change files: look, show, ask, act, report.
 * With `--yes` the engine plans and acts in one go; otherwise the plan that was shown is the plan that is
 * carried out, and the engine refuses it if the files moved on while the question stood.
 */
import type { Outcome, Plan, Workspace } from "@belay/engine";
import { affectedFiles } from "../affected-files.ts";
import type { Call } from "../command.ts";
import { confirm, declined } from "../confirmation.ts";
import { EXIT } from "../exit-code.ts";
import { outcomeJson, planJson } from "../json/plan-json.ts";
import { stepJson } from "../json/step-json.ts";
import { stepLabel } from "../output/step-label.ts";
import { outcomeText, type Verb } from "./outcome-text.ts";
import { planSummary, previewText, takesOutOthersWork } from "./preview-text.ts";

export interface WayBack {
  readonly verb: Verb;
  /** `restore to 12 kqzv…`; undo and redo name their steps instead. */
  readonly target?: string;
  plan(): Promise<Plan | null>;
  /** Plans and acts in one go. */
  act(): Promise<Outcome>;
}

type GoingBackCall = Pick<Call, "json" | "output"> & {
  readonly options: { yes?: boolean; "dry-run"?: boolean; "best-effort"?: boolean; all?: boolean };
};

export async function goBack(call: GoingBackCall, workspace: Workspace, way: WayBack): Promise<number> {
  if (call.options["dry-run"] === true) return preview(call, way);
  if (call.options.yes === true) return report(call, way, { outcome: await way.act(), previewed: false });
  const plan = await way.plan();
  if (plan === null) return report(call, way, { outcome: await way.act(), previewed: false });
  const previewed = isQuestionDue(call, plan);
  if (previewed && !(await askFor(call, way, plan))) return declined(call);
  const bestEffort = call.options["best-effort"] === true;
  return report(call, way, { outcome: await workspace.restore(plan, { bestEffort }), previewed });
}

/** A dry run answers with the exit code the same command would have. */
async function preview(call: GoingBackCall, way: WayBack): Promise<number> {
  const plan = await way.plan();
  if (call.json)
    call.output.json(plan === null ? { plan: null, steps: [] } : dryRunJson(plan, call.options.all));
  else call.output.print(plan === null ? `Nothing to ${way.verb}.` : dryRunText(call, way, plan));
  return plan !== null && isBlocked(call, plan) ? EXIT.refused : EXIT.done;
}

function dryRunJson(plan: Plan, all: boolean | undefined) {
  return {
    plan: planJson(plan, all),
    ...(plan.kind === "restore" ? {} : { steps: plan.steps.map(stepJson) }),
  };
}

function dryRunText(call: GoingBackCall, way: WayBack, plan: Plan): string {
  const body = previewText(plan, call.output, call.options.all);
  const summary = plan.edits.length === 0 ? "Nothing would change." : `Would change ${planSummary(plan)}.`;
  return [heading(way, plan), body, summary].filter((part) => part !== "").join("\n");
}

function heading(way: WayBack, plan: Plan): string {
  const what = way.target ?? plan.steps.map(stepLabel).join(", then ");
  return `${way.verb[0]?.toUpperCase()}${way.verb.slice(1)} ${what}`;
}

function isBlocked(call: GoingBackCall, plan: Plan): boolean {
  return plan.conflicts.length > 0 && call.options["best-effort"] !== true;
}

/** One file needs no question; several do, and so does anybody else's work. A refusal needs none. */
function isQuestionDue(call: GoingBackCall, plan: Plan): boolean {
  if (isBlocked(call, plan)) return false;
  return affectedFiles(plan).length > 1 || takesOutOthersWork(plan);
}

function askFor(call: GoingBackCall, way: WayBack, plan: Plan): Promise<boolean> {
  const { output } = call;
  if (output.canAsk) output.print(`${heading(way, plan)}\n${previewText(plan, output, call.options.all)}`);
  return confirm(call, `Change ${planSummary(plan)}?`);
}

interface Done {
  readonly outcome: Outcome;
  /** The person has already seen the list of files. */
  readonly previewed: boolean;
}

function report(call: GoingBackCall, way: WayBack, { outcome, previewed }: Done): number {
  const { output } = call;
  const failed = outcome.outcome === "conflicts" || outcome.outcome === "partial";
  if (call.json) output.json(resultJson(way.verb, outcome, call.options.all));
  else if (!output.quiet || failed) output.print(resultText(call, way, { outcome, previewed }));
  return failed ? EXIT.refused : EXIT.done;
}

function resultText(call: GoingBackCall, way: WayBack, { outcome, previewed }: Done): string {
  const text = outcomeText(way.verb, outcome, call.output);
  if (previewed || outcome.outcome !== "applied") return text;
  return `${previewText(outcome.plan, call.output, call.options.all)}\n${text}`;
}

function resultJson(verb: Verb, outcome: Outcome, all: boolean | undefined) {
  const result = outcomeJson(outcome, all);
  if (verb === "restore") return result;
  const { steps, canUndo, canRedo } = outcome;
  return { ...result, steps: steps.map(stepJson), canUndo, canRedo };
}
