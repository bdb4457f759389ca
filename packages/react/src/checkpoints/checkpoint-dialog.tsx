/** Keeps the present state under a name. */
import type { CallOutput } from "@belay/protocol";
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { Field, FormDialog } from "../parts/form-dialog.tsx";
import { useToast } from "../parts/toasts.tsx";
import { gitWords, quantity, size, visible } from "../words.ts";

/** The dialog that takes a checkpoint; its name may stay empty. */
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
      toast({ text: keptWords(name.trim(), checkpoint) });
      onClose();
    } catch (error) {
      setBusy(false);
      setProblem((error as Error).message);
    }
  };
  return (
    <FormDialog
      title="Keep this state"
      about="The files as they are now. You can come back to them at any time."
      isBusy={isBusy}
      problem={problem}
      button={
        <>
          Keep this state <kbd>⏎</kbd>
        </>
      }
      onClose={onClose}
      onSend={() => void keep()}
    >
      <Field words="Name" hint="may stay empty" value={name} onChange={setName} isFirst />
      <Field words="Note" value={note} onChange={setNote} />
      <Field words="Tags" hint="separated by commas" value={tags} onChange={setTags} />
    </FormDialog>
  );
}

type Taken = CallOutput<"POST /api/checkpoints">["checkpoint"];

/** "Kept “All green”: 4,112 files, 86 MiB; git main 4f2c1a9, 3 staged." */
function keptWords(name: string, { files, bytes, git }: Taken): string {
  const what = `${quantity(files, "file")}, ${size(bytes)}`;
  const where = git === null ? "" : `; git ${gitWords(git)}`;
  return `Kept${name === "" ? "" : ` “${visible(name)}”`}: ${what}${where}.`;
}

/** The tags that were typed: words between commas, each once. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");
}
