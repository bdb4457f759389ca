/** What is told about conflicts besides the lines: whose change is in the way, and which checkpoint has what was wanted. */
import { lookUp } from "../diff/compare-trees.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import type { Direction, PlannedConflict } from "../history/plan-steps.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { sameNode } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Conflict } from "../model/plan.ts";
import type { Context } from "../capture/context.ts";

interface Telling {
  readonly direction: Direction;
  readonly ownerOf: (path: BytePath) => { thread?: ThreadId };
  /** Where to look first for what was wanted. */
  readonly first?: Checkpoint;
}

export function tellConflicts(
  context: Context,
  conflicts: readonly PlannedConflict[],
  { direction, ownerOf, first }: Telling,
): Conflict[] {
  return conflicts.map(({ wanted, capture, ...conflict }) => {
    const has = (checkpoint: Checkpoint | undefined) =>
      checkpoint !== undefined && holds(context, checkpoint, { path: conflict.path, wanted });
    const holder = [first, recordedBy(context, capture, direction)].find(has);
    return {
      ...conflict,
      ...ownerOf(conflict.path),
      ...(holder === undefined ? {} : { restoreFrom: holder.id }),
    };
  });
}

/** The capture that recorded a change has what it left; the one before it has what it found. */
function recordedBy(
  { store: { db } }: Context,
  capture: number,
  direction: Direction,
): Checkpoint | undefined {
  const before = direction === "backwards" ? "seq <" : "seq <=";
  const row = db.get(
    `SELECT max(seq) AS seq FROM checkpoint WHERE pruned_at IS NULL AND ${before} ?`,
    capture,
  );
  return row === undefined || row["seq"] === null ? undefined : checkpointAt(db, Number(row["seq"]));
}

/** What is damaged holds nothing. */
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
