/** A new branch, by its name: no file is touched. */
import { Field, FormDialog, useBelay, useToast, visible } from "@belay/react";
import { useState, type ReactNode } from "react";
import { go, viewPath } from "../address.ts";

/** The dialog; `from` is where the branch begins, by default the files as they are now. */
export function BranchDialog(props: {
  readonly from?: { readonly checkpoint: string; readonly name: string } | undefined;
  onClose(): void;
}): ReactNode {
  const { from, onClose } = props;
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string>();
  const make = async () => {
    try {
      const { branch } = await client.call("POST /api/branches", {
        query: { workspace },
        body: { name: name.trim(), ...(from && { from: from.checkpoint }) },
      });
      onClose();
      toast({
        text: `The branch ${visible(branch.name)} begins ${from === undefined ? "with the files as they are" : from.name}. No file was changed.`,
        more: { words: "Branches", run: () => go(viewPath(workspace, "branches")) },
      });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <FormDialog
      title={from === undefined ? "New branch" : `Branch ${from.name}`}
      about="A named line of checkpoints that begins there. No file changes before you switch to it."
      problem={problem}
      button={
        <>
          Make the branch <kbd>⏎</kbd>
        </>
      }
      canSend={name.trim() !== ""}
      onClose={onClose}
      onSend={() => name.trim() !== "" && void make()}
    >
      <Field words="Name" value={name} onChange={setName} isFirst />
    </FormDialog>
  );
}
