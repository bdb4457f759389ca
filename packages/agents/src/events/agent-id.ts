/** The agents that Belay has adapters for, by the names that hooks are installed under. */
export const AGENT_IDS = [
  "claude-code",
  "codex",
  "gemini-cli",
  "opencode",
  "cursor",
  "copilot-cli",
  "qwen-code",
] as const;

/** The name of an agent. */
export type AgentId = (typeof AGENT_IDS)[number];
