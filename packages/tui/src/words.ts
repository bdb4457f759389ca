/** Every sentence and label of the screens, in one place. */
import { count, grouped } from "./text/quantity.ts";

/** Of very many files lines are not counted. */
const UNCOUNTED = "lines not counted";

/** The titles of the screens. */
export const TITLES = {
  keys: "Keys",
  restore: "Restore",
  reset: "Reset",
  menu: "/checkpoint",
  /** M69 */
  timeline: "Snapshot Timeline",
  current: (text: string) => `(Current: ${text})`,
  thread: (title: string) => `, ${title}`,
} as const;

/** What the help says below its keys. */
export const HELP_SENTENCES = [
  "Everything that changes files shows first what it would do, and asks.",
  "A key means the same on every screen; questions list their own answers.",
  "The mouse is off; --mouse turns on wheel and selecting, never acting.",
] as const;

/** The last line of the help. */
export const HELP_FOOT = "? or Esc closes | belay help tells about the commands";

/** The last line of a help that is longer than the window. */
export const HELP_SCROLL = (arrows: string) => `${arrows} scroll | ? or Esc closes`;

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
  untouched: "Not captured, not touched",
  workOf: (agent: string) => `work of ${agent}`,
  saved: "The present files are saved first. You can undo this.",
  stale: "The files changed since this preview. Nothing was restored.",
  again: "Lines marked * are new. y restores, now as it is shown.",
  nothing: "Nothing would change.",
  /** What becomes of the conversation, where it goes back. */
  conversation: {
    conversation:
      "Only the conversation goes back: its later messages are marked, none is removed. No file changes.",
    both: "The conversation goes back too: its later messages are marked, none is removed.",
  },
  askConversation: "take the conversation back",
  rewinding: "Taking the conversation back",
  rewound: (words: string) => `The conversation went back to ${words}`,
  undoable: "You can undo this.",
  noFile: "it; no file changes",
  planning: "Working out what would change …",
  wait: "wait: working out what would change …",
  noneChosen: "no file is chosen",
  decide: (conflicts: string) => `decide ${conflicts}`,
  restoring: (files: string, phase: string) => `Restoring ${files}: ${phase}`,
  phases: {
    saving: "saving what is there",
    staging: "preparing",
    changing: "writing",
    clearing: "clearing up",
  },
  more: (number: string) => `…and ${number} more`,
  unfold: "(Enter on this line shows them)",
  tooMany: "These are too many files to choose one by one.",
  alwaysWhole: "A conversation goes back as a whole; choose files to choose among them.",
  takenToo: "Taken too",
  git: (where: string) => `Git stays as it is: ${where}.`,
  notUtf8:
    "A name that is not UTF-8 is among them: these files go back together, or by `belay restore <checkpoint>`.",
  noConversation: "This state belongs to no conversation.",
  meanwhile: "Changed meanwhile by hand, stays:",
  paused: "Changed while captures were paused, stays:",
  background: (tool: string) => `Written by ${tool}, still running; stays:`,
  now: "On disk now",
  after: {
    restore: "after the restore",
    undo: "after the undo",
    redo: "after the redo",
    revert: "after the undo",
    reset: "after the reset",
  },
  resume: "The conversation goes on with:",
  undoes: "u undoes this.",
  redoes: "r brings it back.",
  noChange: "This is a state, not a change: nothing in it to undo. Enter restores it.",
  hunkGone: "These lines are not there any more as this turn left them: f takes the whole file back.",
  noEarlier: "There is no earlier step.",
  conflicts: (not: string, some: number, of: number) =>
    `${not}: ${some} of ${of} ${of === 1 ? "file" : "files"} ${some === 1 ? "was" : "were"} changed since.`,
  nothingChanged: "Nothing has changed.",
  notDone: "Not done:",
  displaced: (files: string, checkpoint: string) =>
    `Another program wrote ${files} meanwhile; what is not on disk is in checkpoint ${checkpoint}.`,
} as const;

/** What the details of a row offer. */
export const DETAIL_HINTS = {
  restore: "restore to before",
  restoreState: "restore to this",
  file: (pointer: string) => `restore only ${pointer}`,
  undo: "undo only this",
} as const;

/** What the boxes of undo and redo say. */
export const STEPS = {
  nothing: {
    undo: "Nothing to undo: no step is left that changed anything.",
    redo: "Nothing to redo.",
    revert: "Nothing to undo here: this changed nothing that is still there.",
  },
  close: "  Esc closes",
} as const;

/** What the conflict chooser says. */
export const CONFLICTS = {
  title: (at: number, of: number) => `Conflicts ${at} of ${of}`,
  keepDisk: "Keep what is on disk",
  take: {
    undo: "Take the undo",
    redo: "Take the redo",
    revert: "Take the undo",
    reset: "Take the reset",
    restore: "Take the restore",
  },
  merge: "Take the merge by lines, which does not parse",
  editor: "Write it in your editor",
  onDisk: "On disk now",
  after: {
    undo: "After the undo",
    redo: "After the redo",
    revert: "After the undo",
    reset: "After the reset",
    restore: "After the restore",
  },
  /** What stands for content without lines. */
  sides: {
    absent: "(no file)",
    file: "(binary or large)",
    symlink: "(a link)",
    directory: "(a directory)",
    gap: "(not captured)",
  } as Readonly<Record<string, string>>,
  noLines: "(these lines are not there)",
  moreLines: (lines: number) => `…and ${lines} more ${lines === 1 ? "line" : "lines"}`,
  line: (line: number) => `line ${line}`,
  lines: (first: number, last: number) => `lines ${first} to ${last}`,
  merged: (path: string, more: number) => `merged by lines: ${path} [low]${more > 0 ? `, ${more} more` : ""}`,
  others: (files: string) => `${files} more without a conflict`,
  result: "The result",
  summary: "Nothing is written before you answer. Decided:",
  chooseHint: (arrows: string) => `or ${arrows} Enter choose`,
  apply: "do it",
  planning: "wait: working out what would change …",
  again: "The files changed since: there is another conflict now. Nothing was changed.",
  editorFailed: "The editor ended with an error. Nothing was taken from it.",
  marksLeft: "The text still has the marks of both sides. Nothing was taken from it.",
} as const;

/** What the pending screen says. */
export const PENDING = {
  title: "Pending changes",
  total: (files: string, threads: string) => `${files} in ${threads}`,
  nothing: "Nothing pending",
  nothingOf: (approved: string | undefined) =>
    approved === undefined ? "nothing pending" : `nothing pending, approved ${approved}`,
  working: "working",
  seen: "[seen]",
  unseen: "[    ]",
  fresh: "new since you looked",
  notKept: (problem: string) => `Marked only until the timeline ends: ${problem}`,
  sessions: (title: string) => `Sessions of ${title}`,
  status: { active: "active", merged: "approved", abandoned: "reset" },
  since: (time: string) => `since ${time}`,
  stillThere: "its checkpoints can still be restored",
  message: (files: string) => `Approve ${files}. Message (may stay empty): `,
  approved: (files: string, title: string) => `Approved ${files} of ${title}.`,
  nothingToApprove: (title: string) =>
    `Nothing is pending in ${title}: there is nothing to approve or reset.`,
  approvedState: (title: string) => `the approved state of ${title}`,
  onDisk: "on disk now",
} as const;

/** What the menu says besides its entries. */
export const MENU_WORDS = {
  hints: (arrows: string) => `${arrows} choose | Enter go | Esc close`,
  pruning: "Working out what the policy would drop …",
  prune: (pruned: string, kept: string) => `Drop ${pruned} by the policy, and keep ${kept}?`,
  pruneBack: "`belay prune --undo` brings them back for 24 hours.",
  pruneAnswers: (pruned: string) => `y drop ${pruned}   Esc cancel`,
  close: "Esc closes",
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
  compared: (files: string, plus: number | null, minus: number | null) => comparedText(files, plus, minus),
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

/** What rows say. */
export const ROW_WORDS = {
  undone: "undone",
  interrupted: "interrupted",
  approved: "approved",
  yesterday: "Yesterday",
  gaps: (number: number) => `${grouped(number)} not captured`,
  late: (number: number) => `${grouped(number)} captured late`,
  lateShort: (number: number) => `${grouped(number)} late`,
  damaged: "damaged",
  now: (changed: number, since: string | undefined) =>
    `now, ${count(changed, "file")} changed${since === undefined ? "" : ` since ${since}`}`,
  steppedBack: "now, after an undo or redo",
  newest: "The newest checkpoint",
  onNow: "These are the files on disk; d shows what changed.",
  onSteppedBack: "These are the files on disk, as the undo or redo left them.",
  more: (number: number) => `${grouped(number)} more`,
  news: (number: number) => `${grouped(number)} new (g goes there)`,
  lost: (prompt: string) => `not captured${prompt === "" ? "" : `: ${prompt}`}`,
  moreLost: (number: number) =>
    `…and ${grouped(number)} more that were not captured: \`belay log\` lists them`,
  loading: "Loading…",
} as const;

/** The states of the whole. */
export const STATE_WORDS = {
  nothing: (name: string) => [
    `${name} is protected. Nothing has happened yet.`,
    "",
    "Start your agent and work as always: claude",
    "Each prompt shows up here within a second.",
  ],
  noMatch: (text: string, total: number) => [
    `Nothing matches ${text}.`,
    `${count(total, "row")} without the filter.`,
  ],
  alone: [
    "The resident process is not there; showing what the store has. Captures go on",
    "by the hooks themselves. Trying again…",
  ],
  gone: [
    "This directory is gone; its checkpoints are not.",
    "Enter on a row shows what brings its files back.",
  ],
  lost: (time: string) => [`Not connected. What you see is from ${time}.`, "Trying again…"],
  full: (since: string | undefined) => [
    `The store is full: checkpoints fail${since === undefined ? "" : ` since ${since}`}. Agents go on, unprotected.`,
    "`belay prune --dry-run` shows what can go; disk.capBytes raises the cap.",
  ],
  failing: (since: string, problem: string) => [
    `Checkpoints fail since ${since}. Agents go on, unprotected.`,
    problem,
  ],
  damaged: (bad: number, sound: number) => [
    `${count(bad, "checkpoint")} cannot be restored in full; the other ${grouped(sound)} ${sound === 1 ? "is" : "are"} sound.`,
    "Your files are untouched. belay verify lists them.",
  ],
  /** `1.2 of 10 GiB`: a unit that both have is said once. */
  disk: (used: string, cap: string) =>
    `${used.split(" ")[1] === cap.split(" ")[1] ? used.split(" ")[0]! : used} of ${cap}`,
  protection: (isLive: boolean, used: string) => `${isLive ? "protected, live" : "protected"} · ${used}`,
} as const;

/** What the filter says. */
export const FILTER_WORDS = {
  label: "Filter: ",
  found: (rows: number, total: number) => `${grouped(rows)} of ${grouped(total)}`,
  help: [
    "words: prompts, names, notes, paths    agent: thread: file: tag: kind: session:",
    "before: after: (10:30, yesterday, 2026-11-01)   has:changes has:gaps is:undone",
  ],
} as const;

/** What the comparison of marks says. */
export const COMPARE_WORDS = {
  two: (a: string, b: string) => `Compare A (${a}) with B (${b})`,
  disk: (a: string) => `Compare A (${a}) with the files on disk`,
  onDisk: "the files on disk",
  same: "These two states are the same.",
  uncounted: UNCOUNTED,
  counts: (files: number, plus: number | null, minus: number | null) =>
    comparedText(count(files, "file"), plus, minus),
} as const;

/** What is asked for in one line. */
export const ASK_WORDS = {
  noteTitle: "Note",
  note: "Note: ",
  tagTitle: "Tags",
  tag: "Tags, divided by spaces: ",
  nameTitle: "Rename",
  name: "Name: ",
  checkpointTitle: "Checkpoint",
  checkpointAbout: "Keeps the files as they are now.",
  checkpoint: "Name (may stay empty): ",
  taken: (name: string, files: number, bytes: string) =>
    `Kept this state${name}: ${count(files, "file")}, ${bytes}.`,
  unchanged: "Nothing changed since the newest checkpoint; this state is kept already.",
  saved: "Saved.",
} as const;

/** What saving a patch says. */
export const EXPORT_WORDS = {
  title: "Export patch",
  about: "What this changed, for `git apply`. A file that exists is not replaced.",
  label: "File: ",
  noName: "A file needs a name.",
  nothing: "This changed nothing that a patch can hold. No file was written.",
  exists: (path: string) => `${path} exists already. It was not changed; choose another name.`,
  saved: (path: string, files: string, bytes: string) => `Saved ${path}: ${files}, ${bytes}.`,
  leftOut: (paths: string) => `Not in the patch: ${paths}.`,
} as const;

/** What the list of threads says. */
export const THREAD_WORDS = {
  title: "Threads",
  total: (threads: number) => count(threads, "thread"),
  none: "No agent has worked here yet.",
  working: "working",
  prompts: (number: number) => count(number, "message"),
  approved: (time: string) => `approved ${time}`,
} as const;

/** What stands beside the list. */
export const BESIDE_WORDS = {
  there: "Tab goes over here, j k scroll",
  here: "Tab goes back, j k scroll",
  by: (tool: string) => `by ${tool}`,
  stretch: (from: string, to: string) => `${from} to ${to}`,
} as const;

/** What the details say. */
export const DETAIL_WORDS = {
  title: (seq: number, id: string) => `Checkpoint ${seq}  ${id}`,
  labels: {
    taken: "taken",
    kind: "kind",
    thread: "thread",
    ended: "ended",
    cost: "cost",
    git: "git",
    holds: "holds",
    new: "new",
    name: "name",
    note: "note",
    tags: "tags",
  },
  today: "today",
  moment: (kind: string) => (kind === "turn" ? ", before the prompt" : ""),
  message: (number: number) => `message ${number}`,
  staged: (number: number) => `${grouped(number)} staged`,
  uncommitted: "uncommitted changes",
  inStore: (bytes: string) => `${bytes} in the store`,
  noNote: "none (n writes one)",
  noTags: "none (t adds one)",
  changed: (kind: string, isState: boolean) =>
    kind === "turn" ? "Changed by this turn" : isState ? "Changed on disk since" : "Changed",
  changedByStep: "Changed by this step",
  unchanged: "changed nothing",
  byHand: (time: string) => `and by hand ${time}`,
  loading: "Loading…",
  notCaptured: "Not captured",
  late: "Captured late",
  none: "none",
  gap: (path: string, why: string) => `${path}  ${why}`,
  noPatch: "This is a state, not a change: `belay export` saves its files. d compares it with the disk.",
  copied: (id: string) => `Copied ${id}.`,
} as const;

/** What the diff says. */
export const DIFF_WORDS = {
  before: (title: string) => `Before "${title}"`,
  after: "after",
  same: COMPARE_WORDS.same,
  position: (number: number, total: number) => `file ${grouped(number)} of ${grouped(total)}`,
  hunk: (number: number, total: number) => `hunk ${number} of ${total}`,
  unchanged: (number: number) => `${count(number, "unchanged line")} (Enter shows them)`,
  noNewline: "(no line end)",
  nothing: "nothing",
  file: "a file",
  binary: (before: string, after: string) => `Binary: ${before} -> ${after}`,
  image: (format: string, before: string, after: string) => `Image (${format}): ${before} -> ${after}`,
  moved: "Moved; the content is the same.",
  mode: (before: string, after: string) => `Mode: ${before} -> ${after}`,
  link: (before: string, after: string) => `Link to: ${before} -> ${after}`,
  gap: (reason: string) => `Not captured (${reason}): there is nothing to compare.`,
  long: (lines: number) => `${count(lines, "changed line")}: Enter shows them.`,
  huge: (before: string, after: string) =>
    `Too large to show here: ${before} -> ${after}. \`belay diff\` writes it as text.`,
  find: "Find: ",
  matches: (number: number, total: number) =>
    total === 0 ? "no match in this file" : `${number} of ${total}`,
  copiedHunk: (number: number, total: number) => `Copied hunk ${number} of ${total}.`,
  copiedPatch: (path: string) => `Copied ${path} as a patch.`,
  tooLong: "Too long for the clipboard; `belay diff` writes it as text.",
} as const;

/** `4 files, +122 -18`; of very many files the lines are not counted. */
function comparedText(files: string, plus: number | null, minus: number | null): string {
  return plus === null || minus === null ? `${files}, ${UNCOUNTED}` : `${files}, +${plus} -${minus}`;
}
