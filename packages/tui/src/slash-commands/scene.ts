/** What every slash command works with: the chat's context, the workspace of its thread, and how it answers. */
import type { BelayClient } from "@belay/protocol/client";
import { COMMANDS } from "../words.ts";

/** How a command ended. The chat shows the message, if there is one. */
export interface CommandResult {
  readonly success: boolean;
  readonly message: string;
  /** The contract's code of a refusal, such as `CONFIRMATION_REQUIRED`. */
  readonly code?: string;
}

/** A command under way. */
export interface CommandScene {
  readonly client: BelayClient;
  readonly thread: string;
  /** The command's name as it was typed, without the slash. */
  readonly name: string;
  write(text: string): void;
  readonly ask: ((question: string) => Promise<string>) | null;
  openScreen?: ((screen: "menu" | "timeline") => Promise<void>) | undefined;
  /** The workspace of the thread, looked up on first use. */
  workspace(): Promise<string>;
}

/** Looks up the workspace of a thread once. */
export function workspaceOfThread({
  client,
  thread,
}: Pick<CommandScene, "client" | "thread">): () => Promise<string> {
  let found: Promise<string> | undefined;
  return () =>
    (found ??= client
      .call("GET /api/threads/:id", { params: { id: thread } })
      .then((answer) => answer.thread.workspace));
}

/** The answer of a slash command that did what it was asked. */
export function succeeded(message = ""): CommandResult {
  return { success: true, message };
}

/** The answer of a slash command that did not. */
export function failed(message: string): CommandResult {
  return { success: false, message };
}

/** The answer to a slash command that was typed wrongly. */
export function misused({ name }: CommandScene, operands: string): CommandResult {
  return failed(COMMANDS.usage(`/${name}${operands === "" ? "" : ` ${operands}`}`));
}

/** Asks a question whose answers are single letters; anything else, Enter included, is no. */
export async function askLetter(scene: CommandScene, question: string, letters: string): Promise<string> {
  const answer = (await scene.ask!(question)).trim().toLowerCase();
  const letter = answer === "yes" ? "y" : answer;
  return letter.length === 1 && letters.includes(letter) ? letter : "n";
}

/** The answer where a question is due and there is no terminal to ask on. */
export function unasked(question: string): CommandResult {
  return { ...failed(COMMANDS.confirmationRequired(question)), code: "CONFIRMATION_REQUIRED" };
}
