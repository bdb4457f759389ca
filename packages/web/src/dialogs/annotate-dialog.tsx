/** A row's name, note or tags. */
import { Dialog, titleOf, useBelay, visible, type HistoryRow } from "@belay/react";
import { useState, type ReactNode } from "react";
import { Field, tagsOf } from "./checkpoint-dialog.tsx";

const WORDS = { name: "Name", note: "Note", tags: "Tags" } as const;

/** Edits one field; Enter saves, Esc leaves the old text. */
export function AnnotateDialog(props: {
  readonly row: HistoryRow;
  readonly field: "name" | "note" | "tags";
  onClose(): void;
  onSaved(): void;
}): ReactNode {
  const { row, field, onClose } = props;
  const { client, workspace } = useBelay();
  const [text, setText] = useState(field === "tags" ? row.tags.join(", ") : (row[field] ?? ""));
  const [problem, setProblem] = useState<string>();
  const save = async () => {
    const body =
      field === "tags"
        ? { tags: tagsOf(text) }
        : field === "note"
          ? { annotation: text.trim() }
          : { name: text.trim() };
    try {
      await client.call("PUT /api/checkpoints/:cid", { params: { cid: row.id }, query: { workspace }, body });
      props.onSaved();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <Dialog
      title={`${WORDS[field]} of “${titleOf(row)}”`}
      isSmall
      onClose={onClose}
      onConfirm={() => void save()}
    >
      <form
        className="b-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          words={WORDS[field]}
          {...(field === "tags" && { hint: "separated by commas" })}
          value={text}
          onChange={setText}
          isFirst
        />
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
            Save <kbd>⏎</kbd>
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
