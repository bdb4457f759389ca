/** The preview of what brings other files: a switch or a merge. The button says how many change. */
import { Dialog, Icon, PlannedChanges, visible, WORDS, type shownPlan } from "@belay/react";
import type { ReactNode } from "react";

/** What is shown, and what the one button does. */
export interface ChangeDialogProps {
  readonly title: string;
  /** Undefined while it is being made. */
  readonly plan: ReturnType<typeof shownPlan> | null | undefined;
  readonly about: ReactNode;
  /** What to know before, most serious first. */
  readonly notes: readonly string[];
  readonly problem: string | undefined;
  readonly words: string;
  readonly isApplying: boolean;
  /** Choices above the list. */
  readonly children?: ReactNode;
  onClose(): void;
  onConfirm(): void;
}

/** The dialog that precedes a switch or a merge: what would change, and the button that does it. */
export function ChangeDialog(props: ChangeDialogProps): ReactNode {
  const { plan, problem, notes, isApplying, onClose, onConfirm } = props;
  const isDangerous = (plan?.files ?? []).some(({ change }) => change === "delete");
  const canApply = plan !== undefined && !isApplying;
  const act = () => canApply && onConfirm();
  return (
    <Dialog
      title={props.title}
      about={plan === undefined && problem === undefined ? "Looking at the files…" : props.about}
      isDangerous={isDangerous}
      isSmall={(plan?.files.length ?? 0) === 0}
      isBusy={isApplying}
      onClose={onClose}
      onConfirm={act}
    >
      <div className="b-dialog-choices">
        {props.children}
        <div role="status">
          {problem === undefined ? null : <Note look="b-bad" words={problem} />}
          {notes.slice(0, 2).map((words) => (
            <Note key={words} look="b-warn" words={words} />
          ))}
        </div>
      </div>
      {plan && plan.files.length > 0 ? <PlannedChanges plan={plan} createdWords="Will be added" /> : null}
      <footer className="b-dialog-foot">
        <span className="b-row b-grow">
          <Icon name="shield" />
          <span className="b-small b-muted">{isApplying ? "Working…" : WORDS.saved}</span>
        </span>
        <button type="button" className="b-btn" data-first onClick={onClose} disabled={isApplying}>
          Cancel <kbd>Esc</kbd>
        </button>
        <button
          type="button"
          className={isDangerous ? "b-btn b-danger" : "b-btn b-main"}
          aria-disabled={!canApply}
          title={canApply ? undefined : "The plan is being made."}
          onClick={act}
        >
          {props.words} <kbd>Ctrl ⏎</kbd>
        </button>
      </footer>
    </Dialog>
  );
}

function Note({ look, words }: { readonly look: string; readonly words: string }): ReactNode {
  return (
    <div className={`b-note ${look}`}>
      <Icon name="warn" />
      <div className="b-grow">{visible(words)}</div>
    </div>
  );
}
