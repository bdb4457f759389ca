/** Installs or removes the hooks of one agent: first the choice of settings, then a button of its own. */
import { FormDialog, quantity, useBelay, useLoaded, useToast, visible } from "@belay/react";
import type { CallOutput } from "@belay/protocol";
import { useState, type ReactNode } from "react";

/** What is asked, and of which agent. */
export interface HooksAsked {
  readonly action: "install" | "remove";
  readonly agent: string;
  readonly title: string;
}

/** What the dialog does. */
interface HooksDialogProps {
  readonly asked: HooksAsked;
  onClose(): void;
  onChanged(): void;
}

/** The dialog that asks before hooks come or go. */
export function HooksDialog(props: HooksDialogProps): ReactNode {
  const { action, title } = props.asked;
  const { files, isBusy, problem, send } = useHooks(props);
  const isInstall = action === "install";
  return (
    <FormDialog
      title={isInstall ? `Add hooks to ${visible(title)}?` : `Remove the hooks of ${visible(title)}?`}
      about={
        isInstall
          ? "With them every prompt and tool call is captured. Only Belay’s own entries are added; the rest of the settings stays as it is."
          : "Its work is no longer captured automatically. Belay’s own entries are taken out; the rest of the settings, your files and all checkpoints stay."
      }
      isBusy={isBusy}
      problem={problem}
      look={isInstall ? "b-btn b-main" : "b-btn b-danger"}
      canSend={send !== undefined}
      button={isInstall ? (files === undefined ? "Add hooks" : buttonWords(files.length)) : "Remove hooks"}
      onClose={props.onClose}
      onSend={() => send?.()}
    >
      {isInstall ? <SettingsFiles files={files} /> : null}
    </FormDialog>
  );
}

/** What adding the hooks would change, and how it is done. */
function useHooks({ asked, onClose, onChanged }: HooksDialogProps) {
  const { action, agent, title } = asked;
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const call = (body: { action: HooksAsked["action"]; dryRun?: boolean }) =>
    client.call("POST /api/agents/:agent/hooks", { params: { agent }, query: { workspace }, body });
  const preview = useLoaded(action === "install" ? `hooks ${workspace} ${agent} !` : null, () =>
    call({ action, dryRun: true }),
  );
  const files = preview.value?.files;
  const send = () => {
    setBusy(true);
    setProblem(undefined);
    call({ action })
      .then((report) => {
        refuse(report);
        toast({ text: doneWords(report, { action, title }) });
        onChanged();
        onClose();
      })
      .catch((error: unknown) => {
        setBusy(false);
        setProblem((error as Error).message);
      });
  };
  const canSend = !isBusy && (action === "remove" || files !== undefined);
  return {
    files,
    isBusy,
    problem: problem ?? preview.error?.message,
    /** Undefined while it cannot be done. */
    send: canSend ? send : undefined,
  };
}

type Report = CallOutput<"POST /api/agents/:agent/hooks">;

/** Settings that were left alone are why nothing was done. */
function refuse({ files }: Report): void {
  const refused = files.filter(({ outcome }) => outcome === "refused");
  if (refused.length === 0) return;
  throw new Error(refused.map(({ path, reason }) => `${path} was left alone: ${reason ?? ""}`).join(" "));
}

function doneWords(
  { files, advice }: Report,
  { action, title }: { readonly action: HooksAsked["action"]; readonly title: string },
): string {
  const kept = files.flatMap(({ path, usedBy }) =>
    usedBy === undefined ? [] : [`${path} keeps them for ${usedBy.join(", ")}; here they do nothing.`],
  );
  const what = action === "install" ? "are in place" : "were taken out";
  return [`The hooks of ${title} ${what}.`, ...kept, ...advice].join(" ");
}

function SettingsFiles({ files }: { readonly files: Report["files"] | undefined }): ReactNode {
  if (files === undefined) return <p className="b-muted">Looking at its settings…</p>;
  if (files.length === 0) return <p className="b-muted">Its settings have them already.</p>;
  return (
    <ul className="b-plainlist" aria-label="Settings that will be changed">
      {files.map(({ path, outcome }) => (
        <li key={path} className="b-mono">
          {visible(path)} <span className="b-muted">{outcome === "create" ? "(new)" : ""}</span>
        </li>
      ))}
    </ul>
  );
}

function buttonWords(files: number): string {
  return files === 0 ? "Write them again" : `Add hooks to ${quantity(files, "file")}`;
}
