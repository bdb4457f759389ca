/** A dialog of AgentSmithy is a thread of Belay. */
import { EngineError, type Checkpoint, type ThreadId } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { begunThread, findCheckpoint, openThread } from "../frame/references.ts";

/** The agent under which dialogs are kept, here and over HTTP. */
export const AGENT = "dialogs";

/** The dialog of a tracker that names none. */
const DEFAULT_DIALOG = "default";

/** The thread of a dialog, without a checkpoint if it is new: its first one is the approved state. */
export function dialogThread(workspace: SyncWorkspace, dialog: string | null): ThreadId {
  return openThread(workspace, AGENT, dialog ?? DEFAULT_DIALOG);
}

/** The same, with an initial checkpoint if it is new: for calls that need an approved state. */
export function begunDialog(workspace: SyncWorkspace, dialog: string | null): ThreadId {
  return begunThread(workspace, AGENT, dialog ?? DEFAULT_DIALOG);
}

/** A checkpoint of this dialog, or of none: other dialogs' are not visible in it. */
export function checkpointIn(workspace: SyncWorkspace, thread: ThreadId, ref: string): Checkpoint {
  const checkpoint = findCheckpoint(workspace, ref);
  if (checkpoint.thread === thread || checkpoint.thread === null) return checkpoint;
  throw new EngineError(
    "CHECKPOINT_NOT_FOUND",
    `There is no checkpoint "${ref}" in this dialog. Nothing was changed.`,
    { checkpoint: ref },
  );
}
