/** The part of a workspace that tells what happened in it, as people think of it: turns, not checkpoints. */
import type { FileDiff } from "../../model/file-diff.ts";
import type { Diff, DiffOptions } from "../../queries/answers.ts";
import type { OneFileOptions } from "../../queries/compare-file.ts";
import type { ChangePart } from "../../queries/timeline.ts";
import type { TimelineOptions, TimelinePage, TimelineRow, TimelineStep } from "../../model/timeline.ts";

/** What happened here, newest first; `workspace.timeline`. */
export interface Timeline {
  /** One page of rows. The first one also has the number of all rows and of those of each day. */
  rows(options?: TimelineOptions): Promise<TimelinePage>;
  /**
   * The row of a reference: "T3", "@turn", or any checkpoint, also one inside a turn. Throws `CHECKPOINT_NOT_FOUND`.
   */
  row(ref: string): Promise<TimelineRow>;
  /**
   * What a row itself changed, file by file, as an undo of it would take it out: other work between the states around it
   * is not part of it.
   */
  changes(
    ref: string,
    options: Pick<DiffOptions, "paths" | "detail"> & ChangePart,
  ): Promise<Pick<Diff, "files" | "summary">>;
  /** One file of what a row itself changed, line by line; null where it did not change the file. */
  changedFile(ref: string, options: OneFileOptions & ChangePart): Promise<FileDiff | null>;
  /** The tool calls of a turn that changed something, oldest first; none for other rows. */
  steps(ref: string): Promise<TimelineStep[]>;
}
