/** The question of the auto-fix loop, in the words that the terminal has: what is left, and the five answers. */
import { ClientError } from "@belay/protocol/client";
import { Dialog, PlanDialog, useBelay, useGoBack, useToast, visible, type Fix } from "@belay/react";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { comparePath, go } from "../address.ts";
import { lettersAct } from "../preferences.ts";
import { reasonOf } from "./fix-words.ts";

type Answer = "a" | "r" | "v" | "m" | "c";

const ANSWERS: readonly (readonly [Answer, string])[] = [
  ["a", "Accept anyway (ignore issues and continue)"],
  ["r", "Reject all changes (rollback to snapshot before this agent)"],
  ["v", "View diff (compare current vs snapshot)"],
  ["m", "Manual fix (open editor, I'll fix it)"],
  ["c", "Continue trying (1 more attempt)"],
];

const DONE = {
  a: "Accepted: the issues that are left are ignored.",
  r: "Rejected: the files are as they were before this agent.",
  m: "It is yours to fix. The loop is over.",
} as const;

/** The dialog in which the user decides a fix loop that was given up. */
export function EscalationDialog({ fix, onClose }: { readonly fix: Fix; onClose(): void }): ReactNode {
  const { workspace } = useBelay();
  const [isRejecting, setRejecting] = useState(false);
  const { send, isBusy, problem } = useAnswer(fix, onClose);
  const compare = (file?: string) =>
    go(
      `${comparePath(workspace, fix.before ?? "disk", "disk")}${file ? `?file=${encodeURIComponent(file)}` : ""}`,
    );
  const take = (answer: Answer) => {
    if (isBusy) return;
    if (answer === "v") compare();
    // what it would do to the files is shown first
    else if (answer === "r") setRejecting(true);
    else void send(answer);
  };
  const onKey = ({ key, ctrlKey, metaKey, repeat }: KeyboardEvent) => {
    const answer = ANSWERS.find(([letter]) => letter === key);
    if (answer !== undefined && lettersAct() && !ctrlKey && !metaKey && !repeat) take(answer[0]);
  };
  if (isRejecting)
    return (
      <PlanDialog
        request={{ kind: "restore", target: fix.before!, name: "before this agent", takesAll: true }}
        onClose={() => setRejecting(false)}
        onDone={onClose}
        onConfirm={() => void send("r").then(() => setRejecting(false))}
      />
    );
  return (
    <Dialog
      title={`Auto-fix ${reasonOf(fix)}`}
      about={`Issues remaining (${fix.issues.length}). Snapshots created: ${fix.snapshots} (available for rollback)`}
      isSmall
      isBusy={isBusy}
      onClose={onClose}
    >
      <div className="b-form b-escalation" onKeyDown={onKey}>
        <Issues fix={fix} onPlace={compare} />
        {problem === undefined ? null : (
          <p className="b-bad" role="alert">
            {visible(problem)}
          </p>
        )}
        <div className="b-answers" role="group" aria-label="Options">
          {ANSWERS.map(([letter, words]) => (
            <button
              key={letter}
              type="button"
              className="b-btn"
              aria-disabled={isBusy}
              data-first={letter === "v" || undefined}
              onClick={() => take(letter)}
            >
              <kbd aria-hidden="true">{letter}</kbd>
              {words}
            </button>
          ))}
        </div>
        <p className="b-small b-muted" role="status">
          {isBusy ? "Working…" : "Esc leaves it for later: the loop waits."}
        </p>
      </div>
    </Dialog>
  );
}

function Issues({ fix, onPlace }: { readonly fix: Fix; onPlace(file: string): void }): ReactNode {
  return (
    <ol className="b-issues">
      {fix.issues.map(({ severity, message, file, line }, at) => (
        <li key={at}>
          <span className={`b-sev b-${severity}`}>{severity}</span> <span>{visible(message)}</span>{" "}
          {file === "" ? null : (
            <button type="button" className="b-plain b-place" onClick={() => onPlace(file)}>
              ({visible(file)}:{line})
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

function useAnswer(fix: Fix, onClose: () => void) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const undo = useGoBack();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const send = async (choice: "a" | "r" | "m" | "c"): Promise<void> => {
    setBusy(true);
    try {
      const answer = await client.call("POST /api/fixes/:id/answer", {
        params: { id: fix.id },
        query: { workspace },
        body: { choice },
      });
      onClose();
      toast({
        text: choice === "c" ? triedWords(answer.fix) : DONE[choice],
        ...(choice === "r" && { action: { words: "Undo", run: () => undo({ kind: "undo", name: "" }) } }),
      });
    } catch (error) {
      setBusy(false);
      const hint = error instanceof ClientError ? ` ${error.hint}` : "";
      const line = choice === "c" ? ` In a terminal: belay fix answer ${fix.id.slice(0, 8)} c` : "";
      setProblem(`${(error as Error).message}${hint}${line}`);
    }
  };
  return { send, isBusy, problem };
}

function triedWords({ state, issues }: Fix): string {
  return state === "clean"
    ? "One more attempt: no issue is left."
    : `One more attempt: ${issues.length} ${issues.length === 1 ? "issue is" : "issues are"} left.`;
}
