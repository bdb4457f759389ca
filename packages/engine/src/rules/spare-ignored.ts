/** A git-ignored path never blocks a plan: instead of a conflict it is kept and named. */
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { Conflict, Edit, Kept } from "../model/plan.ts";
import type { RecordedRules } from "../model/rules.ts";
import { createRecordedMatcher } from "./recorded-rules.ts";

const CHANGED_SINCE = "git ignores it, and it was changed since" satisfies Kept["reason"];

/** Splits a plan's conflicts into real ones and kept ignored paths. */
export function spareIgnored<Known extends Conflict>(
  { kept, conflicts }: { kept: readonly Kept[]; conflicts: readonly Known[] },
  rules: RecordedRules | undefined,
): { kept: readonly Kept[]; conflicts: readonly Known[] } {
  if (conflicts.length === 0 || rules === undefined) return { kept, conflicts };
  const { isIgnored } = createRecordedMatcher(rules);
  const [spared, left]: [Known[], Known[]] = [[], []];
  for (const conflict of conflicts) (isIgnored(conflict.path) ? spared : left).push(conflict);
  return { kept: [...kept, ...spared.map(({ path }) => keptAsIs(path))], conflicts: left };
}

/**
 * Keeps, with a spared path, everything that a plan would write below it: where that path is not a directory now, nothing
 * can stand below it.
 */
export function spareBelow<Planned extends { kept: readonly Kept[]; edits: readonly Edit[] }>(
  plan: Planned,
  isDirectory: (path: BytePath) => boolean,
): Planned {
  const spared = plan.kept.filter(({ reason }) => reason === CHANGED_SINCE).map(({ path }) => path);
  const blocking = spared.filter((path) => !isDirectory(path));
  if (blocking.length === 0) return plan;
  const isBlocked = ({ path }: Edit) => blocking.some((above) => path !== above && isAtOrBelow(path, above));
  const blocked = plan.edits.filter(isBlocked);
  if (blocked.length === 0) return plan;
  return {
    ...plan,
    edits: plan.edits.filter((edit) => !isBlocked(edit)),
    kept: [...plan.kept, ...blocked.map(({ path }) => keptAsIs(path))],
  };
}

/** The edited paths that git ignores. */
export function ignoredAmong(edits: readonly Edit[], rules: RecordedRules): ReadonlySet<BytePath> {
  const { isIgnored } = createRecordedMatcher(rules);
  return new Set(edits.map(({ path }) => path).filter(isIgnored));
}

/** Reports a git-ignored path as kept. */
export function keptAsIs(path: BytePath): Kept {
  return { path, reason: CHANGED_SINCE };
}
