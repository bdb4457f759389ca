/**
 * Asks before files go back to how they were before a message. Below a provider with a workspace it is the whole
 * preview, with choices; with plain data it says how many files, when, and which.
 */
import type { ReactNode } from "react";
import { useBelayIfAny } from "../data/belay.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { PathName } from "../parts/icon.tsx";
import { useToast } from "../parts/toasts.tsx";
import { useGoBack } from "../plans/going-back.tsx";
import { PlanDialog } from "../plans/plan-dialog.tsx";
import { planResult } from "../plans/plan-result.ts";
import type { PlanRequest } from "../plans/request.ts";
import type { Scope } from "../plans/use-plan.ts";
import { dayAndClock, quantity, quoted, visible, WORDS } from "../words.ts";
import { restoreResult } from "./belay-calls.ts";
import type { Checkpoint, RestoreResult } from "./conversation-calls.ts";

/** What was restored: files, the conversation, or both. */
export interface Restored extends RestoreResult {
  readonly scope: Scope;
}

/** The checkpoint, and what happens then. */
export interface RestoreDialogProps {
  readonly checkpoint: Checkpoint;
  /** The host restores, for example with `restore(messageId)` of `useCheckpoints`: nothing can be left out then. */
  onConfirm?(): void;
  /** The dialog restores what was chosen, says so with Undo, and calls back. */
  onRestored?(restored: Restored): void;
  onCancel(): void;
}

/** The dialog that restores a checkpoint; mounted it is open. */
export function RestoreDialog(props: RestoreDialogProps): ReactNode {
  const belay = useBelayIfAny();
  return belay === undefined ? <Question {...props} /> : <Preview {...props} />;
}

function Preview({ checkpoint, onConfirm, onRestored, onCancel }: RestoreDialogProps): ReactNode {
  const toast = useToast();
  const goBack = useGoBack();
  const request: PlanRequest = {
    kind: "restore",
    target: checkpoint.id,
    name: `before ${quoted(visible(checkpoint.description || "this message"))}`,
    at: checkpoint.createdAt,
    ...(checkpoint.thread && { thread: checkpoint.thread }),
  };
  return (
    <PlanDialog
      request={request}
      onClose={onCancel}
      {...(onRestored === undefined && onConfirm !== undefined && { onConfirm })}
      onDone={(outcome, made, scope) => {
        toast(planResult(request, { outcome, made, plan: goBack }));
        onRestored?.({ ...restoreResult(outcome), scope });
      }}
    />
  );
}

const SHOWN = 5;

/** The reference's dialog, for hosts without our server. */
function Question({ checkpoint, onConfirm, onCancel }: RestoreDialogProps): ReactNode {
  const { files, fileCount, createdAt } = checkpoint;
  const count = files?.length ?? fileCount;
  return (
    <Dialog
      title="Restore checkpoint?"
      about={`This takes ${quantity(count, "file")} back to how ${count === 1 ? "it was" : "they were"} ${dayAndClock(createdAt)}. ${WORDS.saved}`}
      isDangerous
      isSmall
      onClose={onCancel}
      {...(onConfirm !== undefined && { onConfirm })}
    >
      {files === undefined ? null : (
        <ul className="b-plain-list" aria-label="Files to restore">
          {files.slice(0, SHOWN).map(({ path }) => (
            <li key={path}>
              <PathName path={path} />
            </li>
          ))}
          {files.length > SHOWN ? <li className="b-muted">{WORDS.more(files.length - SHOWN)}</li> : null}
        </ul>
      )}
      <footer className="b-dialog-foot">
        <span className="b-grow" />
        <button type="button" className="b-btn" data-first onClick={onCancel}>
          Cancel <kbd>Esc</kbd>
        </button>
        <button type="button" className="b-btn b-danger" onClick={() => onConfirm?.()}>
          Restore
        </button>
      </footer>
    </Dialog>
  );
}
