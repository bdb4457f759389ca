/** What going back cannot bring back, and why. */
import type { BytePath, Outcome, Plan } from "@belay/engine";

/** A path that stays as it is although it was chosen, lies in a chosen directory, or was changed by the step. */
export interface LeftOut {
  readonly path: BytePath;
  readonly reason: string;
}

/**
 * [R198] Of a restore: empty unless paths were chosen, for of a whole directory some paths always stay out; what the
 * caller asked to keep is not left out. Of an undo, redo or revert: what the step changed and was forgotten since.
 */
export function leftOut({ kind, paths, kept, gaps }: Plan): LeftOut[] {
  if (kind === "undo" || kind === "redo" || kind === "revert")
    return gaps.filter(({ reason }) => reason === "forgotten").map(({ path, reason }) => ({ path, reason }));
  if (kind !== "restore" || paths === null) return [];
  const byPath = new Map<string, LeftOut>();
  for (const each of [...kept.filter(({ reason }) => reason !== "keep-new"), ...gaps])
    byPath.set(each.path, { path: each.path, reason: each.reason });
  return [...byPath.values()];
}

/** Not one path can be brought back. */
export function isNothingRestorable(plan: Plan): boolean {
  return plan.edits.length === 0 && plan.conflicts.length === 0 && leftOut(plan).length > 0;
}

/** Going back that could not bring back a path chosen by its name is not whole, whatever became of the others. */
export function outcomeWord({ outcome, plan }: Pick<Outcome, "outcome" | "plan">): Outcome["outcome"] {
  const isChosen = (path: BytePath) =>
    plan.paths?.some((chosen) => chosen === path || chosen.startsWith(`${path}/`)) === true;
  return outcome === "applied" && leftOut(plan).some(({ path }) => isChosen(path)) ? "partial" : outcome;
}
