/** A conversation on its way to another machine: the agent's transcript, and what becomes of it there. */
import { readFileSync, statSync } from "node:fs";
import { isAgentId, loadAgent, transcriptOf } from "@belay/agents";
import type { MessageRole, ThreadSummary, Workspace } from "@belay/engine";
import type { Handoff } from "@belay/remote";
import { userHome } from "../call/user-home.ts";

const LARGEST = 128 * 1024 * 1024;

/** The transcript of a thread as its agent keeps it; null when there is none that can be read. */
export function readTranscriptOf(
  home: string,
  { agent, externalId: session }: Pick<ThreadSummary, "agent" | "externalId">,
  root: string,
): { readonly text: string; readonly cwd: string } | null {
  if (!isAgentId(agent)) return null;
  const { path, cwd } = transcriptOf(home, { agent, session });
  if (path === null || !path.endsWith(".jsonl")) return null;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? LARGEST;
  return size < LARGEST ? { text: readFileSync(path, "utf8"), cwd: cwd ?? root } : null;
}

/** Makes a thread of what was handed over, and gives the agent its conversation where it can take one. */
export async function importConversation(
  workspace: Workspace,
  handoff: Handoff,
): Promise<{ thread: string; resume: readonly string[]; conversation: "imported" | "none" }> {
  const made = await takeOver(workspace, handoff);
  const session =
    made?.outcome === "forked" ? made.session : `${handoff.session}-${handoff.line.slice(0, 8)}`;
  const { thread } = await workspace.importThread({
    origin: `handoff ${handoff.line}`,
    agent: handoff.agent,
    externalId: session,
    title: handoff.title,
    createdAt: handoff.messages[0]?.createdAt ?? handoff.at,
    updatedAt: handoff.at,
    checkpoints: [],
    messages: handoff.messages.map(({ role, content, externalId, createdAt }) => ({
      role: role as MessageRole,
      content,
      createdAt,
      ...(externalId !== null && { externalId }),
    })),
    sessions: [],
  });
  const isImported = made?.outcome === "forked";
  return { thread, resume: isImported ? made.resume : [], conversation: isImported ? "imported" : "none" };
}

async function takeOver(workspace: Workspace, { agent, transcript, cwd }: Handoff) {
  if (!isAgentId(agent) || transcript === null) return undefined;
  const { conversations } = await loadAgent(agent);
  return conversations.takeOver?.({
    text: transcript,
    from: cwd === "" ? null : cwd,
    cwd: workspace.root,
    user: userHome(),
    environment: process.env,
  });
}
