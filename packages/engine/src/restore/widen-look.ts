/**
 * What a look must include beyond the present rules before anything is changed: every path that would be touched, even
 * one that the rules leave out, and without a size limit. A first look finds out which paths these are.
 */
import { compareTrees, lookUp } from "../diff/compare-trees.ts";
import type { Change } from "../history/changes.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint, Gap } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import { absenceProof, leavers } from "../capture/proven-changes.ts";
import type { Look, Present } from "../capture/look.ts";

/** What a restore of these targets needs to see; undefined when the look saw enough. */
export function widenForTargets(
  present: Present,
  targets: readonly Checkpoint[],
): Pick<Look, "included" | "unlimited"> | undefined {
  const wider = targets.flatMap((target) => widenForTarget(present, target) ?? []);
  if (wider.length < 2) return wider[0];
  return {
    included: wider.flatMap(({ included = [] }) => included),
    unlimited: new Set(wider.flatMap(({ unlimited = [] }) => [...unlimited])),
  };
}

function widenForTarget(
  present: Present,
  target: Checkpoint,
): Pick<Look, "included" | "unlimited"> | undefined {
  const isSameView = present.rules === target.rules && present.excluded === target.excluded;
  const left = isSameView ? [] : leavers(present.objects, target, present);
  const included = left.filter(({ from }) => from?.kind !== "directory").map(({ path }) => path);
  const unlimited = touchedGaps(present, target);
  if (included.length === 0 && unlimited.size === 0) return undefined;
  return { included, unlimited: new Set([...unlimited, ...included]) };
}

/** What moving these changes needs to see; undefined when the look saw enough. */
export function widenForChanges(
  present: Present,
  changes: readonly Change[],
): Pick<Look, "included" | "unlimited"> | undefined {
  const isGone = absenceProof(present.objects, present);
  const isLeaf = (entry: Entry | undefined) => entry !== undefined && entry.kind !== "directory";
  const leaves = changes.filter(({ old, new: after }) => isLeaf(old) || isLeaf(after));
  const paths = new Set(leaves.map(({ path }) => path));
  const isSeen = (path: BytePath) =>
    isGone(path, undefined) || lookUp(present.objects, present.snapshot, path).entry !== undefined;
  const included = [...paths].filter((path) => !isSeen(path));
  const large = present.gaps.filter((gap) => isBySize(gap) && paths.has(gap.path)).map(({ path }) => path);
  return included.length + large.length === 0
    ? undefined
    : { included, unlimited: new Set([...included, ...large]) };
}

/** True for what would have been captured, had it been smaller. */
function isBySize({ reason }: Gap): boolean {
  return reason === "too-large" || reason === "limit";
}

/** Gaps by size that the target has content for. */
function touchedGaps(present: Present, target: Checkpoint): Set<BytePath> {
  const bySize = new Set(present.gaps.filter(isBySize).map(({ path }) => path));
  if (bySize.size === 0) return bySize;
  const touched = compareTrees(present.objects, present.snapshot, target.snapshot).filter(
    ({ path, to }) => bySize.has(path) && to?.kind !== "gap",
  );
  return new Set(touched.filter(({ to }) => to !== undefined).map(({ path }) => path));
}
