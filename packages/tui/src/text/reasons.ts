/**
 * Why a path is a gap, in doubt, kept or in conflict, in words. Programs get the engine's codes; a test of the command
 * line, which knows the engine, proves that none is missing.
 */
const GAPS = {
  "too-large": "larger than the limit for a file",
  unreadable: "it cannot be read",
  special: "a socket, pipe or device",
  limit: "the checkpoint had reached its limit of new bytes",
  forgotten: "permanently forgotten",
};

const DOUBTS = {
  late: "captured after the agent had continued",
  unstable: "written to while it was captured",
  missed: "changed unnoticed: this version may be an older one",
  "mid-restore": "captured while a restore was at work",
};

const KEPT = {
  "not covered by the target's rules": "that checkpoint did not cover it, so it may have existed",
  "the target has a gap here": "that checkpoint could not capture it",
  "not saved by the safety checkpoint": "it cannot be saved first",
  "it holds a git repository": "it holds a git repository",
  "it holds a workspace of its own": "it holds a workspace of its own",
  "it holds a mount point": "it holds a mount point",
  "it holds a linked git worktree": "it holds a linked git worktree",
  "it is a workspace of its own": "it is a workspace of its own now",
  "it is a mount point": "it is a mount point now",
  "it is a linked git worktree": "it is a linked git worktree now",
  "keep-new": "it came later (--keep-new)",
  "it was in this directory before the store was":
    "it was in this directory before this store was attached to it",
  "git ignores it": "it came later, and git ignores it",
  "git ignores it, and it was changed since": "git ignores it, and it was changed again since",
  "other work is in its place": "another thread's work is in its place, and that is left alone",
  "never captured or changed by Belay": "Belay never captures or changes it",
  "the directory is not empty": "the directory is not empty",
};

const CONFLICTS = {
  "changed differently meanwhile": "changed again since, in the same place",
  binary: "changed again since, and binary: it cannot be merged",
  "too large to merge": "changed again since, and too large to merge",
  "shared with another thread": "changed while several agents were at work",
  "changed while restoring": "a program wrote to it while files were put in place",
  "cannot be saved": "what is there now cannot be saved first",
};

/** The words by what they are reasons for. */
export const REASONS = { gap: GAPS, doubt: DOUBTS, kept: KEPT, conflict: CONFLICTS } as const;

const ALL: Readonly<Record<string, string>> = { ...GAPS, ...DOUBTS, ...KEPT, ...CONFLICTS };

/** The words for a reason; text that is no code stays as it is. */
export function reasonWords(reason: string): string {
  return Object.hasOwn(ALL, reason) ? ALL[reason]! : reason;
}
