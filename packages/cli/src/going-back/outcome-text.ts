/** What a restore, undo, redo, revert, reset or switch did, and what the person can do next. */
import type { Outcome } from "@belay/engine";
import { leftOut, outcomeWord, untouchedText } from "@belay/server/json";
import type { Output } from "../output/output.ts";
import { count, duration } from "@belay/tui/text";
import { stepLabel } from "../output/step-label.ts";
import { conflictList, waysOutText } from "./conflict-text.ts";
import { leftOutList } from "./left-out.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { writtenCounts } from "../output/written-counts.ts";
import { reasonList } from "./preview-text.ts";
import type { Verb, WayOut } from "./ways-out.ts";

const PAST: Readonly<Record<Verb, string>> = {
  restore: "Restored",
  reset: "Reset",
  undo: "Undone",
  redo: "Redone",
  revert: "Reverted",
  switch: "Switched",
};

const NEXT: Readonly<Record<Verb, string>> = {
  restore: "`belay undo` takes this back.",
  reset: "`belay undo` takes this back.",
  undo: "`belay redo` brings it back.",
  redo: "`belay undo` undoes it again.",
  revert: "`belay undo` takes this back.",
  switch: "`belay undo` goes back, with the files.",
};

/** What stays in conflict now will be in conflict on the way back too. */
const NEXT_OF_A_PART: Readonly<Partial<Record<Verb, string>>> = {
  undo: "`belay redo --best-effort` brings it back.",
  redo: "`belay undo --best-effort` undoes it again.",
};

/** The command and its target. */
export interface Direction {
  readonly verb: Verb;
  /** `to 12 kqzv…`; undo and redo name their steps instead. */
  readonly target?: string;
  /** True when the messages of the conversation are rolled back too. */
  readonly conversation?: boolean;
}

/** Where an outcome is printed, and the commands that resolve its conflicts. */
export interface Answer {
  readonly output: Output;
  readonly ways: readonly WayOut[];
}

/** What going back did, in words for the terminal. */
export function outcomeText(direction: Direction, outcome: Outcome, answer: Answer): string {
  const { verb } = direction;
  const { output } = answer;
  switch (outcomeWord(outcome)) {
    case "applied":
      return `${output.style.green("✓")} ${doneText(direction, outcome)}${nextText(verb, outcome, output)}`;
    case "unchanged":
      return unchangedText(verb, outcome);
    case "partial":
      return partialText(direction, outcome, answer);
    case "displaced":
      return `${partialText(direction, outcome, answer)}\n${displacedText(outcome, output)}`;
    case "conflicts":
      return conflictText(verb, outcome, answer);
  }
}

function doneText({ verb, target, conversation }: Direction, outcome: Outcome): string {
  const counts = writtenCounts(outcome);
  if (conversation === true) counts.push("the conversation");
  const outside = outcome.outside?.written.length ?? 0;
  if (outside > 0) counts.push(`${outside} outside the workspace`);
  const isBranch = outcome.steps.some(({ kind }) => kind === "switch");
  const files = counts.length === 0 ? (isBranch ? "no file changed" : "only directories") : counts.join(", ");
  const part = isOwnStep(verb, outcome) ? " in part" : "";
  const what = target === undefined ? `${part}: ${outcome.steps.map(stepLabel).join(", ")}` : ` ${target}`;
  return `${PAST[verb]}${what} (${files}; ${duration(outcome.durationMs)})`;
}

/** [R232] A part that is taken out is a step of its own, which another undo takes back and no redo. */
function isOwnStep(verb: Verb, { plan }: Outcome): boolean {
  return verb === "undo" && (plan.paths !== null || plan.hunks !== null);
}

function wayBack(verb: Verb, outcome: Outcome): string {
  if (isOwnStep(verb, outcome)) return NEXT.revert;
  return (outcome.conflicts.length > 0 ? NEXT_OF_A_PART[verb] : undefined) ?? NEXT[verb];
}

function nextText(verb: Verb, outcome: Outcome, output: Output): string {
  return output.quiet ? "" : `\n${output.style.dim("→")} ${wayBack(verb, outcome)}`;
}

function unchangedText(verb: Verb, outcome: Outcome): string {
  if (verb === "undo" && outcome.steps.length === 0) {
    const nothing =
      "Nothing to undo: there is no step left that changed anything. `belay restore <checkpoint>` goes back to a checkpoint.";
    return [nothing, ...outcome.plan.warnings.map((warning) => `warning: ${warning}`)].join("\n");
  }
  if (verb === "redo" && outcome.steps.length === 0) return "Nothing to redo.";
  if (verb === "reset") return "Nothing to reset: everything is approved.";
  if (verb === "revert" && outcome.safetyCheckpoint === null)
    return "Nothing to revert: this checkpoint has no changes of its own.";
  if (verb === "switch") return "Nothing to do: the files are on that branch already.";
  const { kept, gaps } = outcome.plan;
  return kept.length + gaps.length === 0
    ? "Nothing to do: the files are already in that state."
    : "Nothing to do: everything else is already in that state.";
}

function partialText(direction: Direction, outcome: Outcome, { output, ways }: Answer): string {
  const { conflicts, skipped, plan } = outcome;
  const missing = leftOut(plan);
  const left = conflicts.length + skipped.length + missing.length;
  return [
    `${output.style.yellow("!")} ${doneText(direction, outcome)}`,
    ...(left === 0 ? [] : [`Left unchanged: ${count(left, "path")}`]),
    ...(missing.length === 0 ? [] : [leftOutList(plan, output, true)]),
    ...(conflicts.length === 0 ? [] : [conflictList(conflicts, output, true)]),
    ...(skipped.length === 0 ? [] : [reasonList(skipped, output, true)]),
    ...(outcome.outside?.skipped ?? []).map(({ path, reason }) => `  ${visible(path)}: ${visible(reason)}`),
    ...(ways.length === 0 ? [] : [waysOutText(ways, output)]),
    `${output.style.dim("→")} ${wayBack(direction.verb, outcome)}`,
  ].join("\n");
}

function conflictText(verb: Verb, outcome: Outcome, { output, ways }: Answer): string {
  const what = outcome.steps.map((step) => stepLabel(step)).join(", ");
  return [
    `${output.style.yellow("!")} Cannot ${verb}${what === "" ? "" : ` ${what}`}. ${untouchedText(outcome)} Conflicts:`,
    conflictList(outcome.conflicts, output, true),
    ...(outcome.displaced.length === 0 ? [] : [displacedText(outcome, output)]),
    waysOutText(ways, output),
  ].join("\n");
}

/** Where displaced content is, and how to see it or bring it back. */
function displacedText({ displaced }: Outcome, output: Output): string {
  const [first] = displaced;
  const held = displaced.map(({ path, checkpoint }) => ({ path, reason: `checkpoint ${checkpoint}` }));
  return [
    "Another program wrote to these files meanwhile. What is not on disk is in a checkpoint:",
    reasonList(held, output, true),
    `${output.style.dim("→")} \`belay diff ${first!.checkpoint} -- ${visiblePath(first!.path)}\` shows it, \`belay restore ${first!.checkpoint} ${visiblePath(first!.path)}\` brings it back.`,
  ].join("\n");
}
