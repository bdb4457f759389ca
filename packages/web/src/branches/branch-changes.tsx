/** A branch gets another name, is deleted, or is brought back. No file changes, and each can be taken back. */
import { Field, FormDialog, useBelay, useToast, visible, type Branch, type Toast } from "@belay/react";
import { useState, type ReactNode } from "react";
import { addressName } from "./address-name.ts";

/** The dialog for another name. */
export function RenameDialog({ branch, onClose }: { readonly branch: Branch; onClose(): void }): ReactNode {
  // signs that a field would obey are not put into one
  const [name, setName] = useState(visible(branch.name) === branch.name ? branch.name : "");
  const { problem, send, change } = useChange(onClose);
  const canSend = name.trim() !== "" && name.trim() !== branch.name;
  const rename = async () => {
    await change(branch.name, { name: name.trim() });
    return { text: `The branch ${visible(branch.name)} is called ${visible(name.trim())} now.` };
  };
  return (
    <FormDialog
      title={`Rename ${visible(branch.name)}`}
      about="No file changes, and its checkpoints stay."
      problem={problem}
      button={
        <>
          Rename <kbd>⏎</kbd>
        </>
      }
      canSend={canSend}
      onClose={onClose}
      onSend={() => canSend && send(rename)}
    >
      <Field words="Name" value={name} onChange={setName} isFirst />
    </FormDialog>
  );
}

/** The question before a branch is deleted. */
export function DeleteDialog({ branch, onClose }: { readonly branch: Branch; onClose(): void }): ReactNode {
  const { problem, send, drop } = useChange(onClose);
  const bringBack = useBringBack();
  const remove = async () => {
    await drop(branch.name);
    return {
      text: `The branch ${visible(branch.name)} was deleted. For 30 days you can bring it back.`,
      action: { words: "Bring back", run: () => bringBack(branch.name) },
    };
  };
  return (
    <FormDialog
      title={`Delete ${visible(branch.name)}?`}
      about="No file changes. For 30 days it can be brought back with everything on it."
      problem={problem}
      look="b-btn b-danger"
      button="Delete the branch"
      onClose={onClose}
      onSend={() => send(remove)}
    >
      {null}
    </FormDialog>
  );
}

/** Brings a deleted branch back and says so. */
export function useBringBack(): (name: string) => void {
  const toast = useToast();
  const { change } = useCalls();
  return (name) =>
    void change(name, { state: "open" }).then(
      () => toast({ text: `The branch ${visible(name)} is back. No file was changed.` }),
      (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
    );
}

/** One change of a branch: the dialog closes when it is done, and stays with the reason where it was refused. */
function useChange(onClose: () => void) {
  const toast = useToast();
  const [problem, setProblem] = useState<string>();
  const send = (work: () => Promise<Toast>) =>
    void work().then(
      (told) => {
        onClose();
        toast(told);
      },
      (error: unknown) => setProblem((error as Error).message),
    );
  return { problem, send, ...useCalls() };
}

function useCalls() {
  const { client, workspace } = useBelay();
  const to = (name: string) => ({ params: { name: addressName(name) }, query: { workspace } });
  return {
    change: (name: string, body: { readonly name?: string; readonly state?: "open" }) =>
      client.call("PATCH /api/branches/:name", { ...to(name), body }),
    drop: (name: string) => client.call("DELETE /api/branches/:name", to(name)),
  };
}
