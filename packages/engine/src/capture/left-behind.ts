/**
 * Paths that the newest checkpoint has and today's rules leave out. Becoming ignored is not deletion, but it does not
 * hide one either, so we look at the disk. While a turn is open these paths are captured by name, because the turn may
 * still change them. Otherwise those that are gone are reported as deleted, and the rest is dropped.
 */
import { below } from "../fs/absolute-path.ts";
import { kindOf } from "../fs/file-stat.ts";
import { headCheckpointView } from "../history/checkpoints.ts";
import { hasOpenStep } from "../history/step-rows.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { isDamage } from "../model/errors.ts";
import type { Edit } from "../model/plan.ts";
import type { Context } from "./context.ts";
import { statNodeBelow } from "./node-state.ts";
import { leavers } from "./proven-changes.ts";
import type { Present } from "./look.ts";

/**
 * Finds what a look left out: the paths to see by name (`included`), and those that are gone (`absent`). A damaged
 * checkpoint leaves nothing out: an operation that needs its content reports the damage.
 */
export function leftBehind(
  context: Context,
  present: Present,
  since?: Checkpoint,
): { included: readonly BytePath[]; absent: ReadonlySet<BytePath> } {
  const { db } = context.store;
  const newest = headCheckpointView(db);
  if (newest === undefined) return NOTHING;
  try {
    const left = leavers(present.objects, newest, present);
    const other = since === undefined ? [] : leavers(present.objects, since, present);
    const isCarried = left.length > 0 && hasOpenStep(db);
    return {
      included: namedPaths(context, isCarried ? [...left, ...other] : other),
      absent: new Set(isCarried ? [] : gone(context, left)),
    };
  } catch (error) {
    if (isDamage(error)) return NOTHING;
    throw error;
  }
}

const NOTHING = { included: [], absent: new Set<BytePath>() };

/** A directory counts with what is in it, unless something else has taken its place. */
function namedPaths({ workingCopy: { root } }: Context, edits: readonly Edit[]): BytePath[] {
  const named = edits.filter(({ path, from }) => {
    if (from?.kind !== "directory") return from?.kind === "file" || from?.kind === "symlink";
    const there = statNodeBelow(below(root, path));
    return there !== undefined && kindOf(there) !== "directory";
  });
  return [...new Set(named.map(({ path }) => path))];
}

function gone({ workingCopy: { root } }: Context, edits: readonly Edit[]): BytePath[] {
  return edits.map(({ path }) => path).filter((path) => statNodeBelow(below(root, path)) === undefined);
}
