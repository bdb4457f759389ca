/** Conversations, their messages, sessions and agents for programs. */
import type { AgentRun, Message, Session, ThreadSummary } from "@belay/engine";

const time = (ms: number) => new Date(ms).toISOString();
const timeOrNull = (ms: number | null) => (ms === null ? null : time(ms));

export function threadJson(thread: ThreadSummary) {
  const { createdAt, updatedAt, lastApprovedAt, ...rest } = thread;
  return {
    ...rest,
    createdAt: time(createdAt),
    updatedAt: time(updatedAt),
    lastApprovedAt: timeOrNull(lastApprovedAt),
  };
}

export function messageJson(message: Message) {
  return { ...message, createdAt: time(message.createdAt) };
}

export function sessionJson(session: Session) {
  return { ...session, createdAt: time(session.createdAt), closedAt: timeOrNull(session.closedAt) };
}

export function agentJson(agent: AgentRun) {
  return { ...agent, startedAt: time(agent.startedAt), endedAt: timeOrNull(agent.endedAt) };
}
