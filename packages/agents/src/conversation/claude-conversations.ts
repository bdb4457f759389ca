/** Conversations of Claude Code. Their code is loaded when they are forked or looked at, not with every hook. */
import type { Conversations } from "./conversations.ts";

/** Claude Code's conversations, by its transcripts. */
export const claudeConversations: Conversations = {
  fork: async (request) => (await import("./claude-fork.ts")).forkClaude(request),
  takeOver: async (request) => (await import("./claude-take-over.ts")).takeOverClaude(request),
  interruptedAt: async (transcript) =>
    (await import("./claude-interrupt.ts")).lastClaudeInterrupt(transcript),
  async noticeRewind(event, notes) {
    const looks = event.kind === "tool-before" || event.kind === "turn-end";
    if (!looks || event.run !== null || event.transcript === null) return undefined;
    const { noticeClaudeRewind } = await import("./claude-rewind.ts");
    return noticeClaudeRewind({ ...event, transcript: event.transcript }, notes);
  },
};
