/** Before anything goes back: transcripts that record interrupts say which open calls are over. */
import { isAgentId, loadAgent, transcriptOf } from "@belay/agents";
import type { Thread, ThreadId } from "@belay/engine";

/** When the agents of these threads were last interrupted. An agent whose transcript cannot be read says nothing. */
export async function findInterruptions(
  home: string,
  threads: readonly Thread[],
): Promise<{ thread: ThreadId; at: number }[]> {
  const found = [];
  for (const { id, agent, externalId: session } of threads) {
    const at = await interruptedAt(home, { agent, session });
    if (at !== undefined) found.push({ thread: id, at });
  }
  return found;
}

async function interruptedAt(
  home: string,
  { agent, session }: { agent: string; session: string },
): Promise<number | undefined> {
  if (!isAgentId(agent)) return undefined;
  try {
    const { path } = transcriptOf(home, { agent, session });
    const { conversations } = await loadAgent(agent);
    return (path === null ? null : await conversations.interruptedAt?.(path)) ?? undefined;
  } catch {
    return undefined;
  }
}
