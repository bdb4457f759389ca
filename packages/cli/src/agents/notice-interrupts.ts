/** Before an undo: agents that write down their interrupts are asked whether what they left open is over. */
import { isAgentId, loadAgent, transcriptOf } from "@belay/agents";
import type { Workspace } from "@belay/engine";

/** A dry run records nothing: its plan goes by what they say. */
export async function noticeInterrupts(
  workspace: Workspace,
  { home, dryRun }: { home: string; dryRun: boolean },
): Promise<void> {
  for (const { id, agent, externalId: session } of await workspace.turns.threadsAtWork()) {
    if (!isAgentId(agent)) continue;
    const { path } = transcriptOf(home, { agent, session });
    const { conversations } = await loadAgent(agent);
    const at = path === null ? null : await conversations.interruptedAt?.(path);
    if (typeof at !== "number") continue;
    if (dryRun) workspace.turns.assumeInterrupted(id, at);
    else await workspace.turns.interrupted(id, at);
  }
}
