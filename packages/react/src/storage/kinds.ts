/** Kinds of checkpoints as people say them. */
export const KINDS: Readonly<Record<string, string>> = {
  initial: "The beginning",
  manual: "Yours",
  message: "Prompts",
  turn: "Ends of turns",
  tool: "Single tools",
  edit: "Edits",
  safety: "Safety",
  restore: "Restores",
  approved: "Approved",
};
