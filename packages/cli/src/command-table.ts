/** Every command: its place in the help, its summary, and how to load it. */
import type { Command } from "./call/command.ts";

/** A row of the table of commands. */
export interface CommandEntry {
  /** undefined = internal, not in the help */
  readonly group: "Start" | "Look" | "Go back" | "Name and share" | "Upkeep" | undefined;
  readonly summary: string;
  /**
   * `used`: the resident process runs the command, if there is one. `wanted`: and if there is none, the
   * command starts one for the next time. Such a command asks no question and leaves nothing open.
   */
  readonly resident?: "used" | "wanted";
  /** It looks at the files. */
  readonly looks?: true;
  /** People read its output: what is longer than the window goes through a pager. `dry-run`: only its preview. */
  readonly paged?: "always" | "dry-run";
  load(): Promise<{ readonly default: Command }>;
}

/** What the shells' scripts call; it is in no help. */
export const COMPLETE = "complete";

/** All commands by name. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: { group: "Start", summary: "protect this directory", load: () => import("./commands/init.ts") },
  run: {
    group: "Start",
    summary: "run a command as one step that can be undone",
    load: () => import("./commands/run.ts"),
  },
  agents: {
    group: "Start",
    summary: "run agents, each in a fork of its own, and look after them",
    load: () => import("./commands/agents.ts"),
  },
  fix: {
    group: "Start",
    summary: "let an agent fix what a review finds, attempt by attempt",
    load: () => import("./commands/fix.ts"),
  },
  checkpoint: {
    group: "Start",
    summary: "take a checkpoint of the present state",
    resident: "wanted",
    looks: true,
    load: () => import("./commands/checkpoint.ts"),
  },
  demo: {
    group: "Start",
    summary: "take a 20-second tour on a throw-away project",
    load: () => import("./commands/demo.ts"),
  },

  status: {
    group: "Look",
    summary: "show what is protected, what changed and what undo would do",
    resident: "used",
    looks: true,
    paged: "always",
    load: () => import("./commands/status.ts"),
  },
  timeline: {
    group: "Look",
    summary: "open the timeline in the terminal",
    load: () => import("./commands/timeline.ts"),
  },
  log: {
    group: "Look",
    summary: "show what happened: turns, changes by hand, restores",
    resident: "used",
    paged: "always",
    load: () => import("./commands/log.ts"),
  },
  list: {
    group: "Look",
    summary: "list checkpoints, newest first",
    resident: "used",
    paged: "always",
    load: () => import("./commands/list.ts"),
  },
  show: {
    group: "Look",
    summary: "show what the last turn did, or any turn or checkpoint",
    paged: "always",
    load: () => import("./commands/show.ts"),
  },
  diff: {
    group: "Look",
    summary: "show the lines of a turn, or compare checkpoints and the disk",
    paged: "always",
    load: () => import("./commands/diff.ts"),
  },
  cat: {
    group: "Look",
    summary: "print a file as it was at a checkpoint",
    paged: "always",
    load: () => import("./commands/cat.ts"),
  },
  files: {
    group: "Look",
    summary: "list the files of a checkpoint",
    paged: "always",
    load: () => import("./commands/files.ts"),
  },
  find: {
    group: "Look",
    summary: "find the pieces of files that answer a question",
    load: () => import("./commands/find.ts"),
  },
  index: {
    group: "Look",
    summary: "show, sync or rebuild the index that find searches",
    load: () => import("./commands/index.ts"),
  },
  search: {
    group: "Look",
    summary: "find checkpoints by their words, or when a text or file was there",
    paged: "always",
    load: () => import("./commands/search.ts"),
  },

  threads: {
    group: "Look",
    summary: "list threads (conversations with agents)",
    paged: "always",
    load: () => import("./commands/threads.ts"),
  },
  thread: {
    group: "Look",
    summary: "show one thread, its messages and their checkpoints",
    paged: "always",
    load: () => import("./commands/thread.ts"),
  },

  ui: {
    group: "Look",
    summary: "open the page in a browser",
    load: () => import("./commands/ui.ts"),
  },

  undo: {
    group: "Go back",
    summary: "undo the last step, or its changes of some files",
    paged: "dry-run",
    load: () => import("./commands/undo.ts"),
  },
  redo: {
    group: "Go back",
    summary: "redo what was undone",
    paged: "dry-run",
    load: () => import("./commands/redo.ts"),
  },
  restore: {
    group: "Go back",
    summary: "bring back the files of a checkpoint, or only some of them",
    paged: "dry-run",
    load: () => import("./commands/restore.ts"),
  },
  revert: {
    group: "Go back",
    summary: "take out any one step and keep what came later",
    paged: "dry-run",
    load: () => import("./commands/revert.ts"),
  },
  replay: {
    group: "Go back",
    summary: "list the turns of a thread, and go back to where one began",
    paged: "dry-run",
    load: () => import("./commands/replay.ts"),
  },
  branch: {
    group: "Go back",
    summary: "list, make, rename or delete branches",
    load: () => import("./commands/branch.ts"),
  },
  ghost: {
    group: "Go back",
    summary: "show checkpoints to git, as commits below refs/belay",
    load: () => import("./commands/ghost.ts"),
  },
  switch: {
    group: "Go back",
    summary: "go to another branch, with its files",
    paged: "dry-run",
    load: () => import("./commands/switch.ts"),
  },
  fork: {
    group: "Go back",
    summary: "make, list or remove forks: copies of the directory to work in",
    load: () => import("./commands/fork.ts"),
  },
  merge: {
    group: "Go back",
    summary: "bring the work of other branches into the files here",
    paged: "dry-run",
    load: () => import("./commands/merge.ts"),
  },
  conflicts: {
    group: "Look",
    summary: "show what merges wait for",
    paged: "always",
    load: () => import("./commands/conflicts.ts"),
  },
  resolve: {
    group: "Go back",
    summary: "decide a conflict of a merge",
    load: () => import("./commands/resolve.ts"),
  },
  approve: {
    group: "Go back",
    summary: "approve the present state",
    paged: "dry-run",
    load: () => import("./commands/approve.ts"),
  },
  reset: {
    group: "Go back",
    summary: "go back to the approved state",
    paged: "dry-run",
    load: () => import("./commands/reset.ts"),
  },

  note: {
    group: "Name and share",
    summary: "write a note on a checkpoint",
    load: () => import("./commands/note.ts"),
  },
  rename: {
    group: "Name and share",
    summary: "name a checkpoint",
    load: () => import("./commands/rename.ts"),
  },
  tag: { group: "Name and share", summary: "tag a checkpoint", load: () => import("./commands/tag.ts") },
  untag: { group: "Name and share", summary: "remove a tag", load: () => import("./commands/untag.ts") },
  export: {
    group: "Name and share",
    summary: "export a checkpoint, or a whole thread",
    load: () => import("./commands/export.ts"),
  },
  import: {
    group: "Name and share",
    summary: "take over the history that another program kept",
    load: () => import("./commands/import.ts"),
  },
  remote: {
    group: "Name and share",
    summary: "keep the history on a server, encrypted: list, add, remove, verify remotes",
    load: () => import("./commands/remote.ts"),
  },
  push: {
    group: "Name and share",
    summary: "send to a remote what it does not have yet",
    load: () => import("./commands/push.ts"),
  },
  share: {
    group: "Name and share",
    summary: "keep a checkpoint for the members of a space, or make a link to it",
    load: () => import("./commands/share.ts"),
  },
  pull: {
    group: "Name and share",
    summary: "look at the lines of other machines",
    load: () => import("./commands/pull.ts"),
  },
  sync: {
    group: "Name and share",
    summary: "push, then pull",
    load: () => import("./commands/sync.ts"),
  },
  open: {
    group: "Name and share",
    summary: "fetch a checkpoint of another machine and show it",
    load: () => import("./commands/open.ts"),
  },
  handoff: {
    group: "Name and share",
    summary: "hand a thread to another machine, or go on here with one",
    load: () => import("./commands/handoff.ts"),
  },
  clone: {
    group: "Name and share",
    summary: "make a protected directory of what a remote has",
    load: () => import("./commands/clone.ts"),
  },

  doctor: {
    group: "Upkeep",
    summary: "check that everything is in order",
    paged: "always",
    load: () => import("./commands/doctor.ts"),
  },
  verify: {
    group: "Upkeep",
    summary: "verify that the store is sound",
    load: () => import("./commands/verify.ts"),
  },
  stats: {
    group: "Upkeep",
    summary: "show counts and sizes",
    paged: "always",
    load: () => import("./commands/stats.ts"),
  },
  prune: {
    group: "Upkeep",
    summary: "drop old checkpoints by policy",
    paged: "dry-run",
    load: () => import("./commands/prune.ts"),
  },
  gc: {
    group: "Upkeep",
    summary: "free space that no checkpoint needs",
    paged: "dry-run",
    load: () => import("./commands/gc.ts"),
  },
  forget: {
    group: "Upkeep",
    summary: "purge content permanently",
    paged: "dry-run",
    load: () => import("./commands/forget.ts"),
  },
  config: {
    group: "Upkeep",
    summary: "show or change settings",
    paged: "always",
    load: () => import("./commands/config.ts"),
  },
  workspaces: {
    group: "Upkeep",
    summary: "list all protected directories",
    paged: "always",
    load: () => import("./commands/workspaces.ts"),
  },
  attach: {
    group: "Upkeep",
    summary: "attach a moved project to its store",
    load: () => import("./commands/attach.ts"),
  },
  pause: {
    group: "Upkeep",
    summary: "pause automatic captures",
    load: () => import("./commands/pause.ts"),
  },
  resume: {
    group: "Upkeep",
    summary: "end a pause",
    load: () => import("./commands/resume.ts"),
  },
  start: {
    group: "Upkeep",
    summary: "start the resident process: captures in milliseconds, the API",
    load: () => import("./commands/start.ts"),
  },
  stop: {
    group: "Upkeep",
    summary: "stop the resident process",
    load: () => import("./commands/stop.ts"),
  },
  serve: {
    group: "Upkeep",
    summary: "run the API in the foreground, on a port of your choice",
    load: () => import("./commands/serve.ts"),
  },
  completion: {
    group: "Upkeep",
    summary: "complete commands, options and names in your shell",
    load: () => import("./commands/completion.ts"),
  },
  mcp: {
    group: "Start",
    summary: "run an MCP server on standard input and output",
    load: () => import("./commands/mcp.ts"),
  },
  hook: {
    group: undefined,
    summary: "handle one event of an agent's hook",
    load: () => import("./commands/hook.ts"),
  },
  "hook-worker": {
    group: undefined,
    summary: "what `hook` starts where there is no resident process",
    load: () => import("./commands/hook-worker.ts"),
  },
  "carry-out": {
    group: undefined,
    summary: "what the resident process starts for a plan of many files",
    load: () => import("./commands/carry-out.ts"),
  },
  resident: {
    group: undefined,
    summary: "what `start` starts",
    load: () => import("./commands/resident.ts"),
  },
  uninstall: {
    group: "Upkeep",
    summary: "stop protecting this directory",
    load: () => import("./commands/uninstall.ts"),
  },
};

/** Short names. */
const ALIASES: Readonly<Record<string, string>> = { st: "status", ls: "list" };

/** The full name of a command that may be given by its short one. */
export function fullName(name: string): string {
  return (Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined) ?? name;
}

/** The short names of a command. */
export function aliasesOf(name: string): string[] {
  return Object.keys(ALIASES).filter((alias) => ALIASES[alias] === name);
}

/** A command by its full or short name; undefined when there is none. */
export function findCommand(name: string): CommandEntry | undefined {
  const full = fullName(name);
  return Object.hasOwn(COMMANDS, full) ? COMMANDS[full] : undefined;
}

/** Names of other tools' commands and what they are called here. */
export const OTHER_WORDS: Readonly<Record<string, string>> = {
  history: "log",
  save: "checkpoint",
  commit: "checkpoint",
  snapshot: "checkpoint",
  rollback: "restore",
  rewind: "restore",
  checkout: "restore",
  rm: "forget",
  settings: "config",
  sessions: "threads",
  conversations: "threads",
  accept: "approve",
};
