/** Keeps the present state under a name. */
import { Dialog, quantity, useBelay, useToast, visible } from "@belay/react";
import { useState, type ReactNode } from "react";

/** The dialog; the name may stay empty. */
export function CheckpointDialog({ onClose }: { onClose(): void }): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const [tags, setTags] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const keep = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { checkpoint } = await client.call("POST /api/checkpoints", {
        query: { workspace },
        body: {
          ...(name.trim() && { name: name.trim() }),
          ...(note.trim() && { annotation: note.trim() }),
          tags: tagsOf(tags),
        },
      });
      toast({
        text: `Kept${name.trim() === "" ? "" : ` “${visible(name.trim())}”`}: ${quantity(checkpoint.files, "file")}.`,
      });
      onClose();
    } catch (error) {
      setBusy(false);
      setProblem((error as Error).message);
    }
  };
  return (
    <Dialog
      title="Keep this state"
      about="The files as they are now. You can come back to them at any time."
      isSmall
      isBusy={isBusy}
      onClose={onClose}
      onConfirm={() => void keep()}
    >
      <form
        className="b-form"
        onSubmit={(event) => {
          event.preventDefault();
          void keep();
        }}
      >
        <Field words="Name" hint="may stay empty" value={name} onChange={setName} isFirst />
        <Field words="Note" value={note} onChange={setNote} />
        <Field words="Tags" hint="separated by commas" value={tags} onChange={setTags} />
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
          <button type="submit" className="b-btn b-main">
            Keep this state <kbd>⏎</kbd>
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Words between commas, each once. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");
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
