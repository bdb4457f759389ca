/** Conversations and their messages in the contract's shape. */
import type { Message, ThreadSummary } from "@belay/engine";

export function threadJson(thread: ThreadSummary, workspace: string) {
  return {
    id: thread.id,
    workspace,
    agent: thread.agent,
    externalId: thread.externalId,
    title: thread.title,
    createdAt: isoTime(thread.createdAt),
    updatedAt: isoTime(thread.updatedAt),
    messages: thread.messages,
    checkpoints: thread.checkpoints,
    initialCheckpoint: thread.initialCheckpoint,
    session: thread.session,
    lastApprovedAt: optionalTime(thread.lastApprovedAt),
  };
}

export function messageJson(message: Message) {
  return { ...message, createdAt: isoTime(message.createdAt) };
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function optionalTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : isoTime(milliseconds);
}
