/** How large is what was left out? */
import type { Context } from "../capture/context.ts";
import { measureExcluded } from "../capture/excluded-size.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";

/** How long an answer may wait for sizes. */
const MEASURE_MS = 300;

/** Fills in the sizes that can be found in a moment; the others stay unknown. */
export function measureQuickly(
  { workingCopy, system }: Context,
  excluded: readonly ExcludedRoot[],
): ExcludedRoot[] {
  const end = system.elapsed() + MEASURE_MS;
  return measureExcluded(workingCopy.root, excluded, () => system.elapsed() > end);
}
