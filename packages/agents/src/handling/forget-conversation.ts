/** Removes the text of a conversation from everything that hooks keep beside the store. [R165] */
import { isAgentId, loadAgent, recogniseAgent } from "../adapters/find-adapter.ts";
import { forgetNotes } from "../state/hook-notes.ts";
import { listOverdue, OverduePlace, type OverdueEvent } from "../state/overdue-events.ts";
import { digest, parsePayload } from "../events/payload.ts";
import { forgetUncaptured, listUncaptured } from "../state/uncaptured-work.ts";

/** Forgets a conversation and its subagents' in notes, overdue events and uncaptured work. */
export async function forgetConversation(
  home: string,
  { agent, session }: { agent: string; session: string },
): Promise<void> {
  const sessions = forgetNotes(home, agent, session);
  for (const work of listUncaptured(home))
    if (sessions.has(digest(work.agent, work.session))) forgetUncaptured(home, work);
  for (const event of listOverdue(home)) {
    const names = await sessionsOf(event);
    if (names.some((name) => sessions.has(name))) new OverduePlace(home, event).answered(event.id);
  }
}

/** The session of an event and the one that started it; none where the event cannot be understood. */
async function sessionsOf({ agent, input, environment }: OverdueEvent): Promise<string[]> {
  const payload = parsePayload(input);
  if (payload === undefined || !isAgentId(agent)) return [];
  const adapter = await loadAgent(recogniseAgent(agent, payload, environment));
  const event = adapter.parse(payload);
  return [event?.session, event?.parentSession].flatMap((name) => (name ? [digest(adapter.id, name)] : []));
}
