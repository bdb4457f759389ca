/** `forget --thread` and `forget --message`: text, not captured content. */
import type { ForgetWordsReport, Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { count } from "@belay/tui/text";

interface Words {
  readonly kind: "thread" | "message";
  readonly ref: string;
}

type WordsCall = Pick<Call, "json" | "output"> & {
  readonly operands: readonly string[];
  readonly options: { thread?: string; message?: string; yes?: boolean; "dry-run"?: boolean };
};

/** What text to forget; undefined when content is meant. Throws unless exactly one target is named. */
export function findWords({ operands, options }: WordsCall): Words | undefined {
  const { thread, message } = options;
  const given = [operands[0], thread, message].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw usageError(
      given.length === 0 ? "Nothing to forget was named." : "Only one thing can be forgotten at a time.",
      "Name a path or a checkpoint, or give --thread or --message.",
    );
  if (thread !== undefined) return { kind: "thread", ref: thread };
  return message === undefined ? undefined : { kind: "message", ref: message };
}

/** Asks, forgets the text and reports it. */
export async function forgetWords(call: WordsCall, workspace: Workspace, words: Words): Promise<number> {
  const forget = (options: { dryRun: boolean }) =>
    words.kind === "thread"
      ? workspace.threads.forget(words.ref, options)
      : workspace.threads.forgetMessage(words.ref, options);
  const preview = await forget({ dryRun: true });
  if (call.options["dry-run"] === true) return report(call, preview);
  const question = `Permanently purge the text of ${wordsText(preview)}? This cannot be undone.`;
  if (call.options.yes !== true && !(await confirm(call, question, { dryRun: true }))) return declined(call);
  return report(call, await forget({ dryRun: false }));
}

function report({ json, output }: Pick<Call, "json" | "output">, done: ForgetWordsReport): number {
  if (json) output.json(done);
  else if (done.dryRun) output.print(`Would purge the text of ${wordsText(done)}.`);
  else
    output.print(
      `Purged the text of ${wordsText(done)}. Files and checkpoints are untouched, and so is the agent's own transcript.`,
    );
  return EXIT.done;
}

function wordsText({ messages, steps, checkpoints }: ForgetWordsReport): string {
  return `${count(messages, "message")}, ${count(steps, "step")} and ${count(checkpoints, "description")}`;
}
