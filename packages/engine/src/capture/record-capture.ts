/**
 * Records a capture as a checkpoint: what changed since the newest one, which steps were open, what is
 * doubtful. All of it happens inside the transaction of the capture.
 */
import { assertTagFree } from "../history/annotations.ts";
import type { AttributionMoment } from "../history/attribution.ts";
import { headCheckpointView, type CheckpointBefore } from "../history/checkpoints.ts";
import { closeAbandoned } from "../history/close-abandoned.ts";
import { readUnsettled } from "../history/journal.ts";
import { resumedCommands } from "../history/liveness.ts";
import { recordCheckpoint, type Recorded, type Recording } from "../history/record.ts";
import { assertName } from "../history/references.ts";
import { assertThread } from "../history/threads.ts";
import { reopenCall } from "../history/tool-calls.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { CheckpointRequest, Doubt } from "../model/checkpoint.ts";
import { isDamage } from "../model/errors.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import { readRestoresHere } from "../store/lease.ts";
import { asSeen, type Context } from "./context.ts";
import type { Present } from "./look.ts";
import { momentOf } from "./moment.ts";
import { provenChanges } from "./proven-changes.ts";

/** How a capture is recorded. */
export interface CaptureRecording extends Recording {
  /**
   * What the event behind this capture says about open work: the thread whose tool runs next, the call that
   * ends.
   */
  readonly moment?: Pick<AttributionMoment, "bracketing" | "ended" | "heard">;
  /** Doubts beside those of the look; without them, the paths that another process is restoring right now. */
  readonly doubts?: readonly Doubt[];
}

/** Records what a look saw; call it inside the transaction that stores the content. */
export function recordCapture(context: Context, present: Present, recording: CaptureRecording): Recorded {
  const { db } = context.store;
  const { request, description, operation, madeBy } = recording;
  validate(db, request);
  const restoring = pathsBeingRestored(context);
  const midRestore = [...restoring].map((path): Doubt => ({ path, reason: "mid-restore" }));
  const newest = headCheckpointView(db);
  const changes = newest && changesSince(context, newest, present);
  const moment = momentOf(context, { ...recording.moment, event: request.thread });
  for (const call of resumedCommands(db, moment)) reopenCall(db, call);
  const recorded = recordCheckpoint(
    db,
    { request, description, ...(operation && { operation }), ...(madeBy && { madeBy }) },
    {
      facts: { ...present, doubts: [...present.doubts, ...(recording.doubts ?? midRestore)] },
      moment,
      newId: context.system.newId,
      // what a restore has done so far belongs to it, and is recorded when it is done
      since: newest && { base: newest, changes: changes?.filter(({ path }) => !restoring.has(path)) },
    },
  );
  closeAbandoned(db, moment);
  return recorded;
}

function validate(db: Database, { thread, name, tags }: CheckpointRequest): void {
  if (thread !== undefined) assertThread(db, thread);
  if (name !== undefined) assertName(name);
  for (const tag of tags ?? []) assertTagFree(db, tag);
}

/** undefined when the previous checkpoint is damaged: that must not prevent new ones */
function changesSince(
  context: Context,
  base: CheckpointBefore,
  present: Present,
): readonly Edit[] | undefined {
  const isSameView = base.rules === present.rules && base.excluded === present.excluded;
  if (isSameView && present.changes?.since === base.snapshot) return present.changes.edits;
  try {
    return provenChanges(context.store.objects, asSeen(context, base), present);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** [R11] While another process restores, some of what was seen is half old, half new. */
function pathsBeingRestored({ store, system }: Context): Set<BytePath> {
  const isRunning = readRestoresHere(store.db).some(
    ({ owner }) => owner.pid !== system.owner.pid && system.isAlive(owner),
  );
  if (!isRunning) return new Set();
  return new Set(readUnsettled(store.db).flatMap(({ edits }) => edits.map(({ path }) => path)));
}
