/** `forget --thread` and `forget --message`: what was said, not what was captured. */
import type { ForgetWordsReport, Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { count } from "../output/quantity.ts";

interface Words {
  readonly kind: "thread" | "message";
  readonly ref: string;
}

type WordsCall = Pick<Call, "json" | "output"> & {
  readonly operands: readonly string[];
  readonly options: { thread?: string; message?: string; yes?: boolean; "dry-run"?: boolean };
};

/** Undefined when content is meant; exactly one target is. */
export function findWords({ operands, options }: WordsCall): Words | undefined {
  const { thread, message } = options;
  const given = [operands[0], thread, message].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw usageError(
      given.length === 0 ? "What is to be forgotten?" : "That is more than one thing to forget.",
      "Name a path or a checkpoint, or give --thread or --message.",
    );
  if (thread !== undefined) return { kind: "thread", ref: thread };
  return message === undefined ? undefined : { kind: "message", ref: message };
}

export async function forgetWords(call: WordsCall, workspace: Workspace, words: Words): Promise<number> {
  const forget = (options: { dryRun: boolean }) =>
    words.kind === "thread"
      ? workspace.threads.forget(words.ref, options)
      : workspace.threads.forgetMessage(words.ref, options);
  const preview = await forget({ dryRun: true });
  if (call.options["dry-run"] === true) return report(call, preview);
  const question = `Purge the words of ${wordsText(preview)} for good? It cannot be undone.`;
  if (call.options.yes !== true && !(await confirm(call, question, { dryRun: true }))) return declined(call);
  return report(call, await forget({ dryRun: false }));
}

function report({ json, output }: Pick<Call, "json" | "output">, done: ForgetWordsReport): number {
  if (json) output.json(done);
  else if (done.dryRun) output.print(`Would purge the words of ${wordsText(done)}.`);
  else
    output.print(
      `Purged the words of ${wordsText(done)}. Files and checkpoints are untouched; the agent's own transcript is not Belay's.`,
    );
  return EXIT.done;
}

function wordsText({ messages, steps, checkpoints }: ForgetWordsReport): string {
  return `${count(messages, "message")}, ${count(steps, "step")} and ${count(checkpoints, "description")}`;
}
