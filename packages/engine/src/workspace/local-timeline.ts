/** What happened in a workspace of this process. */
import { findHappening } from "../history/find-happening.ts";
import type { FileDiff } from "../model/file-diff.ts";
import type { Diff, DiffOptions } from "../queries/answers.ts";
import type { OneFileOptions } from "../queries/compare-file.ts";
import type { TimelineOptions, TimelinePage, TimelineRow, TimelineStep } from "../model/timeline.ts";
import { Census } from "../queries/census.ts";
import { LineCounter } from "../queries/net-changes.ts";
import {
  readOwnChanges,
  readOwnFile,
  readRow,
  readSteps,
  readTimeline,
  type ChangePart,
  type TimelineMemory,
} from "../queries/timeline.ts";
import type { Timeline } from "./interface/timeline.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Timeline`, in terms of the layers below. */
export class LocalTimeline implements Timeline {
  readonly #runner: Runner;
  readonly #memory: TimelineMemory;

  constructor(runner: Runner) {
    this.#runner = runner;
    const { db, objects } = runner.context.store;
    this.#memory = { lines: new LineCounter(objects), census: new Census(db) };
  }

  async rows(options: TimelineOptions = {}): Promise<TimelinePage> {
    const read = () => readTimeline(this.#runner.context, options, this.#memory);
    return options.look === true ? this.#runner.look(read) : read();
  }

  async row(ref: string): Promise<TimelineRow> {
    const { context } = this.#runner;
    return readRow(context, findHappening(context, ref, "row"), this.#memory.lines);
  }

  async changes(
    ref: string,
    options: Pick<DiffOptions, "paths" | "detail"> & ChangePart,
  ): Promise<Pick<Diff, "files" | "summary">> {
    const { context } = this.#runner;
    return this.#runner.read(() => readOwnChanges(context, findHappening(context, ref, "row"), options));
  }

  async changedFile(ref: string, options: OneFileOptions & ChangePart): Promise<FileDiff | null> {
    const { context } = this.#runner;
    return this.#runner.read(() => readOwnFile(context, findHappening(context, ref, "row"), options));
  }

  async steps(ref: string): Promise<TimelineStep[]> {
    const { context, db } = this.#runner;
    return readSteps(db, findHappening(context, ref, "turn"), this.#memory.lines);
  }
}
