/** Retention as the supervisor's design has it. */
import type { ThreadId } from "@belay/engine";
import { drop } from "../frame/drop.ts";
import type { Root } from "../frame/root.ts";
import { listIn } from "./checkpoint.ts";

/**
 * Drops what is older than `maxAge` milliseconds and not among the newest; manual, named and tagged ones stay. Returns how many
 * went.
 */
export function dropOld(
  root: Root,
  thread: ThreadId,
  { maxAge, maxCount }: { maxAge: number; maxCount: number },
): number {
  const { workspace } = root;
  const before = root.now() - maxAge;
  const old = listIn(workspace, thread)
    .toReversed()
    .slice(Math.max(0, maxCount))
    .filter(({ kind, name, tags }) => kind !== "manual" && name === null && tags.length === 0)
    .filter(({ createdAt }) => createdAt < before);
  return old.filter((taken) => drop(root, taken)).length;
}
