/** One changed file as people want to see it. */
import type { BytePath } from "./byte-path.ts";

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
  readonly attribution: "tool" | "shared" | "outside" | null;
  /** Only when asked for; null for binary and too large files. */
  readonly diff?: string | null;
  /** The same as bytes that `git apply` takes, whatever the encoding. */
  readonly patch?: Buffer | null;
}

export type DiffDetail = "names" | "counts" | "text";
