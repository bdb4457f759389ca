/** Prefixes of the variables that a hook passes on: adapters tell agents apart by them. */
export const HOOK_ENVIRONMENT = [
  "CLAUDE",
  "CODEX",
  "GEMINI",
  "QWEN",
  "CURSOR",
  "COPILOT",
  "OPENCODE",
  "BELAY",
];
