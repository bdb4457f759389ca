/** What a restore of chosen paths cannot restore, and why. */
import type { Plan } from "@belay/engine";
import { pathJson } from "@belay/server/json";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { reasonWords } from "../output/reasons.ts";
import { visiblePath } from "../output/visible.ts";

interface LeftOut {
  readonly path: Plan["merged"][number];
  readonly reason: string;
}

/** [R198] Empty unless paths were chosen: of a whole directory some paths always stay out. What the caller asked to keep is not left out. */
export function leftOut({ kind, paths, kept, gaps }: Plan): LeftOut[] {
  if (kind !== "restore" || paths === null) return [];
  const byPath = new Map<string, LeftOut>();
  for (const each of [...kept.filter(({ reason }) => reason !== "keep-new"), ...gaps])
    byPath.set(each.path, { path: each.path, reason: each.reason });
  return [...byPath.values()];
}

/** Paths were chosen, and not one of them can be brought back. */
export function isNothingRestorable(plan: Plan): boolean {
  return plan.edits.length === 0 && plan.conflicts.length === 0 && leftOut(plan).length > 0;
}

/** `secret.key was forgotten and cannot be restored` */
export function leftOutSentence({ path, reason }: LeftOut): string {
  const name = visiblePath(path);
  return reason === "forgotten"
    ? `${name} was forgotten and cannot be restored`
    : `${name} stays as it is: ${reasonWords(reason)}`;
}

export function nothingRestorableText(plan: Plan, output: Output, all: boolean | undefined): string {
  const list = listText(leftOut(plan), { output, all }, (shown) =>
    shown.map((each) => `  ${leftOutSentence(each)}`).join("\n"),
  );
  return `${output.style.yellow("!")} Nothing could be restored, and nothing was changed:\n${list}`;
}

/** As programs get it. */
export function leftOutJson(plan: Plan) {
  return { leftOut: leftOut(plan).map(({ path, reason }) => ({ ...pathJson(path), reason })) };
}
