/** `/checkpoint restore`, `/restore`, `/undo` and `/redo`: plan, show, ask, act. Only `y` acts. */
import {
  applyPlan,
  forkFor,
  makePlan,
  plannedFileDiff,
  type Forked,
  type Plan,
  type PlanRequest,
} from "../plans/plan.ts";
import {
  conflictLines,
  fileLines,
  leftAloneText,
  planSummary,
  stayLines,
  stepLabel,
  stepQuestion,
} from "../plans/plan-text.ts";
import { conversationLines } from "../plans/result-text.ts";
import { COMMANDS, GOING_BACK } from "../words.ts";
import { fileDiffText } from "./compare-checkpoints.ts";
import { listCheckpoints } from "./list-checkpoints.ts";
import {
  askLetter,
  failed,
  misused,
  succeeded,
  unasked,
  type CommandResult,
  type CommandScene,
} from "./scene.ts";

const LISTED_FILES = 5;
const COMPARED_FILES = 20;

interface Way {
  readonly request: PlanRequest;
  /** What the question asks. */
  readonly verb: "Restore" | "Undo" | "Redo";
  readonly nothing: string;
  done(plan: Plan): string;
}

/** Goes back to a checkpoint. Without one, lists them and asks which. */
export async function restoreCheckpoint(
  scene: CommandScene,
  words: readonly string[],
  { scope: usual }: { readonly scope: "files" | "both" },
): Promise<CommandResult> {
  const options = words.filter((word) => word.startsWith("--"));
  const operands = words.filter((word) => !word.startsWith("--"));
  const scope = scopeOf(options, usual);
  if (scope === undefined || operands.length > 1) return misused(scene, RESTORE_OPERANDS);
  const target = operands[0] ?? (await whichOne(scene));
  if (target === undefined) return misused(scene, RESTORE_OPERANDS);
  if (target === "") return failed(COMMANDS.nothingChanged);
  return goBack(scene, {
    request: { kind: "restore", target, thread: scene.thread, scope },
    verb: "Restore",
    nothing: COMMANDS.nothingToRestore,
    done: () => COMMANDS.restored(target),
  });
}

const RESTORE_OPERANDS = "<id> [--files-only|--conversation-only]";

/** Takes back the last step of the conversation. */
export function undoStep(scene: CommandScene, words: readonly string[]): Promise<CommandResult> {
  const done = ({ steps }: Plan) => COMMANDS.undone(steps.map(stepLabel).join(", "));
  return moveSteps(scene, words, { kind: "undo", verb: "Undo", nothing: COMMANDS.nothingToUndo, done });
}

/** The slash command that brings back what was undone. */
export function redoStep(scene: CommandScene, words: readonly string[]): Promise<CommandResult> {
  const done = ({ steps }: Plan) => COMMANDS.redone(steps.map(stepLabel).join(", "));
  return moveSteps(scene, words, { kind: "redo", verb: "Redo", nothing: COMMANDS.nothingToRedo, done });
}

async function moveSteps(
  scene: CommandScene,
  [typed = "1", ...others]: readonly string[],
  { kind, ...way }: Omit<Way, "request"> & { readonly kind: "undo" | "redo" },
): Promise<CommandResult> {
  if (others.length > 0 || !/^[1-9]\d{0,2}$/.test(typed)) return misused(scene, "[n]");
  return goBack(scene, { ...way, request: { kind, count: Number(typed), thread: scene.thread } });
}

function scopeOf([option, ...others]: readonly string[], usual: "files" | "both") {
  if (others.length > 0) return undefined;
  if (option === undefined) return usual;
  return option === "--files-only" ? "files" : option === "--conversation-only" ? "conversation" : undefined;
}

/** The reference that was typed below the list, empty for none; undefined where there is no terminal to ask on. */
async function whichOne(scene: CommandScene): Promise<string | undefined> {
  if (scene.ask === null) return undefined;
  await listCheckpoints(scene, []);
  return (await scene.ask(COMMANDS.askWhich)).trim();
}

async function goBack(scene: CommandScene, way: Way): Promise<CommandResult> {
  const workspace = await scene.workspace();
  let forked: Forked | undefined;
  for (;;) {
    const { plan } = await makePlan(scene.client, workspace, way.request);
    if (plan === null || isNothing(plan, way.request)) return succeeded(way.nothing);
    scene.write(previewOf(plan, way));
    if (plan.conflicts.length > 0 && plan.filesTotal === 0) return failed(COMMANDS.nothingChanged);
    const question =
      plan.conflicts.length > 0 ? COMMANDS.askTheRest(way.verb, plan.filesTotal) : `${way.verb}?`;
    if (scene.ask === null) return unasked(question);
    if (!(await isConfirmed(scene, { id: plan.id, files: plan.files, workspace }, question)))
      return failed(COMMANDS.nothingChanged);
    const bestEffort = plan.conflicts.length > 0;
    forked ??= await forkFor(scene.client, workspace, way.request);
    const applied = await applyPlan(scene.client, { id: plan.id, workspace }, { bestEffort });
    if (applied.is === "done") {
      for (const line of conversationLines(forked)) scene.write(line);
      return succeeded(way.done(plan));
    }
    // what was shown is not what would be done: show what would be
    scene.write(applied.is === "stale" ? GOING_BACK.stale : applied.message);
  }
}

function isNothing({ filesTotal, conflicts }: Plan, { scope = "files" }: PlanRequest): boolean {
  return filesTotal === 0 && conflicts.length === 0 && scope === "files";
}

function previewOf(plan: Plan, { request }: Way): string {
  const { kind, scope } = request;
  const isRestore = kind === "restore";
  const files = [planSummary(plan), leftAloneText(plan)].filter((part) => part !== "").join(" ");
  return [
    ...(isRestore ? [] : stepQuestion(plan, kind)),
    ...(plan.filesTotal > 0 ? [files, ...fileLines(plan, LISTED_FILES).map((line) => `  ${line}`)] : []),
    ...(scope === "both" ? [COMMANDS.conversationToo] : []),
    ...(scope === "conversation" ? [COMMANDS.conversationOnly] : []),
    ...stayLines(plan),
    ...(plan.conflicts.length > 0 ? conflictLines(plan, Date.now()) : []),
  ].join("\n");
}

async function isConfirmed(
  scene: CommandScene,
  plan: Pick<Plan, "id" | "files"> & { readonly workspace: string },
  question: string,
): Promise<boolean> {
  for (;;) {
    const letter = await askLetter(scene, `${question} [y/N/d] `, "yd");
    if (letter !== "d") return letter === "y";
    for (const file of plan.files.slice(0, COMPARED_FILES))
      scene.write(fileDiffText(await plannedFileDiff(scene.client, plan, file), file));
  }
}
