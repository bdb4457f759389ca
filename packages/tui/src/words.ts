/** Every sentence and label of the screens, in one place. */

/** The titles. */
export const TITLES = { keys: "Keys", restore: "Restore", reset: "Reset", menu: "/checkpoint" } as const;

/** What the help says below its keys. */
export const HELP_SENTENCES = [
  "Everything that changes files shows first what it would do, and asks.",
  "A key means the same on every screen; questions list their own answers.",
  "The mouse is off; --mouse turns on wheel and selecting, never acting.",
] as const;

/** The last line of the help. */
export const HELP_FOOT = "? or Esc closes | belay help tells about the commands";

/** The verbs of going back, as questions, answers and results say them. */
export const VERBS = {
  restore: { ask: "restore", done: "Restored", not: "Not restored" },
  undo: { ask: "undo", done: "Undone", not: "Not undone" },
  redo: { ask: "redo", done: "Redone", not: "Not redone" },
  revert: { ask: "undo", done: "Undone", not: "Not undone" },
  reset: { ask: "reset", done: "Reset", not: "Not reset" },
} as const;

/** What previews of going back say. */
export const GOING_BACK = {
  groups: { delete: "Will be deleted", change: "Will change", create: "Will come back", mode: "Mode" },
  changed: { delete: "deleted", change: "changed", create: "brought back", mode: "mode" },
  leftAlone: "Left alone",
  leftAloneOf: (agent: string, files: string) =>
    `${agent}'s ${files} ${files === "1" ? "is" : "are"} left alone.`,
  kept: "Kept",
  workOf: (agent: string) => `work of ${agent}`,
  saved: "The present files are saved first. You can undo this.",
  stale: "The files changed since this preview. Nothing was restored.",
  again: "Lines marked * are new. y restores, now as it is shown.",
  nothing: "Nothing would change.",
  planning: "Working out what would change …",
  restoring: (files: string) => `Restoring ${files}`,
  more: (number: string) => `…and ${number} more`,
  unfold: "(Enter on this line shows them)",
  tooMany: "These are too many files to choose one by one.",
  alwaysWhole: "A conversation goes back as a whole; choose files to choose among them.",
  takenToo: "Taken too",
  git: (where: string) => `Git stays as it is: ${where}.`,
  notUtf8: "A name that is not UTF-8 is among them: these files go back together, or by `belay restore`.",
  noConversation: "This state belongs to no conversation.",
  meanwhile: "Changed meanwhile by hand, stays:",
  paused: "Changed while captures were paused, stays:",
  background: (tool: string) => `Written by ${tool}, still running; stays:`,
  undoes: "u undoes this.",
  redoes: "r brings it back.",
  noEarlier: "There is no earlier step.",
  conflicts: (not: string, some: number, of: number) =>
    `${not}: ${some} of ${of} ${of === 1 ? "file" : "files"} ${some === 1 ? "was" : "were"} changed since.`,
  nothingChanged: "Nothing has changed.",
} as const;

/** The reference's lines of the timeline, where it is printed. */
export const TIMELINE = {
  title: (current: string) => `Snapshot Timeline (Current: ${current})`,
  now: (changed: number | null) =>
    changed === null ? "now" : `now, ${changed} ${changed === 1 ? "file" : "files"} changed`,
  files: (modified: number, added: number, deleted: number) =>
    `Files: ${modified} modified, ${added} added, ${deleted} deleted`,
} as const;

/** What the slash commands say. */
export const COMMANDS = {
  unknownCommand: (name: string) => `Unknown command: /${name}`,
  unknownSubcommand: (name: string) => `Unknown subcommand: ${name}`,
  usage: (line: string) => `Usage: ${line}`,
  nothingChanged: "Nothing was changed.",
  confirmationRequired: (question: string) =>
    `Not confirmed, and there is no terminal to ask on: ${question} Nothing was changed.`,
  refused: (message: string, code: string, hint: string) =>
    `${message} ${code === "CHECKPOINT_NOT_FOUND" ? "/checkpoint list shows them." : hint}`.trim(),
  created: (seq: number, id: string, name: string | null) =>
    `Checkpoint ${seq} ${id}${name === null ? "" : ` "${name}"`} holds the files as they are now.`,
  checkpoint: (seq: number, id: string) => `Checkpoint ${seq}  ${id}`,
  notCaptured: (files: number) => `${files} not captured`,
  compared: (files: string, plus: number, minus: number) => `${files}, +${plus} -${minus}`,
  nothingToPrune: (kept: string) => `Nothing to drop: all ${kept} stay.`,
  askPrune: (pruned: string, kept: number) => `Drop ${pruned} and keep ${kept}?`,
  pruned: (pruned: string, kept: number) =>
    `${pruned} dropped, ${kept} kept. \`belay prune --undo\` brings them back within 24 hours.`,
  askTheRest: (verb: string, files: number) => `${verb} the other ${files}?`,
  empty: "There are no checkpoints yet.",
  askWhich: "Restore which one? Its number or id; Enter restores none: ",
  restored: (id: string) => `Restored to snapshot ${id}. /undo takes it back.`,
  nothingToRestore: "Nothing to do: the files are already in that state.",
  nothingToUndo: "Nothing to undo: no step of this conversation is left that changed anything.",
  nothingToRedo: "Nothing to redo.",
  undone: (what: string) => `Undone: ${what}. /redo brings it back.`,
  redone: (what: string) => `Redone: ${what}. /undo undoes it again.`,
  conversationToo: "The conversation goes back too: its later messages are marked, none is removed.",
  conversationOnly: "Only the conversation goes back: its later messages are marked, none is removed.",
  same: "These two states are the same.",
  truncated: "… the rest of this file is too long to show",
  withoutLines: (path: string, why: string) => `--- ${path} (${why})`,
  menuHint: "Type one of these.",
} as const;

/** The menu: what each entry says, and the command that does the same. */
export const MENU = [
  { id: "list", command: "/checkpoint list", text: () => "List checkpoints" },
  { id: "timeline", command: "/checkpoint timeline", text: () => "Timeline" },
  { id: "restore", command: "/restore", text: () => "Restore…" },
  { id: "compare", command: "/checkpoint diff <from> <to>", text: () => "Compare two…" },
  { id: "create", command: "/checkpoint create", text: () => "Create a checkpoint…" },
  { id: "pending", command: "/checkpoint timeline", text: (files: number) => `Pending changes (${files})` },
  { id: "prune", command: "/checkpoint prune", text: () => "Prune…" },
] as const;
