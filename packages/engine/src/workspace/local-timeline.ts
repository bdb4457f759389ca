/** What happened in a workspace of this process. */
import { findHappening } from "../history/find-happening.ts";
import type { TimelineOptions, TimelinePage, TimelineRow, TimelineStep } from "../model/timeline.ts";
import { LineCounter } from "../queries/net-changes.ts";
import { readRow, readSteps, readTimeline } from "../queries/timeline.ts";
import type { Timeline } from "./interface/timeline.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Timeline`, in terms of the layers below. */
export class LocalTimeline implements Timeline {
  readonly #runner: Runner;
  readonly #lines: LineCounter;

  constructor(runner: Runner) {
    this.#runner = runner;
    this.#lines = new LineCounter(runner.context.store.objects);
  }

  async rows(options: TimelineOptions = {}): Promise<TimelinePage> {
    const read = () => readTimeline(this.#runner.context, options, this.#lines);
    return options.look === true ? this.#runner.look(read) : read();
  }

  async row(ref: string): Promise<TimelineRow> {
    const { context } = this.#runner;
    return readRow(context, findHappening(context, ref), this.#lines);
  }

  async steps(ref: string): Promise<TimelineStep[]> {
    const { context, db } = this.#runner;
    return readSteps(db, findHappening(context, ref), this.#lines);
  }
}
