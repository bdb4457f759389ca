/** What a step did to one path in several captures, where only the sum of it counts. */
import type { BytePath } from "../model/byte-path.ts";
import { isUnseen, sameNode, type Entry } from "../model/entry.ts";
import type { Change } from "../history/changes.ts";

/** Whether steps are undone or redone. */
export type Direction = "backwards" | "forwards";

/**
 * [R131] A path that was a gap in between goes from its first entry to its last at once: nothing leads
 * through content that was never captured.
 */
export function acrossGaps(delta: readonly Change[]): Change[] {
  const newest = new Map<BytePath, Change>();
  const passed = new Set<Change>();
  const joined = delta.map((change) => {
    const earlier = newest.get(change.path);
    const isAcross =
      earlier?.new?.kind === "gap" &&
      earlier.shared === change.shared &&
      (sameNode(earlier.new, change.old) || isUnseen(earlier.new, change.old));
    if (isAcross) passed.add(earlier);
    const whole = isAcross ? { ...change, old: earlier.old } : change;
    newest.set(change.path, whole);
    return whole;
  });
  return joined.filter((change) => !passed.has(change));
}

/**
 * [R16] Without the changes that have nothing left to do: those of a path that the step left as it had found it, and those
 * of one that is there already as the step would leave it. One by one they would lead through states that may be in
 * conflict with the present, although neither end is.
 */
export function withoutSettled(
  delta: readonly Change[],
  direction: Direction,
  now: (path: BytePath) => Entry | undefined,
): readonly Change[] {
  const settled = new Set<Change>();
  for (const [path, changes] of Map.groupBy(delta, ({ path: changed }) => changed)) {
    if (changes.length < 2) continue;
    const chains = consecutive(changes);
    for (const chain of chains) {
      const [found, left] = [chain[0]!.old, chain.at(-1)!.new];
      const isThere = chains.length === 1 && sameNode(now(path), direction === "backwards" ? found : left);
      if (isThere || sameNode(found, left)) for (const change of chain) settled.add(change);
    }
  }
  return settled.size === 0 ? delta : delta.filter((change) => !settled.has(change));
}

/** Changes of one path, divided where something else changed it in between. */
function consecutive(changes: readonly Change[]): Change[][] {
  const chains: Change[][] = [];
  for (const change of changes) {
    const before = chains.at(-1)?.at(-1);
    if (before !== undefined && before.shared === change.shared && sameNode(before.new, change.old))
      chains.at(-1)!.push(change);
    else chains.push([change]);
  }
  return chains;
}
