/** What git ignores is never worth a refusal: a conflict there is kept as it is, and named. */
import type { BytePath } from "../model/byte-path.ts";
import type { Conflict, Edit, Kept } from "../model/plan.ts";
import type { RecordedRules } from "../model/rules.ts";
import { createRecordedMatcher } from "./recorded-rules.ts";

const CHANGED_SINCE = "git ignores it, and it was changed since" satisfies Kept["reason"];

/** What of a plan stands in the way, and what is kept instead. */
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

/** Those of the paths to be changed that git ignores. */
export function ignoredAmong(edits: readonly Edit[], rules: RecordedRules): ReadonlySet<BytePath> {
  const { isIgnored } = createRecordedMatcher(rules);
  return new Set(edits.map(({ path }) => path).filter(isIgnored));
}

/** A path that git ignores and that stays as it is. */
export function keptAsIs(path: BytePath): Kept {
  return { path, reason: CHANGED_SINCE };
}
