/**
 * What was captured and is left out by now. Becoming ignored is not deletion, but it does not hide one either: of the
 * paths that the newest checkpoint has, and that today's rules leave out, the disk is asked. While a turn is open they
 * are captured by name, because the turn may still change them; otherwise those that are gone are told, and the rest
 * is let go.
 */
import { below } from "../fs/absolute-path.ts";
import { kindOf } from "../fs/file-stat.ts";
import { newestCheckpoint } from "../history/checkpoints.ts";
import { hasOpenStep } from "../history/steps.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { isEngineError } from "../model/errors.ts";
import type { Edit } from "../model/plan.ts";
import { asSeen, lookRequest, type Context } from "./context.ts";
import { statNodeBelow } from "./node-state.ts";
import { leavers } from "./proven-changes.ts";
import type { LookRequest, Present } from "./look.ts";

export interface LeftBehind {
  /** To be captured by name. */
  readonly included: readonly BytePath[];
  /** No longer on disk, whatever the rules say. */
  readonly absent: ReadonlySet<BytePath>;
}

/** Looks at the present so that changes since the newest checkpoint, and since another one, can be told. */
export function lookNow(context: Context, more: Partial<LookRequest> = {}, since?: Checkpoint): Present {
  const look = (request: Partial<LookRequest>) =>
    context.worktree.look(lookRequest(context, request), context.store.objects);
  const present = look(more);
  const { included, absent } = leftBehind(context, present, since);
  if (included.length === 0) return { ...present, absent };
  return { ...look({ ...more, included: [...(more.included ?? []), ...included] }), absent };
}

/** Asks the disk about what a look left out. Damage is for those to report who need what is damaged. */
export function leftBehind(context: Context, present: Present, since?: Checkpoint): LeftBehind {
  const { db } = context.store;
  const newest = newestCheckpoint(db);
  if (newest === undefined) return NOTHING;
  try {
    const left = leavers(present.objects, asSeen(context, newest), present);
    const others = since === undefined ? [] : leavers(present.objects, asSeen(context, since), present);
    const isCarried = left.length > 0 && hasOpenStep(db);
    return {
      included: namedPaths(context, isCarried ? [...left, ...others] : others),
      absent: new Set(isCarried ? [] : gone(context, left)),
    };
  } catch (error) {
    if (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) return NOTHING;
    throw error;
  }
}

const NOTHING: LeftBehind = { included: [], absent: new Set() };

/** A directory counts with what is in it, unless something else has taken its place. */
function namedPaths({ worktree: { root } }: Context, edits: readonly Edit[]): BytePath[] {
  const named = edits.filter(({ path, from }) => {
    if (from?.kind !== "directory") return from?.kind === "file" || from?.kind === "symlink";
    const there = statNodeBelow(below(root, path));
    return there !== undefined && kindOf(there) !== "directory";
  });
  return [...new Set(named.map(({ path }) => path))];
}

function gone({ worktree: { root } }: Context, edits: readonly Edit[]): BytePath[] {
  return edits.map(({ path }) => path).filter((path) => statNodeBelow(below(root, path)) === undefined);
}
