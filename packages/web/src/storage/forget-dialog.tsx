/** Purges a file's content from every checkpoint. The one thing that cannot be undone, so a word has to be typed. */
import { Dialog, quantity, useBelay, useToast, visible } from "@belay/react";
import { useState, type ReactNode } from "react";
import { Field } from "../dialogs/checkpoint-dialog.tsx";

const WORD = "forget";

/** What was typed, what was found, and the two steps. */
function useForget(onDone: () => void) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [path, setPath] = useState("");
  const [word, setWord] = useState("");
  const [found, setFound] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const query = { workspace };
  const look = async () => {
    const { checkpointsTotal } = await client.call("POST /api/forget", {
      query,
      body: { path, dryRun: true },
    });
    setFound(checkpointsTotal);
    setProblem(undefined);
  };
  const forget = async () => {
    if (word !== WORD) return;
    const { checkpointsTotal } = await client.call("POST /api/forget", {
      query,
      body: { path, confirm: WORD },
    });
    toast({ text: `Forgot ${visible(path)} in ${quantity(checkpointsTotal, "checkpoint")}.` });
    onDone();
  };
  const submit = () =>
    void (found === undefined ? look() : forget()).catch((error: unknown) =>
      setProblem((error as Error).message),
    );
  const changePath = (next: string) => {
    setPath(next);
    setFound(undefined);
  };
  return { path, word, found, problem, setWord, changePath, submit };
}

/** Asks for the path, shows what would go, wants the word. */
export function ForgetDialog({ onClose, onDone }: { onClose(): void; onDone(): void }): ReactNode {
  const { path, word, found, problem, setWord, changePath, submit } = useForget(onDone);
  return (
    <Dialog
      title="Forget a file"
      about={
        found === undefined
          ? "Its content is removed from all checkpoints. The file on disk stays as it is."
          : `Its content is removed from ${quantity(found, "checkpoint")} at once. The file on disk stays as it is. No program, Belay included, can bring the content back.`
      }
      isSmall
      isDangerous
      onClose={onClose}
    >
      <form
        className="b-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field words="Path" value={path} isFirst onChange={changePath} />
        {found === undefined ? null : <Field words={`Type ${WORD}`} value={word} onChange={setWord} />}
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
          <button
            type="submit"
            className={found === undefined ? "b-btn" : "b-btn b-danger"}
            aria-disabled={found === undefined ? path === "" : word !== WORD}
          >
            {found === undefined ? "Look" : `Forget in ${quantity(found, "checkpoint")}`}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
