/** Purges a file's content from every checkpoint. The one thing that cannot be undone, so a word has to be typed. */
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { Field, FormDialog } from "../parts/form-dialog.tsx";
import { useToast } from "../parts/toasts.tsx";
import { quantity, visible } from "../words.ts";

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
    <FormDialog
      title="Forget a file"
      about={
        found === undefined
          ? "Its content is removed from all checkpoints. The file on disk stays as it is."
          : `Its content is removed from ${quantity(found, "checkpoint")} at once. The file on disk stays as it is. Nobody, Belay included, can bring the content back.`
      }
      isDangerous
      problem={problem}
      button={found === undefined ? "Look" : `Forget in ${quantity(found, "checkpoint")}`}
      look={found === undefined ? "b-btn" : "b-btn b-danger"}
      canSend={found === undefined ? path !== "" : word === WORD}
      onClose={onClose}
      onSend={submit}
    >
      <Field words="Path" value={path} isFirst onChange={changePath} />
      {found === undefined ? null : <Field words={`Type ${WORD}`} value={word} onChange={setWord} />}
    </FormDialog>
  );
}
