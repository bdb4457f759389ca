/** Explains conflicts: whose change is in the way, since when, and which checkpoint has what was wanted. */
import type { Context } from "../capture/context.ts";
import type { Unrecorded } from "../capture/unrecorded.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { lastKept } from "../history/checkpoints.ts";
import type { Direction } from "./joined-changes.ts";
import { lastAuthor, type Except } from "../history/last-author.ts";
import type { PlannedConflict } from "./plan-steps.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { sameNode } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { Conflict } from "../model/plan.ts";
import { LatestChanges } from "./latest-changes.ts";

/** What the explanation needs to know. */
interface Explaining {
  readonly direction: Direction;
  /** What the plan takes out is not in its own way. */
  readonly except: Except;
  /** What no checkpoint has yet. */
  readonly unrecorded: Unrecorded;
  /** Where to look first for what was wanted. */
  readonly first?: Checkpoint;
}

/** Conflicts as people see them. */
export function explainConflicts(
  context: Context,
  conflicts: readonly PlannedConflict[],
  { direction, except, unrecorded, first }: Explaining,
): Conflict[] {
  if (conflicts.length === 0) return [];
  const changes = new LatestChanges(context, { except, unrecorded });
  return conflicts.map(({ wanted, capture, ...conflict }) => {
    const has = (checkpoint: Checkpoint | undefined) =>
      checkpoint !== undefined && holds(context, checkpoint, { path: conflict.path, wanted });
    const holder = [first, recordedBy(context, capture, direction)].find(has);
    const thread = lastAuthor(context.store.db, conflict.path, except);
    const latest = changes.of(conflict.path, capture);
    return {
      ...conflict,
      ...(thread === undefined ? {} : { thread }),
      ...(latest === undefined ? {} : { latest }),
      ...(holder === undefined ? {} : { restoreFrom: holder.id }),
    };
  });
}

/** The capture that recorded a change has what it left; the one before it has what it found. */
function recordedBy({ store }: Context, capture: number, direction: Direction): Checkpoint | undefined {
  return lastKept(store.db, direction === "backwards" ? capture - 1 : capture);
}

/** A damaged checkpoint holds nothing. */
function holds(
  { store }: Context,
  { snapshot }: Checkpoint,
  { path, wanted }: Pick<PlannedConflict, "path" | "wanted">,
): boolean {
  try {
    return sameNode(lookUp(store.objects, snapshot, path).entry, wanted);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}
