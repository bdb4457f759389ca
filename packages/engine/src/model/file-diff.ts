/** The change of one file, line by line, as data. */
import type { GapReason } from "./entry.ts";
import type { FileChange } from "./file-change.ts";

/** One line of a hunk. */
export interface DiffLine {
  /** " " stands on both sides, "-" only on the old one, "+" only on the new one. */
  readonly type: " " | "+" | "-";
  /** Without its "\n"; U+FFFD where the bytes are not UTF-8. */
  readonly text: string;
  /** Its number on each side, from 1; null where that side lacks it. */
  readonly old: number | null;
  readonly new: number | null;
  /** Set on the last line of a file that does not end with a newline. */
  readonly noNewline?: true;
}

/** Nearby changes of a file with the unchanged lines around them. */
export interface DiffHunk {
  /** As in a patch; after the second `@@` comes the function that the hunk is in, where one is found. */
  readonly header: string;
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly DiffLine[];
}

/** An image's format and its size in pixels. */
export interface ImageSize {
  readonly format: "png" | "jpeg" | "gif" | "webp";
  readonly width: number;
  readonly height: number;
}

/** One of the two versions of a file. */
export interface FileSide {
  readonly kind: "file" | "symlink" | "gap";
  /** null for a gap */
  readonly mode: number | null;
  readonly size: number;
  /** null for a gap */
  readonly hash: string | null;
  /** Where a symbolic link leads. */
  readonly target?: string;
  /** Why a gap has no content. */
  readonly gap?: GapReason;
  readonly image?: ImageSize;
}

/** How one file is compared. */
export interface FileDiffOptions {
  /** Unchanged lines around each change. */
  readonly context?: number;
  /** "ignore": lines that differ in white space only are the same. */
  readonly whitespace?: "exact" | "ignore";
  /** Also files that are too large for an ordinary diff, and all of a long one. */
  readonly large?: boolean;
}

/** The change of one file. */
export interface FileDiff {
  readonly file: FileChange;
  /** null where the file was not there */
  readonly before: FileSide | null;
  readonly after: FileSide | null;
  /** Empty for binary and too large files, and where only the mode or the name changed. */
  readonly hunks: readonly DiffHunk[];
  /** How many unchanged lines follow the last hunk. */
  readonly below: number;
  /** The diff is long, and the hunks are only its beginning. */
  readonly truncated: boolean;
}
