/** The part of a workspace that brings work from elsewhere into the working copy. */
import type { MergePreview } from "../../model/merge.ts";
import type { MergeOptions, MergeRequestSource } from "../../queries/preview-merge.ts";

/** Merging; `workspace.merges`. */
export interface Merges {
  /**
   * What merging the sources into the files as they are now would do, source by source in the order given: what is
   * certain, what conflicts and why. Nothing is stored or written.
   */
  preview(sources: readonly MergeRequestSource[], options?: MergeOptions): Promise<MergePreview>;
}
