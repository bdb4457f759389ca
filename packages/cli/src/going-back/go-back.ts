/**
 * How restore, reset, undo, redo and revert change files: plan, show, ask, act, report. With `--yes` the
 * engine plans and acts at once. Otherwise the shown plan is the one carried out, and the engine refuses it
 * if files changed while the question stood.
 */
import type { ChosenHunks, Outcome, Plan, PlannedFile, RestoreProgress, Workspace } from "@belay/engine";
import {
  affectedFiles,
  isNothingRestorable,
  leftOut,
  outcomeJson,
  outcomeWord,
  planJson,
  resetOutcomeJson,
  stepJson,
  stepsOutcomeJson,
  withPathJson,
} from "@belay/server/json";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { warnAll } from "../wiring/open-workspace.ts";
import { count } from "@belay/tui/text";
import { createProgressBar } from "../output/progress-bar.ts";
import { stepLabel } from "../output/step-label.ts";
import { waysOutText } from "./conflict-text.ts";
import { nothingRestorableText } from "./left-out.ts";
import { outcomeText, type Direction } from "./outcome-text.ts";
import { outsideList, planSummary, previewText, takesOutOthersWork } from "./preview-text.ts";
import { waysOut, type Verb, type WayOut } from "./ways-out.ts";

/** One way to go back, as a command describes it. */
export interface WayBack extends Direction {
  /** `hunks`: of these files only some hunks. */
  plan(hunks?: readonly ChosenHunks[]): Promise<Plan | null>;
  /** Plans and acts at once. */
  act(): Promise<Outcome>;
  /** Runs after the last question and before any change; if it throws, nothing is changed. */
  before?(): Promise<void>;
}

type GoingBackCall = Pick<Call, "json" | "output" | "home" | "operands" | "directory"> & {
  readonly options: {
    yes?: boolean;
    "dry-run"?: boolean;
    "best-effort"?: boolean;
    all?: boolean;
    patch?: boolean;
    interactive?: boolean;
  };
};

/** Plans, asks, acts and reports; returns the exit code. */
export async function goBack(call: GoingBackCall, workspace: Workspace, way: WayBack): Promise<number> {
  const scene: Scene = { call, way, workspace };
  const dryRun = call.options["dry-run"] === true;
  refuseSenseless(call);
  if (dryRun) return preview(scene);
  if (call.options.interactive === true) return chooseAndAct(scene);
  const act = async () => {
    await way.before?.();
    return report(scene, { outcome: await interruptibly(scene, () => way.act()), previewed: false });
  };
  if (call.options.yes === true) return act();
  const plan = await way.plan();
  if (plan === null) return act();
  const previewed = isQuestionDue(call, plan);
  if (previewed && !(await askFor(scene, plan))) return declined(call);
  if (!isBlocked(call, plan) && !(await askOutside(call, plan))) return declined(call);
  return report(scene, { outcome: await actOn(scene, plan), previewed });
}

/** Combinations that would be ignored, or would answer a question that was asked for. */
function refuseSenseless({ options, output }: GoingBackCall): void {
  const { yes, "dry-run": dryRun, patch, interactive } = options;
  if (patch === true && dryRun !== true)
    throw usageError(
      "-p shows what would be done: it goes with --dry-run.",
      "Or answer the question with d.",
    );
  if (interactive !== true) return;
  if (yes === true || dryRun === true)
    throw usageError(`-i asks, and ${yes === true ? "--yes" : "--dry-run"} does not.`, "Use one of them.");
  if (!output.canAsk)
    throw usageError("-i needs a terminal to ask on.", "Name the paths instead: they can be patterns.");
}

/**
 * [R236] What was chosen is carried out on the very files it was chosen on, or not at all. Files in conflict are named
 * and cannot be chosen: they stay as they are.
 */
async function chooseAndAct(scene: Scene): Promise<number> {
  const { call, way, workspace } = scene;
  const { output } = call;
  const plan = await way.plan();
  if (plan === null || affectedFiles(plan).length === 0)
    return report(scene, { outcome: await actOn(scene, plan), previewed: false });
  output.print(paragraphs(heading(way, plan), await conflictsThatStay(call, plan)));
  const { choose } = await import("./choose.ts");
  const agents = await agentsOf(workspace);
  const limits = await choose(call, {
    workspace,
    plan,
    verb: way.verb,
    output,
    agents,
    showDiff: (files) => showDiff(scene, plan, new Set(files.map(({ file }) => file.path))),
  });
  if (limits === undefined) return declined(call);
  const chosen = limits.length === 0 ? plan : await way.plan(limits);
  if (chosen === null || chosen.base !== plan.base) throw await staleChoice(plan);
  await way.before?.();
  // the conflicts were shown as what stays; without any, it is all that was chosen or nothing
  const bestEffort = call.options["best-effort"] === true || plan.conflicts.length > 0;
  const outcome = await interruptibly(scene, () => workspace.restore(chosen, { bestEffort }));
  return report(scene, { outcome, previewed: true });
}

async function conflictsThatStay(call: GoingBackCall, { conflicts }: Plan): Promise<string> {
  if (conflicts.length === 0) return "";
  const { conflictList } = await import("./conflict-text.ts");
  const what =
    conflicts.length === 1
      ? "1 file is in conflict and stays as it is:"
      : `${conflicts.length} files are in conflict and stay as they are:`;
  return paragraphs(what, conflictList(conflicts, call.output, call.options.all));
}

async function actOn(scene: Scene, plan: Plan | null): Promise<Outcome> {
  const { call, way, workspace } = scene;
  if (plan === null) return way.act();
  if (!isBlocked(call, plan)) await way.before?.();
  const bestEffort = call.options["best-effort"] === true;
  return interruptibly(scene, () => workspace.restore(plan, { bestEffort }));
}

async function staleChoice({ id }: Plan): Promise<Error> {
  const { EngineError } = await import("@belay/engine");
  return new EngineError("PLAN_STALE", "The files changed while you chose. Nothing was changed.", {
    plan: id,
  });
}

/** The diff of a plan, of all files or some, in a pager where it is long. */
async function showDiff({ call, workspace }: Scene, plan: Plan, only?: ReadonlySet<string>): Promise<void> {
  const changes = await workspace.planChanges(plan);
  const { diffForPeople } = await import("../output/diff-text.ts");
  const { showPaged } = await import("../output/output.ts");
  const isShown = ({ path, from }: (typeof changes)[number]) =>
    only === undefined || only.has(path) || (from !== undefined && only.has(from));
  await showPaged(diffForPeople(changes.filter(isShown), call.output));
}

/** [R114] Ctrl-C takes back what was done so far; a second one leaves that to the next command. */
export async function interruptibly<Result>(
  { call, workspace }: { readonly call: Pick<Call, "json" | "output">; readonly workspace: Workspace },
  work: () => Promise<Result>,
): Promise<Result> {
  const { catchInterrupts } = await import("@belay/engine");
  using bar = createProgressBar(PHASES.saving, "file", !call.json && !call.output.quiet);
  using interrupt = catchInterrupts((done, total) => {
    bar[Symbol.dispose]();
    const files = `${done.toLocaleString("en")} of ${total.toLocaleString("en")} files`;
    if (done > 0) call.output.warn(`Interrupted after ${files}; taking them back …`);
  });
  workspace.interruptedBy(interrupt);
  workspace.tellProgress(({ phase, done, total }) => bar.update({ label: PHASES[phase], done, total }));
  try {
    return await work();
  } finally {
    workspace.interruptedBy(undefined);
    workspace.tellProgress(undefined);
  }
}

const PHASES: Readonly<Record<RestoreProgress["phase"], string>> = {
  saving: "Saving what is there",
  staging: "Preparing",
  changing: "Writing",
  clearing: "Clearing up",
};

interface Scene {
  readonly call: GoingBackCall;
  readonly way: WayBack;
  readonly workspace: Workspace;
}

/** A dry run returns the exit code that the real command would. */
async function preview(scene: Scene): Promise<number> {
  const { call, way } = scene;
  const plan = await way.plan();
  const isPatch = call.options.patch === true && plan !== null;
  if (call.json) call.output.json(dryRunJson(scene, plan));
  else if (isPatch && !call.output.isTerminal) await printPatch(scene, plan);
  else call.output.print(plan === null ? `Nothing to ${way.verb}.` : await dryRunText(scene, plan));
  if (isPatch && !call.json && call.output.isTerminal) await printPatch(scene, plan);
  // a patch alone does not say that it would not be applied
  if (isPatch && !call.json && !call.output.isTerminal && isBlocked(call, plan))
    call.output.warn("This would be refused: nothing would change. Without -p it says why.");
  return plan !== null && (isBlocked(call, plan) || isNothingRestorable(plan)) ? EXIT.refused : EXIT.done;
}

/** For people on a terminal; elsewhere what `git apply` takes. */
async function printPatch({ call, workspace }: Scene, plan: Plan): Promise<void> {
  const { printDiff } = await import("../output/diff-text.ts");
  await printDiff({ files: await workspace.planChanges(plan) }, call.output);
}

function dryRunJson(scene: Scene, plan: Plan | null) {
  if (plan === null) return { plan: null, steps: [] };
  const steps = plan.kind === "restore" ? {} : { steps: plan.steps.map(stepJson) };
  const left = isNothingRestorable(plan) ? { leftOut: leftOut(plan).map(withPathJson) } : {};
  return { plan: planJson(plan), ...steps, ...left, ...waysJson(scene, plan.conflicts) };
}

/** What can be typed to resolve conflicts. */
function waysFor({ call, way, workspace }: Scene, conflicts: Plan["conflicts"]): WayOut[] {
  const done = call.options["best-effort"] === true;
  return conflicts.length === 0
    ? []
    : waysOut(call, { verb: way.verb, conflicts, root: workspace.root, done });
}

function waysJson(scene: Scene, conflicts: Plan["conflicts"]): { waysOut?: readonly WayOut[] } {
  const ways = waysFor(scene, conflicts);
  return ways.length === 0 ? {} : { waysOut: ways };
}

async function dryRunText(scene: Scene, plan: Plan): Promise<string> {
  const { output, options } = scene.call;
  if (isNothingRestorable(plan))
    return paragraphs(heading(scene.way, plan), nothingRestorableText(plan, output, options.all));
  const isRefused = isBlocked(scene.call, plan);
  const nothing = isRefused ? "This would be refused: nothing would change." : "Nothing would change.";
  const summary = isRefused || plan.edits.length === 0 ? nothing : `Would change ${planSummary(plan)}.`;
  const ways = waysOutText(waysFor(scene, plan.conflicts), output);
  return paragraphs(heading(scene.way, plan), await planText(scene, plan), summary, ways);
}

/** A plan that was looked at is told with what is known of its files. */
async function planText({ call, workspace }: Scene, plan: Plan, isShown = true): Promise<string> {
  const files = isShown ? await filesOf(workspace, plan) : [];
  const isAboutThreads =
    plan.otherThreads.length + plan.leftAlone.length > 0 || files.some(({ others }) => others.length > 0);
  return previewText(plan, {
    output: call.output,
    all: call.options.all,
    files: new Map(files.map((file) => [file.path as string, file])),
    agents: isAboutThreads ? await agentsOf(workspace) : new Map(),
    limits: workspace.limits,
  });
}

/** A file that changed since the plan was made cannot be examined: the plan is shown without, and refused later. */
async function filesOf(workspace: Workspace, plan: Plan): Promise<readonly PlannedFile[]> {
  try {
    return (await workspace.planDetails(plan)).files;
  } catch (error) {
    const { EngineError } = await import("@belay/engine");
    if (error instanceof EngineError && error.code === "PLAN_STALE") return [];
    throw error;
  }
}

async function agentsOf(workspace: Workspace): Promise<ReadonlyMap<string, string>> {
  return new Map((await workspace.threads.list()).map(({ id, agent }) => [id as string, agent]));
}

function heading(way: WayBack, plan: Plan): string {
  const what = way.target ?? plan.steps.map(stepLabel).join(", then ");
  return `${way.verb[0]?.toUpperCase()}${way.verb.slice(1)} ${what}`;
}

function isBlocked(call: GoingBackCall, plan: Plan): boolean {
  return plan.conflicts.length > 0 && call.options["best-effort"] !== true;
}

/** One file needs no question. Several do, and so does the work of other threads. A refusal needs none. */
function isQuestionDue(call: GoingBackCall, plan: Plan): boolean {
  if (isBlocked(call, plan)) return false;
  return affectedFiles(plan).length > 1 || takesOutOthersWork(plan) || plan.maybe.length > 0;
}

async function askFor(scene: Scene, plan: Plan): Promise<boolean> {
  const { call, way } = scene;
  if (call.output.canAsk) call.output.print(paragraphs(heading(way, plan), await planText(scene, plan)));
  const diff = () => showDiff(scene, plan);
  return confirm(call, `Change ${planSummary(plan)}?`, { dryRun: true, diff });
}

/** [R844] What is outside the workspace needs a confirmation of its own. */
async function askOutside(call: GoingBackCall, plan: Plan): Promise<boolean> {
  const files = plan.writesOutside ? plan.outside.filter(({ type }) => type !== "kept") : [];
  if (files.length === 0) return true;
  if (call.output.canAsk) call.output.print(outsideList(plan, call.output, true));
  return confirm(call, `Write ${count(files.length, "file")} outside the workspace?`, { dryRun: true });
}

interface Done {
  readonly outcome: Outcome;
  /** True when the person has already seen the list of files. */
  readonly previewed: boolean;
}

/** Outcomes that left something out: the report names it. */
const INCOMPLETE: ReadonlySet<Outcome["outcome"]> = new Set(["conflicts", "partial", "displaced"]);

async function report(scene: Scene, { outcome, previewed }: Done): Promise<number> {
  const { call, way } = scene;
  const { output } = call;
  warnAll(call, outcome.notices ?? []);
  const isNothing = outcome.outcome === "unchanged" && isNothingRestorable(outcome.plan);
  const failed = isNothing || INCOMPLETE.has(outcomeWord(outcome));
  if (call.json)
    output.json({
      ...resultJson(way.verb, outcome),
      ...waysJson(scene, outcome.conflicts),
    });
  else if (isNothing) output.print(nothingRestorableText(outcome.plan, output, call.options.all));
  else if (output.quiet && !failed) warnAll(call, outcome.plan.warnings);
  else {
    // kept and skipped paths are reported even when nothing changed; a refusal has its own list
    const plan = previewed || failed ? "" : await planText(scene, outcome.plan, false);
    output.print(
      paragraphs(plan, outcomeText(way, outcome, { output, ways: waysFor(scene, outcome.conflicts) })),
    );
  }
  return failed ? EXIT.refused : EXIT.done;
}

function resultJson(verb: Verb, outcome: Outcome) {
  if (verb === "restore") return outcomeJson(outcome);
  return verb === "reset" ? resetOutcomeJson(outcome) : stepsOutcomeJson(outcome);
}

function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}
