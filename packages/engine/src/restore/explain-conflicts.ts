/** Explains conflicts: whose change is in the way, and which checkpoint has what was wanted. */
import { lookUp } from "../diff/compare-trees.ts";
import { lastKept } from "../history/checkpoints.ts";
import type { Direction } from "../history/joined-changes.ts";
import type { PlannedConflict } from "../history/plan-steps.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { sameNode } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Conflict } from "../model/plan.ts";
import type { Context } from "../capture/context.ts";

/** What the explanation needs to know. */
interface Explaining {
  readonly direction: Direction;
  /** The thread whose change of a path is in the way. */
  readonly authorOf: (path: BytePath) => ThreadId | undefined;
  /** Where to look first for what was wanted. */
  readonly first?: Checkpoint;
}

/** Conflicts as people see them. */
export function explainConflicts(
  context: Context,
  conflicts: readonly PlannedConflict[],
  { direction, authorOf, first }: Explaining,
): Conflict[] {
  return conflicts.map(({ wanted, capture, ...conflict }) => {
    const has = (checkpoint: Checkpoint | undefined) =>
      checkpoint !== undefined && holds(context, checkpoint, { path: conflict.path, wanted });
    const holder = [first, recordedBy(context, capture, direction)].find(has);
    const thread = authorOf(conflict.path);
    return {
      ...conflict,
      ...(thread === undefined ? {} : { thread }),
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
