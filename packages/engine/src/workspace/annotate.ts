/** Names, notes and tags of checkpoints: each change has its row in the log and its event. */
import { noteAnnotations } from "../history/annotation-clock.ts";
import { removeTag } from "../history/annotations.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { resolveState } from "../history/references.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { CheckpointRef } from "../model/ids.ts";
import type { Runner } from "./runner.ts";

/** Changes what people wrote on a checkpoint, and returns it as it is then. */
export function annotate(
  runner: Runner,
  ref: CheckpointRef,
  change: (checkpoint: Checkpoint) => void,
): Checkpoint {
  return changing(runner, () => {
    const checkpoint = resolveState(runner.context, ref);
    change(checkpoint);
    runner.log("annotate", { checkpoint: checkpoint.id });
    return checkpoint;
  });
}

/** Removes a tag from the checkpoint that has it, and returns that checkpoint. */
export function untag(runner: Runner, tag: string): Checkpoint {
  return changing(runner, () => {
    const checkpoint = removeTag(runner.db, tag);
    runner.log("annotate", { untag: tag });
    return checkpoint;
  });
}

/** `change` returns the checkpoint as it was. */
function changing({ db, context, events }: Runner, change: () => Checkpoint): Checkpoint {
  const changed = db.transaction(() => {
    const before = change();
    const { id, seq, thread } = before;
    const at = context.system.now();
    appendEvent(db, { type: "checkpoint_updated", thread, at, data: { checkpoint: id } });
    const after = checkpointAt(db, seq)!;
    noteAnnotations(db, { before, after }, at);
    return after;
  });
  events.wake();
  return changed;
}
