/** Threads, their messages, sessions and agents in the contract's shape. */
import type { AgentRun, Message, RolledBack, Session, ThreadSummary, UncapturedTurn } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { pathJson } from "./path-json.ts";

/** A thread as the contract shows it. */
export function threadJson(thread: ThreadSummary, workspace: string): Json<typeof shapes.thread> {
  const { createdAt, updatedAt, lastApprovedAt, closedAt, ...rest } = thread;
  return {
    ...rest,
    workspace,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    lastApprovedAt: optionalTime(lastApprovedAt),
    closedAt: optionalTime(closedAt),
  };
}

/** One prompt or answer as the contract shows it. */
export function messageJson(message: Message): Json<typeof shapes.message> {
  return { ...message, createdAt: isoTime(message.createdAt) };
}

/** Agent work that no checkpoint covers. */
export function uncapturedJson(turn: UncapturedTurn): Json<typeof shapes.uncapturedTurn> {
  return { ...turn, at: isoTime(turn.at), until: isoTime(turn.until) };
}

/** A session, open or closed. */
export function sessionJson(session: Session): Json<typeof shapes.sessionRecord> {
  return { ...session, createdAt: isoTime(session.createdAt), closedAt: optionalTime(session.closedAt) };
}

/** One run of an agent. */
export function agentJson(agent: AgentRun): Json<typeof shapes.agentRun> {
  return { ...agent, startedAt: isoTime(agent.startedAt), endedAt: optionalTime(agent.endedAt) };
}

/** Work that was taken out while the agent still believes it is there. */
export function rolledBackJson({
  by,
  description,
  paths,
  pathsTotal,
}: RolledBack): Json<typeof shapes.rolledBack> {
  return { by, description, paths: paths.map((path) => pathJson(path).path), pathsTotal };
}

/** A moment as the contract writes it. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** A moment that may be null. */
export function optionalTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : isoTime(milliseconds);
}
