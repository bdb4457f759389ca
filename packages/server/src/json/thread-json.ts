/** Conversations, their messages, sessions and agents in the contract's shape. */
import type { AgentRun, Message, RolledBack, Session, ThreadSummary, UncapturedTurn } from "@belay/engine";
import { pathJson } from "./path-json.ts";

export function threadJson(thread: ThreadSummary, workspace: string) {
  const { createdAt, updatedAt, lastApprovedAt, ...rest } = thread;
  return {
    ...rest,
    workspace,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    lastApprovedAt: optionalTime(lastApprovedAt),
  };
}

export function messageJson(message: Message) {
  return { ...message, createdAt: isoTime(message.createdAt) };
}

export function uncapturedJson(turn: UncapturedTurn) {
  return { ...turn, at: isoTime(turn.at), until: isoTime(turn.until) };
}

export function sessionJson(session: Session) {
  return { ...session, createdAt: isoTime(session.createdAt), closedAt: optionalTime(session.closedAt) };
}

export function agentJson(agent: AgentRun) {
  return { ...agent, startedAt: isoTime(agent.startedAt), endedAt: optionalTime(agent.endedAt) };
}

export function rolledBackJson({ by, description, paths, pathsTotal }: RolledBack) {
  return { by, description, paths: paths.map((path) => pathJson(path).path), pathsTotal };
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function optionalTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : isoTime(milliseconds);
}
