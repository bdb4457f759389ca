/** A row's name, note or tags. */
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import type { HistoryRow } from "../data/history.ts";
import { Field, FormDialog } from "../parts/form-dialog.tsx";
import { titleOf } from "../timeline/row-text.ts";
import { tagsOf } from "./checkpoint-dialog.tsx";

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
    <FormDialog
      title={`${WORDS[field]} of “${titleOf(row)}”`}
      problem={problem}
      button={
        <>
          Save <kbd>⏎</kbd>
        </>
      }
      onClose={onClose}
      onSend={() => void save()}
    >
      <Field
        words={WORDS[field]}
        {...(field === "tags" && { hint: "separated by commas" })}
        value={text}
        onChange={setText}
        isFirst
      />
    </FormDialog>
  );
}
