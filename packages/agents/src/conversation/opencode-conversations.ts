/** opencode forks a conversation before a message, through its own server. */
import type { Conversations, ForkRequest, ForkResult } from "./conversations.ts";
import { parsePayload, textOf } from "../events/payload.ts";

/** Its first start without a network takes more than a minute. */
const DEADLINE_MS = 120_000;

/** opencode's conversations, by its own server. */
export const opencodeConversations: Conversations = { fork };

async function fork({ session, messageId, cwd, environment }: ForkRequest): Promise<ForkResult> {
  const { withProgram } = await import("./agent-program.ts");
  const command = ["opencode", "serve", "--hostname=127.0.0.1", "--port=0"];
  try {
    return await withProgram(
      { command, cwd, environment, deadlineMs: DEADLINE_MS },
      async ({ lines, deadline }) => {
        for await (const line of lines) {
          const address = /https?:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
          if (address === undefined) continue;
          const path = `/session/${encodeURIComponent(session)}/fork?directory=${encodeURIComponent(cwd)}`;
          const response = await fetch(`${address}${path}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ messageID: messageId }),
            signal: deadline,
          });
          return forked(response.status, await response.text());
        }
        throw new Error("opencode serve did not report its address");
      },
    );
  } catch (error) {
    return {
      outcome: "failed",
      reason: `opencode could not fork the conversation: ${(error as Error).message}.`,
    };
  }
}

function forked(status: number, text: string): ForkResult {
  const session = status === 200 ? textOf(parsePayload(text) ?? {}, "id") : null;
  if (session === null) throw new Error(`it answered ${status}`);
  return { outcome: "forked", session, resume: ["opencode", "--session", session] };
}
