/** Kinds of checkpoints as people say them. */
export const KINDS: Readonly<Record<string, string>> = {
  initial: "The beginning",
  manual: "Yours",
  message: "Prompts",
  turn: "Ends of turns",
  tool: "Single tools",
  agent: "Agents",
  safety: "Safety",
  restore: "Restores",
  approve: "Approved",
  reset: "Resets",
  "auto-fix": "Auto-fix",
  timer: "By the clock",
  switch: "Switches",
  fork: "Forks",
  merge: "Merges",
};
