/** What going back cannot restore, in words. */
import { reasonWords } from "@belay/tui/text";
import type { Plan } from "@belay/engine";
import { leftOut, type LeftOut } from "@belay/server/json";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { visiblePath } from "../output/visible.ts";

/** Why a restore leaves a path out: `secret.key was forgotten and cannot be restored` */
export function leftOutSentence({ path, reason }: LeftOut): string {
  const name = visiblePath(path);
  return reason === "forgotten"
    ? `${name} was forgotten and cannot be restored`
    : `${name} stays as it is: ${reasonWords(reason)}`;
}

/** One sentence for each path that was left out. */
export function leftOutList(plan: Plan, output: Output, all: boolean | undefined): string {
  return listText(leftOut(plan), { output, all }, (shown) =>
    shown.map((each) => `  ${leftOutSentence(each)}`).join("\n"),
  );
}

/** Says that not one path can be restored. */
export function nothingRestorableText(plan: Plan, output: Output, all: boolean | undefined): string {
  const nothing = `Nothing could be ${DONE[plan.kind]}, and nothing was changed:`;
  return `${output.style.yellow("!")} ${nothing}\n${leftOutList(plan, output, all)}`;
}

/** What is done to a file that goes back, by the kind of the plan. */
export const DONE: Readonly<Record<Plan["kind"], string>> = {
  restore: "restored",
  reset: "reset",
  undo: "undone",
  redo: "redone",
  revert: "reverted",
  switch: "switched",
  merge: "merged",
};
