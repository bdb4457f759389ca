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

/** Kinds that the bar of the store shows together, in its order; what is in none of them is of its own. */
export const KIND_GROUPS: readonly { readonly words: string; readonly kinds: readonly string[] }[] = [
  { words: "Turns and prompts", kinds: ["initial", "message", "turn", "agent"] },
  { words: "Single tools", kinds: ["tool"] },
  {
    words: "Safety, before and after ways back",
    kinds: ["safety", "restore", "reset", "switch", "fork", "merge", "auto-fix"],
  },
  { words: "Yours, approved, by the clock", kinds: ["manual", "approve", "timer"] },
];
