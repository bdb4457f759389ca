/** Protected directories, their settings, and the process that serves them. */
import { z } from "zod";
import { changeCounts, count, excludedPath, gap, gitState, list, time } from "./basics.ts";
import { checkpoint, fileChange } from "./checkpoints.ts";
import { step } from "./going-back.ts";

/** A named line of checkpoints. `ahead` and `behind` count checkpoints against the parent. */
export const branch = z.looseObject({
  name: z.string(),
  head: z.string().nullable(),
  base: z.string().nullable(),
  parent: z.string().nullable(),
  current: z.boolean(),
  /** The directory whose files are on it. */
  workingCopy: z.string().nullable(),
  state: z.enum(["open", "merged", "discarded"]),
  description: z.string().nullable(),
  ahead: count,
  behind: count,
  files: count,
  /** The newest run of an agent on it. */
  run: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
});

/** A checkpoint that the git repository has as a commit below `refs/belay/ghost/`. */
export const ghost = z.looseObject({
  id: z.string(),
  commit: z.string(),
  description: z.string(),
  createdAt: time,
  turn: z.string().nullable(),
  /** Null when the store no longer has the checkpoint. */
  checkpoint: z.string().nullable(),
  leftOut: count,
});

/** One more working copy of a workspace, in a directory of its own, on a branch of its own. */
export const fork = z.looseObject({
  id: z.string(),
  name: z.string(),
  path: z.string(),
  branch: z.string(),
  /** The checkpoint that its work is compared with. */
  base: z.string().nullable(),
  head: z.string().nullable(),
  state: z.enum(["making", "ready", "removing", "gone"]),
  method: z.enum(["clone", "copy", "spare"]),
  files: count,
  bytes: count,
  bytesOnDisk: count,
  dependencies: z.array(
    z.looseObject({
      path: z.string(),
      how: z.enum(["cloned", "copied", "skipped"]),
      bytes: count,
      reason: z.string().nullable(),
    }),
  ),
  git: z.enum(["private", "none"]),
  /** The first of ten ports that are its own. */
  port: count.nullable(),
  run: z.string().nullable(),
  durationMs: count,
  createdAt: time,
  /** When it was put into the trash. */
  removedAt: time.nullable(),
});

/** A piece of a file that answers a question. */
const hit = z.looseObject({
  path: z.string(),
  startLine: count,
  endLine: count,
  text: z.string(),
  score: z.number(),
  /** SHA-256 of the file. */
  hash: z.string(),
  /** Null for the file on disk. */
  checkpoint: z.string().nullable(),
});

/** What a search in the files found, best first. */
export const found = z.looseObject({
  hits: z.array(hit),
  /** Files of the checkpoint whose content was never indexed. */
  notIndexed: count,
  embedder: z.string(),
});

/** What a sync of the search index found. */
export const synced = z.looseObject({ checked: count, reindexed: count, removed: count, skipped: count });

/** The files of the search index. */
export const indexedFiles = z.looseObject({
  files: z.array(z.looseObject({ path: z.string(), hash: z.string() })),
});

/** What became of files that were to be indexed. */
export const indexing = z.looseObject({
  indexed: z.array(z.looseObject({ path: z.string(), chunks: count, unchanged: z.boolean() })),
});

/** The search index of a workspace. */
export const searchIndex = z.looseObject({
  exists: z.boolean(),
  scope: z.enum(["off", "touched", "all"]),
  files: count,
  bytes: count,
  embedder: z.string().nullable(),
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

/** A piece of work that a request started. */
export const job = z.looseObject({
  id: z.string(),
  /** The command that does it. */
  work: z.string(),
  since: time,
  state: z.enum(["running", "done", "failed", "stopped"]),
  progress: z.looseObject({ done: count, total: count }).nullable(),
  /** What the command answered. */
  result: z.looseObject({}).nullable(),
  error: z.looseObject({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
});

/** How a remote stands, from what this machine knows. */
export const syncState = z.looseObject({
  remote: z.string(),
  state: z.enum(["synced", "queued", "offline", "problem"]),
  /** How many checkpoints wait to be sent. */
  queued: count,
  lastPushedAt: time.nullable(),
  lastPulledAt: time.nullable(),
  /** Why the last try did not end well. */
  problem: z.string().nullable(),
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
  /** `forks`: what forks take, apart from the store; `fullSince`: captures have failed since then for want of room. */
  disk: z.looseObject({ bytes: count, capBytes: count, forks: count, fullSince: time.nullable() }),
  damage: z.looseObject({ at: time, checkpoints: count, sound: count }).nullable(),
  checkpoints: count,
  newest: checkpoint.nullable(),
  canUndo: step.nullable(),
  canRedo: step.nullable(),
  branch: z.string(),
  /** What git says now; null outside a repository. */
  git: gitState.nullable(),
  forks: count,
  /** How many runs of agents have not ended. */
  runs: count,
  /** How each remote stands; none without remotes. */
  sync: z.array(syncState),
  openConflicts: count,
  undoDropped: count,
  pausedTurns: count,
  paused: pause.nullable(),
  warnings: z.array(z.string()),
});

/** How far a long piece of work has come; null when none is under way. */
export const workUnderWay = z.looseObject({
  running: z.looseObject({ since: time, done: count, total: count.nullable() }).nullable(),
});

/** A setting and where its value comes from. */
export const setting = z.looseObject({
  value: z.union([z.number(), z.string()]),
  source: z.enum(["default", "config.json"]),
});

/** The shape of a protected directory. */
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
