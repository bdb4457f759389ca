/**
 * A few braces and blank lines that survive in the middle of a rewrite are a coincidence, not an anchor. Git
 * does not align on them, and a change of theirs between two of them has lost its surroundings.
 */
import { findRepeated, type LineIds } from "../diff/line-ids.ts";
import type { LineChange } from "../diff/lines.ts";

/** A run is weak when this many times its lines changed around it; git's figure. */
const WEAK_RATIO = 3;

/** Joins changes that are separated only by a few lines, all of which occur elsewhere in the files. */
export function joinAcrossWeakRuns(changes: readonly LineChange[], ids: LineIds): LineChange[] {
  return chainsOfChanges(changes, ids).flatMap((chain) => {
    const deleted = chain.reduce((sum, [aStart, aEnd]) => sum + aEnd - aStart, 0);
    const inserted = chain.reduce((sum, [, , bStart, bEnd]) => sum + bEnd - bStart, 0);
    return joinWithin(chain, Math.max(deleted, inserted));
  });
}

function joinWithin(chain: readonly LineChange[], changedLines: number): LineChange[] {
  const joined: LineChange[] = [];
  for (const change of chain) {
    const last = joined.at(-1);
    if (last === undefined || WEAK_RATIO * (change[0] - last[1]) >= changedLines) joined.push(change);
    else joined[joined.length - 1] = [last[0], change[1], last[2], change[3]];
  }
  return joined;
}

/** Splits the changes at every line between them that occurs only once. */
function chainsOfChanges(changes: readonly LineChange[], ids: LineIds): LineChange[][] {
  const isRepeated = findRepeated(ids);
  const chains: LineChange[][] = [];
  let keptFrom = 0;
  for (const change of changes) {
    const run = ids.aIds.subarray(keptFrom, change[0]);
    if (chains.length > 0 && run.every((id) => isRepeated[id] === 1)) chains.at(-1)!.push(change);
    else chains.push([change]);
    keptFrom = change[1];
  }
  return chains;
}
