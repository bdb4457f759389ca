/** How the variables begin that a hook passes on: those adapters look at to tell agents apart. */
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
