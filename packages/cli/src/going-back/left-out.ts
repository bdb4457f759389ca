/** What a restore of selected paths cannot restore, in words. */
import type { Plan } from "@belay/engine";
import { leftOut, type LeftOut } from "@belay/server/json";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { reasonWords } from "../output/reasons.ts";
import { visiblePath } from "../output/visible.ts";

/** `secret.key was forgotten and cannot be restored` */
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

/** Says that none of the selected paths can be restored. */
export function nothingRestorableText(plan: Plan, output: Output, all: boolean | undefined): string {
  return `${output.style.yellow("!")} Nothing could be restored, and nothing was changed:\n${leftOutList(plan, output, all)}`;
}
