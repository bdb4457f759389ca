/** Codex forks a conversation after a turn, through its app server. */
import type { Conversations, ForkRequest, ForkResult } from "./conversations.ts";
import { objectOf, parsePayload, textOf, type Payload } from "../payload.ts";

const DEADLINE_MS = 30_000;

export const codexConversations: Conversations = { fork };

/** `lastTurnId` is included in the fork: it is the turn before the message. */
async function fork(request: ForkRequest): Promise<ForkResult> {
  const { session, previousMessageId, cwd, environment } = request;
  if (previousMessageId === null) return { outcome: "empty", resume: ["codex"] };
  const { withProgram } = await import("./agent-program.ts");
  const command = ["codex", "app-server"];
  try {
    return await withProgram({ command, cwd, environment, deadlineMs: DEADLINE_MS }, async (program) => {
      const ask = (id: number, method: string, params: Payload) =>
        program.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      ask(1, "initialize", { clientInfo: { name: "belay", title: "Belay", version: "0.1.0" } });
      for await (const line of program.lines) {
        const answer = parsePayload(line) ?? {};
        if (answer["error"] !== undefined) throw new Error(errorText(answer));
        if (answer["id"] === 1) {
          program.write(`${JSON.stringify({ jsonrpc: "2.0", method: "initialized" })}\n`);
          ask(2, "thread/fork", { threadId: session, lastTurnId: previousMessageId });
        }
        if (answer["id"] === 2) return forked(objectOf(answer, "result"));
      }
      throw new Error("codex app-server ended without an answer");
    });
  } catch (error) {
    return {
      outcome: "failed",
      reason: `Codex could not fork the conversation: ${(error as Error).message}.`,
    };
  }
}

function forked(result: Payload): ForkResult {
  const session = textOf(objectOf(result, "thread"), "id") ?? textOf(result, "threadId");
  if (session === null) throw new Error("its answer names no new thread");
  return { outcome: "forked", session, resume: ["codex", "resume", session] };
}

function errorText(answer: Payload): string {
  return textOf(objectOf(answer, "error"), "message") ?? "it answered with an error";
}
