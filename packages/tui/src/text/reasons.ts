/**
 * Why a path is a gap, in doubt, kept or in conflict, in words. Programs get the engine's codes; a test of the command
 * line, which knows the engine, proves that none is missing.
 */
import { size } from "./quantity.ts";
import { nearTime } from "./relative-time.ts";
import { visibleLine } from "./visible.ts";

const GAPS = {
  "too-large": "larger than the limit for a file",
  unreadable: "it cannot be read",
  special: "a socket, pipe or device",
  limit: "the checkpoint had reached its limit of new bytes",
  forgotten: "permanently forgotten",
  withheld: "its owner keeps it at home",
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
  "the merge would not parse": "the merge would not parse",
  "shared with another thread": "changed while several agents were at work",
  "changed while restoring": "a program wrote to it while files were put in place",
  "cannot be saved": "what is there now cannot be saved first",
};

/** The present limits: for one file, and for what is new in a checkpoint. */
export interface CaptureLimits {
  readonly fileBytes: number;
  readonly checkpointBytes: number;
}

/** Why a path was not captured: `1.4 GiB, over the limit of 64 MiB (limits.fileBytes)`. */
export function gapWords(
  { reason, size: bytes }: { readonly reason: string; readonly size: number },
  limits: CaptureLimits,
): string {
  const why = overLimit(reason, bytes, limits) ?? reasonWords(reason);
  return bytes > 0 ? `${size(bytes)}, ${why}` : why;
}

/** The same for a line that has little room: `not captured: over 64 MiB`. */
export function shortGapWords(
  { reason, size: bytes }: { readonly reason: string; readonly size: number },
  { fileBytes }: CaptureLimits,
): string {
  if (reason !== "too-large" || bytes <= fileBytes) return reasonWords(reason);
  return `not captured: over ${size(fileBytes)}`;
}

/** A limit that was raised since is not the one that the file was over. */
function overLimit(reason: string, bytes: number, limits: CaptureLimits): string | undefined {
  if (reason === "too-large")
    return bytes > limits.fileBytes
      ? `over the limit of ${size(limits.fileBytes)} (limits.fileBytes)`
      : `over the limit of then (limits.fileBytes, now ${size(limits.fileBytes)})`;
  if (reason !== "limit") return undefined;
  return `${GAPS.limit} (limits.checkpointBytes, now ${size(limits.checkpointBytes)})`;
}

/** The words by what they are reasons for. */
export const REASONS = { gap: GAPS, doubt: DOUBTS, kept: KEPT, conflict: CONFLICTS } as const;

const ALL: Readonly<Record<string, string>> = { ...GAPS, ...DOUBTS, ...KEPT, ...CONFLICTS };

/** Who changed a path last, and when. `hand`: a person. `outside`: unknown, for an agent was about. */
export interface LatestChange {
  readonly by: "agent" | "hand" | "outside";
  readonly agent: string | null;
  readonly at: number | string;
}

/** Who was in the way, by why a path is in conflict: in a list, and as a sentence. */
const IN_THE_WAY: Readonly<Record<string, (by: string) => { short: string; long: string }>> = {
  "changed differently meanwhile": (by) => ({
    short: `the same lines, ${by}`,
    long: `The same lines were changed ${by}.`,
  }),
  whole: (by) => ({ short: `changed ${by}`, long: `It was changed ${by}.` }),
  binary: (by) => ({
    short: `binary, changed ${by}`,
    long: `It was changed ${by}, and is binary: it cannot be merged.`,
  }),
  "too large to merge": (by) => ({
    short: `too large to merge, changed ${by}`,
    long: `It was changed ${by}, and is too large to merge.`,
  }),
  "the merge would not parse": (by) => ({
    short: "the merge would not parse",
    long: `It was changed ${by}, and the merge of both would not parse.`,
  }),
};

/** A path in conflict, as far as its words go. */
export interface WordedConflict {
  readonly reason: string;
  readonly latest?: LatestChange | undefined;
  readonly ours?: { readonly line: number | null } | undefined;
  readonly theirs?: { readonly line: number | null } | undefined;
}

/** Why a path is in conflict, and who changed it last: `the same lines, by you 10:47`. */
export function conflictWords({ latest, ...conflict }: WordedConflict, clock: number): string {
  const words = wordsFor(conflict);
  if (words === undefined || latest === undefined) return visibleLine(reasonWords(conflict.reason));
  return words(`${authorWords(latest)} ${nearTime(Number(new Date(latest.at)), clock)}`).short;
}

/** The same as a sentence: `The same lines were changed by you at 10:47.` */
export function conflictSentence({ latest, ...conflict }: WordedConflict, clock: number): string {
  const words = wordsFor(conflict);
  if (words === undefined || latest === undefined) return sentence(visibleLine(reasonWords(conflict.reason)));
  const time = nearTime(Number(new Date(latest.at)), clock);
  return words(`${authorWords(latest)} ${/^\d\d:/.test(time) ? "at " : ""}${time}`).long;
}

/** A side without lines, such as a file that would go, has no lines in common with the other. */
function wordsFor({ reason, ours, theirs }: Omit<WordedConflict, "latest">) {
  const isWhole = ours?.line === null || theirs?.line === null;
  const key = isWhole && reason === "changed differently meanwhile" ? "whole" : reason;
  return Object.hasOwn(IN_THE_WAY, key) ? IN_THE_WAY[key] : undefined;
}

/** Words that begin like a sentence and end like one. */
export function sentence(words: string): string {
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}

function authorWords({ by, agent }: LatestChange): string {
  if (by === "hand") return "by you";
  return by === "outside" ? "outside any agent" : `by ${visibleLine(agent ?? "")}`;
}

/** The words for a reason; text that is not a code stays as it is. */
export function reasonWords(reason: string): string {
  return Object.hasOwn(ALL, reason) ? ALL[reason]! : reason;
}
