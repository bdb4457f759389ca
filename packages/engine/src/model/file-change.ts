/** One changed file as people want to see it. */
import type { BytePath } from "./byte-path.ts";
import type { GapReason } from "./entry.ts";

export interface FileChange {
  readonly path: BytePath;
  /** The former path of a rename. */
  readonly from?: BytePath;
  readonly type: "added" | "modified" | "deleted" | "renamed" | "mode";
  /** null when the file is binary or too large to compare by lines. */
  readonly linesAdded: number | null;
  readonly linesDeleted: number | null;
  readonly binary: boolean;
  readonly tooLarge: boolean;
  /** One of the two versions was not captured, for this reason: they cannot be compared. */
  readonly gap?: GapReason;
  readonly attribution: "tool" | "shared" | "outside" | null;
  /** Only when asked for; null for binary and too large files. */
  readonly diff?: string | null;
  /** Makes the bytes that `git apply` takes: whatever the encoding, binary and too large files included. */
  readonly patch?: () => Buffer;
  /** What of the change no patch can hold, in words. */
  readonly notInPatch?: string;
}

/** Files by what became of them. */
export interface ChangeCounts {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
}

export type DiffDetail = "names" | "counts" | "text";
