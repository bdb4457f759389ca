/** Codex forks a conversation after a turn, through its app server. */
import type { Conversations, ForkRequest, ForkResult } from "./conversations.ts";
import { objectOf, textOf } from "../events/payload.ts";

/** Codex's conversations, by its app server. */
export const codexConversations: Conversations = { fork };

/** `lastTurnId` is included in the fork: it is the turn before the message. */
async function fork({ session, previousMessageId, cwd, environment }: ForkRequest): Promise<ForkResult> {
  if (previousMessageId === null) return { outcome: "empty", resume: ["codex"] };
  const { askCodex } = await import("./codex-app-server.ts");
  const params = { threadId: session, lastTurnId: previousMessageId };
  try {
    const result = await askCodex({ method: "thread/fork", params, cwd, environment });
    const forked = textOf(objectOf(result, "thread"), "id");
    if (forked === null) throw new Error("its answer names no new thread");
    return { outcome: "forked", session: forked, resume: ["codex", "resume", forked] };
  } catch (error) {
    return {
      outcome: "failed",
      reason: `Codex could not fork the conversation: ${(error as Error).message}.`,
    };
  }
}
