/** What a restore, undo, redo or revert did, for people, and what they can do next. */
import type { Outcome } from "@belay/engine";
import type { Output } from "../output/output.ts";
import { count, duration } from "../output/quantity.ts";
import { stepLabel } from "../output/step-label.ts";
import { visible } from "../output/visible.ts";
import { reasonList } from "./preview-text.ts";

export type Verb = "restore" | "undo" | "redo" | "revert";

const PAST: Readonly<Record<Verb, string>> = {
  restore: "Restored",
  undo: "Undone",
  redo: "Redone",
  revert: "Taken out",
};

const NEXT: Readonly<Record<Verb, string>> = {
  restore: "`belay undo` takes this back.",
  undo: "`belay redo` brings it back.",
  redo: "`belay undo` takes it out again.",
  revert: "`belay undo` takes this back.",
};

export function outcomeText(verb: Verb, outcome: Outcome, output: Output): string {
  switch (outcome.outcome) {
    case "applied":
      return `${output.style.green("✓")} ${doneText(verb, outcome)}${nextText(verb, output)}`;
    case "unchanged":
      return unchangedText(verb, outcome);
    case "partial":
      return partialText(verb, outcome, output);
    case "conflicts":
      return conflictText(verb, outcome, output);
  }
}

function doneText(verb: Verb, outcome: Outcome): string {
  const { created, modified, deleted } = outcome;
  const parts = [
    created > 0 && `${created} created`,
    modified > 0 && `${modified} changed`,
    deleted > 0 && `${deleted} deleted`,
  ];
  const counts = parts.filter((part) => part !== false).join(", ");
  const what = outcome.steps.map((step) => `: ${stepLabel(step)}`).join("");
  const subject = verb === "undo" || verb === "redo" ? what : "";
  return `${PAST[verb]}${subject} (${counts === "" ? "only directories" : counts}; ${duration(outcome.durationMs)})`;
}

function nextText(verb: Verb, output: Output): string {
  return output.quiet ? "" : `\n${output.style.dim("→")} ${NEXT[verb]}`;
}

function unchangedText(verb: Verb, outcome: Outcome): string {
  if (verb === "undo" && outcome.steps.length === 0) {
    return "Nothing to undo: no step has changed anything yet. `belay restore <checkpoint>` goes back to a checkpoint.";
  }
  if (verb === "redo" && outcome.steps.length === 0) return "Nothing to redo.";
  return "Nothing to do: the files already are in that state.";
}

function partialText(verb: Verb, outcome: Outcome, output: Output): string {
  const left = [...outcome.conflicts, ...outcome.skipped];
  return [
    `${output.style.yellow("!")} ${doneText(verb, outcome)}. Left as before: ${count(left.length, "path")}`,
    reasonList(left, output, true),
    `${output.style.dim("→")} ${NEXT[verb]}`,
  ].join("\n");
}

function conflictText(verb: Verb, outcome: Outcome, output: Output): string {
  const what = outcome.steps.map((step) => stepLabel(step)).join(", ");
  return [
    `${output.style.yellow("!")} Cannot ${verb}${what === "" ? "" : ` ${what}`}. Nothing was changed. In the way:`,
    reasonList(outcome.conflicts, output, true),
    `${output.style.dim("→")} ${visible(conflictHint(verb))}`,
  ].join("\n");
}

function conflictHint(verb: Verb): string {
  if (verb === "restore") return "--best-effort leaves these paths as they are and does the rest.";
  return "--best-effort does the rest without these; `belay restore <checkpoint>` is exact.";
}
