/**
 * The present, seen so that a given target can be restored over it: present rules plus every path the
 * target contains, and no size limit for paths that would be touched. Both are found by a first look;
 * only if they add something is there a second one.
 */
import { compareTrees, walkTree } from "../diff/compare-trees.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Context } from "./context.ts";
import { createRecordedMatcher } from "./recorded-rules.ts";
import type { LookRequest, Present } from "./look.ts";

/** What a second look must add; undefined when the first one saw enough. */
export function whatElseToSee(
  context: Context,
  present: Present,
  target: Checkpoint,
): Partial<LookRequest> | undefined {
  const named = present.rules === target.rules ? [] : pathsOutsideRules(context, present, target);
  const unlimited = touchedGaps(present, target);
  if (named.length === 0 && unlimited.size === 0) return undefined;
  return { named, unlimited: new Set([...unlimited, ...named]) };
}

/** Paths of the target that the present rules would leave out. */
function pathsOutsideRules({ store }: Context, present: Present, target: Checkpoint): BytePath[] {
  const matcher = createRecordedMatcher(present.recordedRules);
  const outside: BytePath[] = [];
  for (const { path, entry } of walkTree(store.objects, target.snapshot)) {
    if (entry.kind !== "directory" && !matcher.wouldCapture(path, false)) outside.push(path);
  }
  return outside;
}

/** Gaps by size that the target has content for. */
function touchedGaps(present: Present, target: Checkpoint): Set<BytePath> {
  const bySize = new Set(
    present.gaps.filter(({ reason }) => reason === "too-large" || reason === "limit").map(({ path }) => path),
  );
  if (bySize.size === 0) return bySize;
  const touched = compareTrees(present.objects, present.snapshot, target.snapshot).filter(
    ({ path, to }) => bySize.has(path) && to?.kind !== "gap",
  );
  return new Set(touched.filter(({ to }) => to !== undefined).map(({ path }) => path));
}
