/** Pieces of work that a request starts and does not wait for. What came of the newest ones is remembered. */
import { randomUUID } from "node:crypto";
import { reportError } from "@belay/protocol/errors";
import type { BackgroundWork } from "./background-work.ts";

/** One of them. */
interface Job {
  readonly id: string;
  readonly directory: string;
  readonly words: readonly string[];
  readonly since: number;
  state: "running" | "done" | "failed" | "stopped";
  result: Readonly<Record<string, unknown>> | null;
  error: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

/** As many are remembered. */
const REMEMBERED = 100;

/** The jobs of one process. */
export class Jobs {
  readonly #work: BackgroundWork;
  readonly #clock: () => number;
  readonly #jobs = new Map<string, Job>();

  constructor(work: BackgroundWork, clock: () => number) {
    this.#work = work;
    this.#clock = clock;
  }

  /** Starts a command on a directory; the same one under way is not started twice. */
  start(directory: string, words: readonly string[]) {
    const job: Job = {
      id: randomUUID(),
      directory,
      words,
      since: this.#clock(),
      state: "running",
      result: null,
      error: null,
    };
    this.#jobs.set(job.id, job);
    if (this.#jobs.size > REMEMBERED) this.#jobs.delete(this.#jobs.keys().next().value!);
    this.#work.run(directory, words).then(
      // one that ended before it could be stopped is done
      (result) => void Object.assign(job, { state: "done" as const, result }),
      (error: unknown) => {
        if (job.state === "stopped") return;
        const { code, message, hint } = reportError(error, { kind: "api" });
        Object.assign(job, { state: "failed" as const, error: { code, message, hint } });
      },
    );
    return this.#shown(job);
  }

  /** Stops a job that is under way; undefined when there is none of that id. */
  stop(id: string) {
    const job = this.#jobs.get(id);
    if (job?.state === "running") {
      job.state = "stopped";
      this.#work.stop(job.directory, job.words);
    }
    return this.find(id);
  }

  /** A job as it stands; undefined when there is none of that id. */
  find(id: string) {
    const job = this.#jobs.get(id);
    return job === undefined ? undefined : this.#shown(job);
  }

  #shown({ id, directory, words, since, state, result, error }: Job) {
    const at = state === "running" ? this.#work.underWay(directory, words[0]!) : undefined;
    const progress = at?.total === undefined ? null : { done: at.done ?? 0, total: at.total };
    return { id, work: words[0]!, since: new Date(since).toISOString(), state, progress, result, error };
  }
}
