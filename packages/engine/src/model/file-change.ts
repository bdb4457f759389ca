/** File changes in the form that people read. */
import type { BytePath } from "./byte-path.ts";
import type { GapReason } from "./entry.ts";
import type { ThreadId } from "./ids.ts";

/** One changed file. */
export interface FileChange {
  readonly path: BytePath;
  /** The path before a rename. */
  readonly from?: BytePath;
  readonly type: "added" | "modified" | "deleted" | "renamed" | "mode";
  /** Null when the file is binary or too large to compare by lines. */
  readonly linesAdded: number | null;
  readonly linesDeleted: number | null;
  readonly binary: boolean;
  readonly tooLarge: boolean;
  /** Set when one of the two versions was not captured, so that they cannot be compared. */
  readonly gap?: GapReason;
  /** Set when the store has lost the content of one of the two versions: its lines cannot be counted. */
  readonly damaged?: true;
  /** Who changed it between the two states; only where that was asked for. */
  readonly authors?: { readonly threads: readonly ThreadId[]; readonly byHand: boolean };
  readonly attribution: "tool" | "shared" | "outside" | "merge" | null;
  /** Present only when requested; null for binary and too large files. */
  readonly diff?: string | null;
  /** Returns the bytes for `git apply`, in any encoding, binary and too large files included. */
  readonly patch?: () => Buffer;
  /** What a patch cannot express about this change, as a sentence. */
  readonly notInPatch?: string;
}

/** How many files were added, modified and deleted. */
export interface ChangeCounts {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
}

/**
 * How much of each changed file a comparison reports; `list`: the counts of a list that people wait for, which are left
 * out where hundreds of files differ.
 */
export type DiffDetail = "names" | "list" | "counts" | "text";
