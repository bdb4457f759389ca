/** A small dialog with fields: Enter sends it, Esc leaves everything as it was. */
import type { ReactNode } from "react";
import { visible } from "../words.ts";
import { Dialog } from "./dialog.tsx";

/** What a form asks and how its one button is called. */
export interface FormDialogProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isBusy?: boolean;
  /** Why it was refused; undefined while nothing went wrong. */
  readonly problem: string | undefined;
  /** The button that acts, with its key. */
  readonly button: ReactNode;
  /** What the button looks like; the main one unless said otherwise. */
  readonly look?: string;
  readonly canSend?: boolean;
  onClose(): void;
  onSend(): void;
  readonly children: ReactNode;
}

/** A dialog around some fields. */
export function FormDialog(props: FormDialogProps): ReactNode {
  const { problem, canSend = true, look = "b-btn b-main", onClose, onSend } = props;
  return (
    <Dialog
      title={props.title}
      {...(props.about !== undefined && { about: props.about })}
      isSmall
      isDangerous={props.isDangerous ?? false}
      isBusy={props.isBusy ?? false}
      onClose={onClose}
      onConfirm={onSend}
    >
      <form
        className="b-form"
        onSubmit={(event) => {
          event.preventDefault();
          onSend();
        }}
      >
        {props.children}
        {problem === undefined ? null : (
          <p className="b-bad" role="alert">
            {visible(problem)}
          </p>
        )}
        <footer className="b-dialog-foot">
          <span className="b-grow" />
          <button type="button" className="b-btn" onClick={onClose}>
            Cancel <kbd>Esc</kbd>
          </button>
          <button type="submit" className={look} aria-disabled={!canSend}>
            {props.button}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** A line of text with its name above. */
export function Field(props: {
  readonly words: string;
  readonly hint?: string;
  readonly value: string;
  readonly isFirst?: boolean;
  onChange(value: string): void;
}): ReactNode {
  return (
    <label className="b-labelled">
      <span>
        {props.words} {props.hint === undefined ? null : <span className="b-faint">{props.hint}</span>}
      </span>
      <input
        className="b-field"
        value={props.value}
        data-first={props.isFirst}
        maxLength={10_000}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </label>
  );
}
