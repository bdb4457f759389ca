/** Before an undo: transcripts that record interrupts say which open calls are over. */
import { isAgentId, loadAgent, transcriptOf } from "@belay/agents";
import type { Workspace } from "@belay/engine";

/** Ends interrupted calls; a dry run records nothing, and only its plan takes them for ended. */
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
