/** Hooks of one agent put in place or taken out: first which settings, then by a press of their own. */
import { FormDialog, quantity, useBelay, useLoaded, useToast, visible } from "@belay/react";
import { useState, type ReactNode } from "react";

/** What is asked, and of which agent. */
export interface HooksAsked {
  readonly action: "install" | "remove";
  readonly agent: string;
  readonly title: string;
}

/** The dialog. */
export function HooksDialog(props: {
  readonly asked: HooksAsked;
  onClose(): void;
  onChanged(): void;
}): ReactNode {
  const { asked, onClose, onChanged } = props;
  const { action, agent, title } = asked;
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const call = (body: { action: HooksAsked["action"]; dryRun?: boolean }) =>
    client.call("POST /api/agents/:agent/hooks", { params: { agent }, query: { workspace }, body });
  const isInstall = action === "install";
  const preview = useLoaded(isInstall ? `hooks ${workspace} ${agent} !` : null, () =>
    call({ action, dryRun: true }),
  );
  const files = preview.value?.files;
  const canSend = !isBusy && (!isInstall || files !== undefined);
  const send = () => {
    if (!canSend) return;
    setBusy(true);
    setProblem(undefined);
    call({ action }).then(
      (report) => {
        const refused = report.files.filter(({ outcome }) => outcome === "refused");
        if (refused.length > 0) {
          setBusy(false);
          setProblem(refused.map(({ path, reason }) => `${path} was left alone: ${reason ?? ""}`).join(" "));
          return;
        }
        const kept = report.files.filter(({ usedBy }) => usedBy !== undefined);
        toast({
          text: [
            isInstall ? `The hooks of ${title} are in place.` : `The hooks of ${title} were taken out.`,
            ...kept.map(
              ({ path, usedBy = [] }) => `${path} keeps them for ${usedBy.join(", ")}; here they do nothing.`,
            ),
            ...report.advice,
          ].join(" "),
        });
        onChanged();
        onClose();
      },
      (error: unknown) => {
        setBusy(false);
        setProblem((error as Error).message);
      },
    );
  };
  return (
    <FormDialog
      title={isInstall ? `Add hooks to ${visible(title)}?` : `Remove the hooks of ${visible(title)}?`}
      about={
        isInstall
          ? "With them every prompt and tool call is captured. Only Belay’s own entries are added; the rest of the settings stays as it is."
          : "Its work is no longer captured by itself. Belay’s own entries are taken out; the rest of the settings, your files and all checkpoints stay."
      }
      isBusy={isBusy}
      problem={problem ?? preview.error?.message}
      look={isInstall ? "b-btn b-main" : "b-btn b-danger"}
      canSend={canSend}
      button={isInstall ? (files === undefined ? "Add hooks" : buttonWords(files.length)) : "Remove hooks"}
      onClose={onClose}
      onSend={send}
    >
      {!isInstall ? null : files === undefined ? (
        <p className="b-muted">Looking at its settings…</p>
      ) : files.length === 0 ? (
        <p className="b-muted">Its settings have them already.</p>
      ) : (
        <ul className="b-plainlist" aria-label="Settings that will be changed">
          {files.map(({ path, outcome }) => (
            <li key={path} className="b-mono">
              {visible(path)} <span className="b-muted">{outcome === "create" ? "(new)" : ""}</span>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

function buttonWords(files: number): string {
  return files === 0 ? "Write them again" : `Add hooks to ${quantity(files, "file")}`;
}
