/** Plans in words, line by line. Every name of a file and every prompt is made visible here. */
import { lineCounts } from "../text/line-counts.ts";
import { count, grouped } from "../text/quantity.ts";
import { conflictSentence, conflictWords, reasonWords, sentence } from "../text/reasons.ts";
import { clockSeconds } from "../text/relative-time.ts";
import { visibleLine } from "../text/visible.ts";
import { GOING_BACK, VERBS } from "../words.ts";
import { groupFiles, type Conflict, type Plan, type PlanFile, type PlanKind } from "./plan.ts";

type Step = Plan["steps"][number];

/** The sign of a change, as lists of files have it. */
export const SIGNS: Readonly<Record<PlanFile["change"], string>> = {
  delete: "-",
  change: "~",
  create: "+",
  mode: "m",
};

/** A plan in one line of the screen: `12 files: 5 deleted, 5 changed, 2 brought back.` */
export function planSummary({ files, filesTotal }: Pick<Plan, "files" | "filesTotal">): string {
  const total = count(filesTotal, "file");
  // beyond the listed ones nothing is known but how many there are
  if (filesTotal > files.length) return `${total}.`;
  const parts = groupFiles(files).map(
    (group) => `${grouped(group.files.length)} ${GOING_BACK.changed[group.change]}`,
  );
  return `${total}: ${parts.join(", ")}.`;
}

/** `codex's 2 are left alone.` for each thread whose work stays. */
export function leftAloneText({ leftAlone }: Pick<Plan, "leftAlone">): string {
  return leftAlone
    .map(({ agent, filesTotal }) =>
      GOING_BACK.leftAloneOf(visibleLine(agent ?? "another thread"), grouped(filesTotal)),
    )
    .join(" ");
}

/** The first files, one a line, and how many more there are. */
export function fileLines({ files, filesTotal }: Pick<Plan, "files" | "filesTotal">, most: number): string[] {
  const shown = files.slice(0, most).map((file) => `${SIGNS[file.change]} ${visibleLine(file.path)}`);
  return filesTotal > shown.length ? [...shown, GOING_BACK.more(grouped(filesTotal - shown.length))] : shown;
}

/** What to know of a file besides its name: counts, in columns where a list has some, whose work it is, what runs by itself. */
export function fileRemarks(file: PlanFile, countsOf = lineCounts): string {
  const counts = file.binary ? "binary" : countsOf(file);
  const marks = file.marks.map((mark) => (mark === "scripts" ? "scripts change" : visibleLine(mark)));
  return [counts, ...marks, ...file.reasons.map((reason) => visibleLine(reasonWords(reason)))]
    .filter((part) => part !== "")
    .join("  ");
}

/** What stays, in sentences: changes that no step of the plan made, files that cannot go back. */
export function stayLines(plan: Plan): string[] {
  const paused = new Set(plan.paused.map(({ path }) => path));
  const outside = plan.meanwhile.filter(({ path }) => !paused.has(path));
  const lines: (string | undefined)[] = [
    named(GOING_BACK.meanwhile, outside, plan.meanwhileTotal - plan.pausedTotal),
    named(GOING_BACK.paused, plan.paused, plan.pausedTotal),
    ...plan.background.map(({ tool, paths, pathsTotal }) =>
      named(GOING_BACK.background(visibleLine(tool)), paths, pathsTotal),
    ),
    ...plan.kept
      .slice(0, SHOWN_KEPT)
      .map(
        ({ path, reason }) => `${GOING_BACK.kept}: ${visibleLine(path)}, ${visibleLine(reasonWords(reason))}`,
      ),
    plan.keptTotal > SHOWN_KEPT
      ? `${GOING_BACK.kept}: ${GOING_BACK.more(grouped(plan.keptTotal - SHOWN_KEPT))}`
      : undefined,
    ...plan.warnings.map(visibleLine),
  ];
  return lines.filter((line) => line !== undefined);
}

const SHOWN_KEPT = 3;

/** `Undo the last turn of claude-code, 10:52:31?` and the prompt below it. */
export function stepQuestion({ steps }: Pick<Plan, "steps">, kind: PlanKind): string[] {
  const verb = `${VERBS[kind].ask[0]!.toUpperCase()}${VERBS[kind].ask.slice(1)}`;
  const [first] = steps;
  if (first === undefined) return [`${verb}?`];
  if (steps.length > 1)
    return [`${verb} ${count(steps.length, "step")}?`, ...steps.map((step) => `  ${stepLine(step)}`)];
  const which = { undo: "the last ", redo: "the ", revert: "only this ", reset: "", restore: "" }[kind];
  return [`${verb} ${which}${stepName(first)}, ${clockSeconds(first.at)}?`, `  "${titleOf(first)}"`];
}

/** `turn of claude-code "Make the retry budget…"` */
export function stepLabel(step: Step): string {
  return `${stepName(step)} "${titleOf(step)}"`;
}

function stepLine(step: Step): string {
  return `${clockSeconds(step.at)} ${stepLabel(step)}`;
}

function stepName({ kind, agent }: Step): string {
  const name = STEP_NAMES[kind] ?? kind;
  // a restore in an agent's thread is a person's
  return agent === null || kind !== "turn" ? name : `${name} of ${visibleLine(agent)}`;
}

/** "revert" is a word of the command line; the screens say what it does. */
const STEP_NAMES: Readonly<Record<string, string>> = {
  turn: "turn",
  restore: "restore",
  reset: "reset",
  revert: "undo of one step",
};

function titleOf({ prompt, description }: Step): string {
  const [first = ""] = (prompt ?? description).split("\n", 1);
  return visibleLine(first.trim() || description);
}

/** `Not undone: 2 of 6 files were changed since.` and each of them with its reason. */
export function conflictLines(plan: Plan, clock: number): string[] {
  const { kind, conflicts, conflictsTotal, filesTotal } = plan;
  return [
    GOING_BACK.conflicts(VERBS[kind].not, conflictsTotal, conflictsTotal + filesTotal),
    GOING_BACK.nothingChanged,
    ...conflicts.map((conflict) => `  ${visibleLine(conflict.path)}  ${conflictReason(conflict, clock)}`),
  ];
}

/** Why a path is in conflict, short: `the same lines, by you 10:47`. */
export function conflictReason(conflict: Conflict, clock: number): string {
  return sharedReason(conflict) ?? conflictWords(conflict, clock);
}

/** The same as a sentence: `The same lines were changed by you at 10:47.` */
export function conflictWhy(conflict: Conflict, clock: number): string {
  const shared = sharedReason(conflict);
  return shared === undefined ? conflictSentence(conflict, clock) : sentence(shared);
}

function sharedReason({ sharedWith }: Conflict): string | undefined {
  if (sharedWith === undefined || sharedWith.length === 0) return undefined;
  return `changed while the ${sharedWith.map(stepLabel).join(" and the ")} was at work too`;
}

function named(
  title: string,
  paths: readonly { readonly path: string }[],
  total: number,
): string | undefined {
  if (paths.length === 0) return undefined;
  const names = paths
    .slice(0, NAMED)
    .map(({ path }) => visibleLine(path))
    .join(", ");
  const more = Math.max(total, paths.length) - Math.min(NAMED, paths.length);
  return `${title} ${names}${more > 0 ? ` ${GOING_BACK.more(grouped(more))}` : ""}`;
}

const NAMED = 3;

/** `Undo "Add retry with exponential backoff…"`: what a plan is about, as a title. */
export function planTitle({
  kind,
  steps,
  description,
}: Pick<Plan, "kind" | "steps" | "description">): string {
  const verb = `${VERBS[kind].ask[0]!.toUpperCase()}${VERBS[kind].ask.slice(1)}`;
  return steps.length === 0
    ? visibleLine(description)
    : `${verb} ${steps.map((step) => `"${titleOf(step)}"`).join(", ")}`;
}
