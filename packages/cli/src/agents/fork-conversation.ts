/**
 * Rewinds the agent's conversation with the files: the agent gets a fork that ends there, before anything
 * else changes.
 */
import { isAgentId, loadAgent, transcriptOf } from "@belay/agents";
import type { Checkpoint, Message, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { userHome } from "../call/user-home.ts";

/** A restore whose conversation goes back too. */
export interface Forking {
  readonly home: string;
  readonly workspace: Workspace;
  readonly target: Checkpoint;
  /** The thread to fork; null = the checkpoint's own. */
  readonly thread: Checkpoint["thread"];
}

/** What to tell the user about the conversation that was made. */
export interface Forked {
  /** Why the agent's own conversation stays as it is; printed before the rest is done. */
  readonly warning?: string;
  /** How to continue; printed when it is done. */
  readonly advice?: string;
  /** The command line that continues there. */
  readonly resume?: string;
}

/**
 * [R154] Throws when the agent can fork conversations but failed this time: nothing else has happened yet.
 */
export async function forkConversation({ home, workspace, target, thread }: Forking): Promise<Forked> {
  const id = thread ?? target.thread;
  if (id === null) return {};
  const { agent, externalId: session } = await workspace.threads.get(id);
  if (!isAgentId(agent)) return {};
  const { messages } = await workspace.threads.history(id, { limit: 10_000 });
  const prompts = messages.filter(({ role }) => role === "user");
  const at = prompts.findIndex((message) => isFrom(message, target));
  if (at < 0)
    return { advice: "The conversation is unchanged: there are no messages after this checkpoint." };
  const { path, cwd } = transcriptOf(home, { agent, session });
  const { conversations } = await loadAgent(agent);
  const result = await conversations.fork({
    session,
    messageId: prompts[at]!.externalId ?? "",
    previousMessageId: prompts[at - 1]?.externalId ?? null,
    transcript: path,
    cwd: cwd ?? workspace.root,
    user: userHome(),
    environment: process.env,
  });
  switch (result.outcome) {
    case "forked": {
      const resume = result.resume.join(" ");
      return { resume, advice: `To continue the conversation from there: ${resume}` };
    }
    case "empty": {
      const resume = result.resume.join(" ");
      return {
        resume,
        advice: `There are no messages before this point. Start a new conversation with: ${resume}`,
      };
    }
    case "files-only":
      return { warning: result.reason };
    case "failed":
      throw cannotFork(result.reason, target);
  }
}

function cannotFork(reason: string, { seq }: Checkpoint): ContractError {
  return new ContractError(
    "CONVERSATION_NOT_FORKED",
    `The conversation cannot be rewound: ${reason} Nothing was changed.`,
    { hint: `\`belay restore ${seq}\` restores only the files.`, facts: { reason } },
  );
}

/** True for the first message that the rewind covers. */
function isFrom(message: Message, target: Checkpoint): boolean {
  return message.checkpoint === target.id || message.createdAt >= target.createdAt;
}
