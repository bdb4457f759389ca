/** What changed in one file between two checkpoints, or between a checkpoint and the disk? */
import type { Context } from "../capture/context.ts";
import { changeRows } from "../diff/change-rows.ts";
import { fileDiff } from "../diff/file-diff.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { FileDiff, FileDiffOptions } from "../model/file-diff.ts";
import type { CheckpointRef } from "../model/ids.ts";
import { changesBetween } from "./compare-states.ts";

/** Which file of which two states is compared. */
export interface CompareFileOptions extends FileDiffOptions {
  readonly from: CheckpointRef;
  /** undefined = the disk as it is now */
  readonly to?: CheckpointRef;
  /** Of a moved file the new path, or the old one. */
  readonly path: BytePath;
}

/** Null when both states have the same at this path. */
export function compareFile(context: Context, options: CompareFileOptions): FileDiff | null {
  const { edits, objects } = changesBetween(context, options);
  const rows = changeRows(edits);
  const row =
    rows.find(({ path }) => path === options.path) ??
    rows.find(({ formerPath }) => formerPath === options.path);
  return row === undefined ? null : fileDiff(objects, row, options);
}
