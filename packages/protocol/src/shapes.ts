/**
 * The shapes of the contract, for `--json`, HTTP and MCP alike: what clients may rely on. Readers must tolerate fields
 * they do not know; writers have no others, because `Json<typeof shape>` is the type of what they make.
 */
import { z } from "zod";

/** What fits a shape exactly: every field is decided, and no other slips in. */
export type Json<Shape extends z.ZodType> = Exact<z.infer<Shape>>;

/** Without the index signatures that let readers tolerate unknown fields. */
type Exact<Value> = Value extends readonly (infer Item)[]
  ? readonly Exact<Item>[]
  : Value extends object
    ? [NamedKeys<Value>] extends [never]
      ? { readonly [Key in keyof Value]: Exact<Value[Key]> }
      : { readonly [Key in keyof Value as string extends Key ? never : Key]: Exact<Value[Key]> }
    : Value;

type NamedKeys<Value> = keyof { [Key in keyof Value as string extends Key ? never : Key]: Key };

const time = z.iso.datetime();
const count = z.int();

/** A list, and how many entries it has. */
function list<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return { [name]: z.array(item), [`${name}Total`]: count } as Record<Name, z.ZodArray<Item>> &
    Record<`${Name}Total`, typeof count>;
}

/** A path, with its exact bytes where it is not UTF-8. */
export const pathEntry = z.looseObject({ path: z.string(), pathBase64: z.string().optional() });

const reasonedPath = pathEntry.extend({ reason: z.string() });
const gap = reasonedPath.extend({ size: count });

/** A path that was not captured, and the rule that left it out. */
const excludedPath = pathEntry.extend({ rule: z.string(), bytes: count.nullable() });

/** What git said when a checkpoint was taken. */
export const gitState = z.looseObject({
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  dirty: z.boolean(),
  ...list("staged", z.string()),
});

/** Files by what became of them. */
const changeCounts = z.looseObject({ added: count, modified: count, deleted: count });

/** The agent at work when a checkpoint was taken. */
const agentFacts = z.looseObject({
  id: z.string(),
  role: z.string(),
  status: z.string(),
  cost: z.number().nullable(),
  tokens: z.number().nullable(),
});

/** A checkpoint. */
export const checkpoint = z.looseObject({
  id: z.string(),
  seq: count,
  workspace: z.string(),
  thread: z.string().nullable(),
  session: z.string().nullable(),
  kind: z.string(),
  phase: z.enum(["before", "after"]).nullable(),
  name: z.string().nullable(),
  note: z.string().nullable(),
  tags: z.array(z.string()),
  description: z.string(),
  createdAt: time,
  snapshot: z.string().length(64),
  parents: z.array(z.string()),
  messageId: z.string().nullable(),
  messageIndex: count.nullable(),
  toolUseId: z.string().nullable(),
  tool: z.string().nullable(),
  rolledBack: z.boolean(),
  agent: agentFacts.nullable(),
  conversation: z
    .looseObject({
      messageCount: count,
      lastMessageId: z.string().nullable(),
      artifacts: z.array(z.unknown()),
    })
    .nullable(),
  git: gitState.nullable(),
  files: count,
  bytes: count,
  changes: changeCounts,
  hasChanges: z.boolean().nullable(),
  undoDropped: z.boolean().optional(),
  ...list("gaps", gap),
  ...list("doubts", reasonedPath),
});

/** A checkpoint that was just taken. */
export const taken = z.looseObject({
  checkpoint,
  unchanged: z.boolean(),
  warnings: z.array(z.string()),
  durationMs: z.number(),
});

/** A changed file. */
export const fileChange = pathEntry.extend({
  from: z.string().optional(),
  fromBase64: z.string().optional(),
  type: z.enum(["added", "modified", "deleted", "renamed", "mode"]),
  linesAdded: count.nullable(),
  linesDeleted: count.nullable(),
  binary: z.boolean(),
  tooLarge: z.boolean(),
  gap: z.string().optional(),
  attribution: z.enum(["tool", "shared", "outside"]).nullable(),
  diff: z.string().nullable().optional(),
});

/** A file's content at a checkpoint or on disk; null where it was absent or is larger than what is shown. */
export const fileContent = z.looseObject({
  content: z.string().nullable(),
  encoding: z.enum(["utf-8", "base64"]),
  mode: count.nullable(),
  hash: z.string().nullable(),
  tooLarge: z.boolean(),
});

/** A checkpoint with what it changed and what it leaves out. */
export const checkpointDetails = z.looseObject({
  checkpoint,
  ...list("files", fileChange),
  ...list("excluded", excludedPath),
});

/** What differs between two checkpoints, or a checkpoint and the disk (`to: null`). */
export const diff = z.looseObject({
  from: z.string(),
  to: z.string().nullable(),
  ...list("files", fileChange),
  summary: changeCounts.extend({ linesAdded: count, linesDeleted: count }),
});

/** One line of a hunk, with its number on each side. */
const diffLine = z.looseObject({
  type: z.enum([" ", "+", "-"]),
  text: z.string(),
  old: count.nullable(),
  new: count.nullable(),
  noNewline: z.boolean().optional(),
});

/** Nearby changes of a file with the unchanged lines around them. */
export const diffHunk = z.looseObject({
  header: z.string(),
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  lines: z.array(diffLine),
});

/** One of the two versions of a file. */
export const fileSide = z.looseObject({
  kind: z.enum(["file", "symlink", "gap"]),
  mode: count.nullable(),
  size: count,
  hash: z.string().nullable(),
  target: z.string().optional(),
  gap: z.string().optional(),
  image: z
    .looseObject({ format: z.enum(["png", "jpeg", "gif", "webp"]), width: count, height: count })
    .optional(),
});

/** The change of one file, line by line; `file` is null where both states have the same. */
export const fileDiff = z.looseObject({
  from: z.string(),
  to: z.string().nullable(),
  file: fileChange.nullable(),
  before: fileSide.nullable(),
  after: fileSide.nullable(),
  hunks: z.array(diffHunk),
  truncated: z.boolean(),
});

/** What a plan would do to one file. `choices`: how many hunks can be chosen, by their numbers from 0 in this order. */
export const plannedDiff = fileDiff.extend({ choices: count });

/** Something that changed the working copy and can be taken out whole. */
export const step = z.looseObject({
  kind: z.string(),
  thread: z.string().nullable(),
  description: z.string(),
  agent: z.string().nullable(),
  prompt: z.string().nullable(),
  at: time,
});

/** One side of a conflict: enough of it to decide by. */
export const conflictSide = z.looseObject({
  kind: z.string(),
  lines: z.array(z.string()),
  line: count.nullable(),
  more: count,
});

/** A path in conflict, with its present and its wanted content. */
export const conflict = reasonedPath.extend({
  thread: z.string().optional(),
  sharedWith: z.array(step).optional(),
  together: count.nullable().optional(),
  ours: conflictSide.optional(),
  theirs: conflictSide.optional(),
  restoreFrom: z.string().optional(),
});

/** What a plan does to one path. */
export const planOperation = pathEntry.extend({
  type: z.enum(["create", "restore", "delete", "mode", "replace"]),
});

/** Every change that going back would make, and what it would keep. */
export const plan = z.looseObject({
  id: z.string(),
  checkpointId: z.string().nullable(),
  description: z.string(),
  paths: z.array(z.string()).nullable(),
  ...list("operations", planOperation),
  ...list("affectedFiles", z.string()),
  ...list("merged", pathEntry),
  ...list("kept", reasonedPath),
  ...list("leftOut", reasonedPath),
  ...list("conflicts", conflict),
  ...list("meanwhile", pathEntry),
  ...list("paused", pathEntry),
  ...list("maybe", pathEntry.extend({ tool: z.string() })),
  background: z.array(z.looseObject({ step, tool: z.string(), ...list("paths", pathEntry) })),
  ...list("gaps", gap),
  ...list("doubts", reasonedPath),
  otherThreads: z.array(z.looseObject({ thread: z.string(), ...list("paths", z.string()) })),
  warnings: z.array(z.string()),
});

/** What a plan does to one file, and what to know before choosing it. */
export const plannedFile = pathEntry.extend({
  change: z.enum(["delete", "change", "create", "mode"]),
  plus: count.nullable(),
  minus: count.nullable(),
  binary: z.boolean(),
  reasons: z.array(z.string()),
  /** "scripts", "by hand" or "by hand too", "<agent> too" */
  marks: z.array(z.string()),
  threads: z.array(z.string()),
});

/** A thread, its agent and files. */
const threadFiles = z.looseObject({
  thread: z.string(),
  agent: z.string().nullable(),
  ...list("files", pathEntry),
});

/** A plan with what people choose by: each file, whose work it is, what is left alone, git. */
export const detailedPlan = plan.extend({
  kind: z.enum(["restore", "undo", "redo", "revert", "reset"]),
  /** Files of which only these hunks go back; null where none is limited. */
  hunks: z.array(pathEntry.extend({ hunks: z.array(count) })).nullable(),
  ...list("files", plannedFile),
  leftAlone: z.array(threadFiles),
  /** Threads whose agents are at work right now. */
  working: z.array(z.looseObject({ thread: z.string(), agent: z.string() })),
  git: z.looseObject({ target: gitState.nullable(), now: gitState.nullable() }),
  steps: z.array(step),
});

/** A detailed plan; null where there is nothing to do. */
export const detailed = z.looseObject({ plan: detailedPlan.nullable() });

/** A plan of going back to a checkpoint. */
export const planned = z.looseObject({ plan });

/** A plan of undo, redo or revert with its steps; null when there is nothing to do. */
export const plannedSteps = z.looseObject({ plan: plan.nullable(), steps: z.array(step) });

/** How going back ended. */
export const outcomeKind = z.enum(["applied", "unchanged", "conflicts", "partial", "displaced"]);

/** What a program wrote while files were put in place, and the checkpoint that holds it. */
export const displaced = pathEntry.extend({ checkpoint: z.string() });

/** What going back did. */
export const outcome = z.looseObject({
  outcome: outcomeKind,
  restoredTo: z.string().nullable(),
  paths: z.array(z.string()).nullable(),
  safetyCheckpoint: z.string().nullable(),
  newCheckpoint: z.string().nullable(),
  created: count,
  modified: count,
  deleted: count,
  bytesWritten: count,
  ...list("merged", pathEntry),
  ...list("kept", reasonedPath),
  ...list("leftOut", reasonedPath),
  ...list("skipped", reasonedPath),
  ...list("conflicts", conflict),
  ...list("doubts", reasonedPath),
  ...list("displaced", displaced),
  warnings: z.array(z.string()),
  durationMs: z.number(),
});

/** What an undo, redo or revert did. */
export const stepsOutcome = outcome.extend({
  steps: z.array(step),
  canUndo: z.boolean(),
  canRedo: z.boolean(),
});

/** What a reset did; `newSession` is null when conflicts kept everything as it was. */
export const resetOutcome = outcome.extend({
  resetTo: z.string().nullable(),
  newSession: z.string().nullable(),
});

/** What carrying out a plan did, with the facts of its kind. */
export const planOutcome = outcome.extend({
  ...stepsOutcome.pick({ steps: true, canUndo: true, canRedo: true }).partial().shape,
  ...resetOutcome.pick({ resetTo: true, newSession: true }).partial().shape,
});

/** One prompt or answer. */
export const message = z.looseObject({
  id: z.string(),
  thread: z.string(),
  index: count,
  role: z.enum(["user", "assistant", "system", "tool"]),
  content: z.string(),
  externalId: z.string().nullable(),
  createdAt: time,
  checkpoint: z.string().nullable(),
  session: z.string().nullable(),
  artifacts: z.array(z.unknown()),
  rolledBack: z.boolean(),
  uncaptured: z.string().nullable(),
});

/** Work that was taken out while the agent still believes it is there. */
export const rolledBack = z.looseObject({
  by: z.enum(["restore", "reset"]),
  description: z.string(),
  ...list("paths", z.string()),
});

/** A thread. */
export const thread = z.looseObject({
  id: z.string(),
  workspace: z.string(),
  agent: z.string(),
  externalId: z.string(),
  title: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  messages: count,
  checkpoints: count,
  initialCheckpoint: z.string().nullable(),
  session: z.string().nullable(),
  lastApprovedAt: time.nullable(),
});

/** One run of an agent within a thread. */
export const agentRun = agentFacts.extend({
  thread: z.string(),
  startedAt: time,
  endedAt: time.nullable(),
  parent: z.string().nullable(),
  checkpoint: z.string().nullable(),
});

/** Files and lines that something changed; lines are null where they cannot be told. */
const timelineCounts = changeCounts.extend({ plus: count.nullable(), minus: count.nullable() });

/** Something that happened. `ref` names it and no other row; rows may share `seq`, which orders them. */
export const historyRow = timelineCounts.extend({
  seq: count,
  id: z.string(),
  ref: z.string(),
  kind: z.enum(["turn", "hand", "checkpoint", "restore", "revert", "reset", "approved", "initial", "safety"]),
  title: z.string(),
  thread: z.string().nullable(),
  agent: z.string().nullable(),
  session: z.string().nullable(),
  at: time,
  endedAt: time.nullable(),
  state: z.enum(["open", "applied", "undone", "empty"]),
  status: z.enum(["working", "completed", "interrupted", "failed"]).nullable(),
  undoneAt: time.nullable(),
  approved: z.boolean(),
  pruned: z.boolean(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  shared: count,
  steps: count,
  gaps: count,
  late: count,
  name: z.string().nullable(),
  note: z.string().nullable(),
  tags: z.array(z.string()),
  sameAsNow: z.boolean().nullable(),
  beforeSameAsNow: z.boolean().nullable(),
});

/** Agent work that no checkpoint covers. */
export const uncapturedTurn = z.looseObject({
  thread: z.string(),
  messageId: z.string().nullable(),
  prompt: z.string().nullable(),
  at: time,
  until: time,
  events: count,
  problem: z.string(),
  after: count,
});

/** A page of what happened, newest first, and the turns between its rows that were not captured. `total` and `days` are in the first page only; `now` where the disk was looked at. */
export const history = z.looseObject({
  rows: z.array(historyRow),
  next: count.nullable(),
  total: count.nullable(),
  days: z.array(z.looseObject({ day: z.string(), count })).nullable(),
  now: z
    .looseObject({
      at: time,
      changed: count.nullable(),
      since: count.nullable(),
      working: z.array(z.string()),
      failing: z.looseObject({ since: time, problem: z.string() }).nullable(),
    })
    .nullable(),
  uncaptured: z.array(uncapturedTurn),
});

/** What a row itself changed: other work between the states around it is not part of it. */
export const historyChanges = diff.omit({ from: true, to: true });

/** The same as a patch, byte for byte; `notInPatch` has what a patch cannot express. */
export const historyPatch = z.looseObject({
  patchBase64: z.string(),
  files: count,
  notInPatch: z.array(pathEntry.extend({ reason: z.string() })),
});

/** One file of it, line by line; `file` is null where the row did not change it. */
export const historyFileDiff = fileDiff.omit({ from: true, to: true });

/** What one tool call of a turn changed. */
export const historyStep = timelineCounts.extend({
  seq: count,
  id: z.string(),
  at: time,
  tool: z.string().nullable(),
  summary: z.string().nullable(),
  nature: z.enum(["edit", "command"]).nullable(),
  before: z.string().nullable(),
  after: z.string(),
});

/** A stretch of a thread that is approved or reset as a whole. */
export const sessionRecord = z.looseObject({
  name: z.string(),
  status: z.enum(["active", "merged", "abandoned"]),
  createdAt: time,
  closedAt: time.nullable(),
  base: z.string().nullable(),
  approved: z.string().nullable(),
  message: z.string().nullable(),
  head: z.string().nullable(),
  checkpoints: count,
});

/** A file that is not approved yet. */
export const pendingFile = pathEntry.extend({
  status: z.enum(["added", "modified", "deleted"]),
  additions: count,
  deletions: count,
  diff: z.string().nullable(),
  baseContent: z.string().nullable(),
  isBinary: z.boolean(),
  isTooLarge: z.boolean(),
});

/** The open session and what is not approved yet. */
export const session = z.looseObject({
  activeSession: z.string().nullable(),
  sessionRef: z.string().nullable(),
  hasUnapproved: z.boolean(),
  lastApprovedAt: time.nullable(),
  changedFiles: z.array(pendingFile),
});

/** What an approval did. */
export const approval = z.looseObject({
  approved: z.string(),
  session: z.string(),
  newSession: z.string(),
  checkpointsApproved: count,
});

/** A period without automatic captures. */
export const pause = z.looseObject({ since: time, until: time });

/** Whether the resident process serves a workspace. */
export const residentStatus = z.looseObject({
  running: z.boolean(),
  pid: count.nullable(),
  watching: z.boolean(),
});

/** How captures learn what changed. */
export const watching = z.looseObject({
  state: z.enum(["live", "cold"]),
  reason: z.string().nullable(),
  directories: count,
});

/** The status of a workspace. */
export const status = z.looseObject({
  workspace: z.string(),
  path: z.string(),
  exists: z.boolean(),
  store: z.string(),
  thread: z.string().nullable(),
  session: z.string().nullable(),
  hasUnapproved: z.boolean().nullable(),
  ...list("changedFiles", fileChange),
  ...list("sinceNewest", fileChange),
  changes: changeCounts.nullable(),
  ...list("gaps", gap),
  ...list("excluded", excludedPath),
  resident: residentStatus,
  disk: z.looseObject({ bytes: count, capBytes: count }),
  damage: z.looseObject({ at: time, checkpoints: count, sound: count }).nullable(),
  checkpoints: count,
  newest: checkpoint.nullable(),
  canUndo: step.nullable(),
  canRedo: step.nullable(),
  undoDropped: count,
  pausedTurns: count,
  paused: pause.nullable(),
  warnings: z.array(z.string()),
});

/** How much the store takes. */
export const storage = z.looseObject({
  bytes: count,
  capBytes: count,
  checkpoints: count,
  byKind: z.record(z.string(), count),
  threads: count,
  operations: z.record(z.string(), count),
  objects: count,
  packs: count,
  contentBytes: count,
  storedBytes: count,
  diskBytes: count,
  oldest: time.nullable(),
  newest: time.nullable(),
});

const spaceUse = z.looseObject({ bytes: count, storedBytes: count });

/** Who takes the space of a store. A group's bytes are those that no other group needs. */
export const spaceUsage = z.looseObject({
  by: z.enum(["thread", "kind", "directory"]),
  groups: z.array(
    spaceUse.extend({
      key: z.string().nullable(),
      keyBase64: z.string().optional(),
      checkpoints: count.nullable(),
    }),
  ),
  shared: spaceUse,
  rest: spaceUse,
});

/** What a check of the store found. */
export const verifyReport = z.looseObject({
  ok: z.boolean(),
  checkpoints: count,
  objects: count,
  bytes: count,
  ...list(
    "problems",
    z.looseObject({
      kind: z.string(),
      detail: z.string(),
      object: z.string().optional(),
      checkpoints: z.array(z.string()),
    }),
  ),
});

/** How far a long piece of work has come; null when none is under way. */
export const workUnderWay = z.looseObject({
  running: z.looseObject({ since: time, done: count, total: count.nullable() }).nullable(),
});

/** What was freed, or would be. */
export const gcReport = z.looseObject({
  objectsFreed: count,
  contentFreed: count,
  packsFreed: count,
  packsRewritten: count,
  bytesBefore: count,
  bytesAfter: count.nullable(),
  checkpointsDropped: count,
  stepsDropped: z.array(step),
  dryRun: z.boolean(),
});

/** What was purged, or would be. */
export const forgetReport = z.looseObject({
  ...list("checkpoints", z.string()),
  objects: count,
  bytes: count,
  dryRun: z.boolean(),
  steps: z.array(step),
  ...list("sameContent", pathEntry),
});

/** What was dropped, or would be. */
export const pruneReport = z.looseObject({
  ...list("pruned", checkpoint),
  kept: count,
  keptBy: z.record(z.string(), count),
  droppedBy: z.record(z.string(), count),
  dryRun: z.boolean(),
});

/** Checkpoints that were brought back. */
export const unpruned = z.looseObject(list("restored", checkpoint));

/** Everything that could make protection weaker than it seems, looked at. */
export const doctorReport = z.looseObject({
  ok: z.boolean(),
  checks: z.array(
    z.looseObject({
      name: z.string(),
      status: z.enum(["ok", "warning", "problem"]),
      detail: z.string(),
      hint: z.string().optional(),
    }),
  ),
  capture: z.unknown(),
});

const foundPlace = z.looseObject({ id: z.string(), seq: count, at: time });
const foundCause = z.looseObject({
  ref: z.string().nullable(),
  title: z.string(),
  agent: z.string().nullable(),
});

/** A stretch of checkpoints in which a file matched. */
export const foundSpan = z.looseObject({
  first: foundPlace,
  last: foundPlace,
  since: foundCause.nullable(),
  gone: foundPlace
    .extend({
      how: z.enum(["deleted", "changed", "left-out", "not-captured", "forgotten"]),
      by: foundCause.nullable(),
    })
    .nullable(),
  binary: z.boolean(),
  lines: z.array(z.string()),
  lineNumbers: z.array(count),
  cat: z.string(),
  restore: z.string(),
});

/** Where a text or a file was, in any checkpoint. */
export const findings = z.looseObject({
  ...list("files", pathEntry.extend({ onDisk: z.boolean(), spans: z.array(foundSpan) })),
  checkpoints: count,
  contents: count,
  unreadable: count,
});

/** A setting and where its value comes from. */
export const setting = z.looseObject({
  value: z.union([z.number(), z.string()]),
  source: z.enum(["default", "config.json"]),
});

/** A protected directory. */
export const workspace = z.looseObject({
  id: z.string(),
  path: z.string(),
  open: z.boolean(),
  watching: watching.nullable(),
});

/** The resident process. */
export const resident = z.looseObject({
  pid: count,
  version: z.string(),
  url: z.string(),
  /** null for a page in a browser */
  token: z.string().nullable(),
  startedAt: time,
  foreground: z.boolean(),
  workspaces: z.array(workspace),
});

/** A page that is open in a browser. */
export const page = z.looseObject({
  id: z.string(),
  openedAt: time,
  usedAt: time,
  /** True for the page that asks. */
  current: z.boolean(),
});

/** The body of an error answer. */
export const errorBody = z.looseObject({
  error: z.looseObject({ code: z.string(), message: z.string(), hint: z.string() }),
});
