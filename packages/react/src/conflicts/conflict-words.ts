/** Every word of the conflict view. */
import { quantity } from "../words.ts";

/** What stands for content without lines. */
const INSTEAD: Readonly<Record<string, string>> = {
  absent: "No file.",
  file: "Binary, or too large to show.",
  symlink: "A link.",
  directory: "A directory.",
  gap: "Not captured.",
};

/** Words that stay the same from conflict to conflict. */
export const CONFLICT_WORDS = {
  keepDisk: "Keep what is on disk",
  merge: "Take the merge by lines",
  mergeAbout: "Both changes, as they are. The file would not parse: repair it afterwards.",
  write: "Write it yourself",
  writeAbout: "Edit the result below.",
  writeFromDisk: "Edit below what is on disk.",
  since: {
    undo: "after the turn that is to be undone",
    redo: "after it was undone",
    revert: "after the turn that is to be undone",
    reset: "after what is to be reset",
  },
  mergedWhy: (verb: string) =>
    `The ${verb} and what was changed since are in different lines: both are in the result.`,
  asMerged: "Keep it as merged",
  asMergedAbout: "Both changes are in it: they are in different lines.",
  byLines: "other lines changed",
  onDisk: "On disk now",
  take: { undo: "Take the undo", redo: "Take the redo", revert: "Take the undo", reset: "Take the reset" },
  after: {
    undo: "After the undo",
    redo: "After the redo",
    revert: "After the undo",
    reset: "After the reset",
  },
  verb: { undo: "undo", redo: "redo", revert: "undo", reset: "reset" },
  instead: (kind: string) => INSTEAD[kind] ?? "No lines to show.",
  parses: "parses",
  broken: "does not parse",
  stays: "Nothing changes here: the file stays as it is on disk.",
  nothingYet: "Nothing has changed yet",
  written: "Nothing is written before you apply, and a safety checkpoint is taken first.",
  leave: "Leave everything as it is",
  decided: (done: number, all: number) => `${done} of ${all} decided.`,
} as const;

/** "lines 19 to 24", "line 19"; empty where there are none. */
export function placeWords(first: number | null, count: number): string {
  if (first === null) return "";
  return count > 1 ? `lines ${first} to ${first + count - 1}` : `line ${first}`;
}

/** "the same lines changed": a reason of the server, as a sentence. */
export function sentence(reason: string): string {
  return reason === "" ? "" : `${reason[0]!.toUpperCase()}${reason.slice(1)}.`;
}

/** How many conflicts there are: "2 conflicts". */
export function conflictCount(count: number): string {
  return quantity(count, "conflict");
}
