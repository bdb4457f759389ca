/** After a conversation went back: where its agent can go on from that point. */
import { homedir } from "node:os";
import { isAgentId, loadAgent } from "@belay/agents";
import type { Checkpoint, Message, Workspace } from "@belay/engine";

/** What to tell the user; undefined when the checkpoint belongs to no conversation with an agent that is known. */
export async function forkConversation(
  workspace: Workspace,
  target: Checkpoint,
): Promise<string | undefined> {
  if (target.thread === null) return undefined;
  const { agent, externalId } = await workspace.thread(target.thread);
  if (!isAgentId(agent)) return undefined;
  const { messages } = await workspace.history(target.thread, { limit: 10_000 });
  const prompts = messages.filter(({ role }) => role === "user");
  const at = prompts.findIndex((message) => isFrom(message, target));
  if (at < 0) return "The conversation stands where it stood: nothing was said after this checkpoint.";
  const adapter = await loadAgent(agent);
  const result = await adapter.conversations.fork({
    session: externalId,
    messageId: prompts[at]!.externalId ?? "",
    previousMessageId: prompts[at - 1]?.externalId ?? null,
    transcript: null,
    cwd: workspace.root,
    user: homedir(),
    environment: process.env,
  });
  switch (result.outcome) {
    case "forked":
      return `The conversation goes on from there with: ${result.resume.join(" ")}`;
    case "empty":
      return `Nothing was said before this point. Begin anew with: ${result.resume.join(" ")}`;
    default:
      return result.reason;
  }
}

/** The first message that the conversation is taken back over. */
function isFrom(message: Message, target: Checkpoint): boolean {
  return message.checkpoint === target.id || message.createdAt >= target.createdAt;
}
