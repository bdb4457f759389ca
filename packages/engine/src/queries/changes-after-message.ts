/** Did anything change after a message? The answer is `hasChanges` of its checkpoint. */
import { checkpointAt, headCheckpoint } from "../history/checkpoints.ts";
import { endOfMessage } from "../history/messages.ts";
import { ownedChanges, withUnrecorded } from "../history/ownership.ts";
import { attributeChanges } from "../history/attribution.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { momentOf } from "../capture/moment.ts";
import { provenChanges, type RuledSnapshot } from "../capture/proven-changes.ts";
import type { Present } from "../capture/look.ts";
import { assertRootThere } from "../scan/root.ts";

/** The checkpoints, those of messages with `hasChanges` filled in. */
export function withChanges(context: Context, checkpoints: readonly Checkpoint[]): Checkpoint[] {
  assertRootThere(context.workingCopy.root);
  let present: Present | undefined;
  const look = () => (present ??= lookNow(context));
  return checkpoints.map((checkpoint) =>
    checkpoint.kind === "message" && checkpoint.thread !== null && checkpoint.origin === null
      ? { ...checkpoint, hasChanges: hasChanges(context, { ...checkpoint, thread: checkpoint.thread }, look) }
      : checkpoint,
  );
}

type OfThread = Checkpoint & { readonly thread: ThreadId };

/** Compared with the thread's next message, with the moment before it was rolled back, or with the disk. */
function hasChanges(context: Context, checkpoint: OfThread, look: () => Present): boolean {
  const { db } = context.store;
  const until = endOfMessage(db, checkpoint.thread, checkpoint.seq);
  const end = until === undefined ? undefined : checkpointAt(db, until);
  if (end !== undefined) {
    if (end.snapshot === checkpoint.snapshot) return false;
    return isOwn(context, checkpoint, { to: asSeen(context, end), until: end.seq });
  }
  return isOwn(context, checkpoint, { to: look(), until: undefined });
}

function isOwn(
  context: Context,
  { thread, seq, ...checkpoint }: OfThread,
  { to, until }: { to: RuledSnapshot | Present; until: number | undefined },
): boolean {
  const { db, objects } = context.store;
  const from = asSeen(context, { ...checkpoint, seq });
  const source = "objects" in to ? to.objects : objects;
  const edits = provenChanges(source, from, to);
  if (edits.length === 0) return false;
  const history = ownedChanges(db, thread, { since: seq, ...(until === undefined ? {} : { until }) });
  const newest = headCheckpoint(db);
  if (until === undefined && newest !== undefined) {
    const changes = provenChanges(source, asSeen(context, newest), to);
    withUnrecorded(db, thread, history, attributeChanges(db, changes, momentOf(context)));
  }
  return edits.some(({ path }) => history.get(path)?.some(({ own }) => own) ?? true);
}
