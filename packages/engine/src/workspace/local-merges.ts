/** Merging in a workspace of this process. */
import type { MergePreview } from "../model/merge.ts";
import {
  pathsToMerge,
  previewMerge,
  type MergeOptions,
  type MergeRequestSource,
} from "../queries/preview-merge.ts";
import type { Merges } from "./interface/merges.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Merges`, in terms of the layers below. */
export class LocalMerges implements Merges {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async preview(sources: readonly MergeRequestSource[], options: MergeOptions = {}): Promise<MergePreview> {
    const { context } = this.#runner;
    await options.syntax?.load(this.#runner.read(() => pathsToMerge(context, sources)));
    return this.#runner.look(() => previewMerge(context, sources, options));
  }
}
