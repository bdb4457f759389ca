/** Runs that were started together: as many at once as there are jobs, the others wait in their order. */
import { checkWith, type CheckRun } from "./merge-check.ts";
import type { RunRecord, Tokens } from "../run/run-record.ts";
import type { AgentFacts } from "../run/agent-facts.ts";

/** A run that is over, and what the agent said last. */
export interface FinishedRun {
  readonly run: RunRecord;
  readonly facts: AgentFacts;
}

/** Brings branches together. The plan is the keeper's own. */
export interface MergeKeeper {
  planMerge(sources: readonly string[], options?: MergeMeans): Promise<unknown>;
  merge(plan: never): Promise<BatchOutcome>;
  readonly merges: { planRest(merge: string, options?: MergeMeans): Promise<unknown> };
  conflicts(merge: string): Promise<readonly { readonly state: string }[]>;
}

/** What looks at the result of a merge before a file changes. */
interface MergeMeans {
  readonly programs?: { readonly check: (directory: string) => Promise<CheckRun> };
}

/** What a merge did, as its keeper tells it. */
export interface BatchOutcome {
  readonly outcome: string;
  /** Left out where there was nothing to merge. */
  readonly merge?: { readonly id: string; readonly state: string };
}

/** How a batch is merged. */
export interface BatchMerge {
  /** As the runs were listed, or as they finished; defaults to "listed". */
  readonly order?: "listed" | "finished";
  /** A program and its arguments that tries the result in a scratch copy: a source that makes it fail is held back. */
  readonly check?: readonly string[];
  /** Decides what it can of the conflicts of a merge; where none is left open, the rest is merged too. */
  readonly merger?: (merge: string) => Promise<unknown>;
}

/** Something that happened to a run of a batch. */
export type BatchEvent =
  | { readonly type: "agent_started" | "agent_finished"; readonly run: RunRecord }
  | ({ readonly type: "agent_progress"; readonly run: RunRecord } & Progress);

/** What an agent reported so far; null where it did not. */
export interface Progress {
  readonly cost: number | null;
  readonly tokens: Tokens | null;
  readonly lines: number;
}

/** Tells the readers of a batch's events. */
export type Tell = (event: BatchEvent) => void;

/** The work of one run, from its beginning to its end. */
export type RunWork = (tell: Tell) => Promise<FinishedRun>;

/** Runs that were started together. */
export class Batch {
  /** As they were when they were added. */
  readonly runs: readonly RunRecord[];
  readonly #finished: Promise<FinishedRun[]>;
  readonly #order: RunRecord[] = [];
  readonly #stop: (id: string) => Promise<RunRecord>;
  readonly #merges: MergeKeeper | undefined;
  readonly #waiting = new Set<() => void>();
  readonly #told: BatchEvent[] = [];
  #isOver = false;

  constructor(
    runs: readonly RunRecord[],
    work: readonly RunWork[],
    {
      jobs,
      stop,
      merges,
    }: { jobs: number; stop: (id: string) => Promise<RunRecord>; merges?: MergeKeeper | undefined },
  ) {
    this.runs = runs;
    this.#merges = merges;
    this.#stop = stop;
    this.#finished = this.#runAll(work, Math.max(1, jobs));
    // a failure reaches the one that waits for the end
    this.#finished.catch(() => undefined).finally(() => this.#over());
  }

  /** What all runs share. */
  get id(): string {
    return this.runs[0]!.batch;
  }

  /** The runs that have ended, in the order in which they did. */
  get inOrder(): readonly RunRecord[] {
    return this.#order;
  }

  /** Waits for all of them; in the order in which they were listed. */
  finished(): Promise<FinishedRun[]> {
    return this.#finished;
  }

  /** Ends all of them and every process they started. */
  async stop(): Promise<void> {
    await Promise.all(this.runs.map(({ id }) => this.#stop(id)));
  }

  /** The branches of the runs that are done: as they were listed, or in the order in which they finished. */
  async branches(order: "listed" | "finished" = "listed"): Promise<string[]> {
    const listed = (await this.finished()).map(({ run }) => run);
    const runs = order === "listed" ? listed : this.#order;
    return runs.filter(({ status, fork }) => status === "done" && fork !== null).map(({ branch }) => branch);
  }

  /** Merges what the runs that are done did, as one step; a branch with a conflict is held back whole. */
  async merge({ order = "listed", check, merger }: BatchMerge = {}): Promise<BatchOutcome> {
    const branches = await this.branches(order);
    const keeper = this.#merges;
    if (keeper === undefined || branches.length === 0) return { outcome: "unchanged" };
    const means = check === undefined ? {} : { programs: { check: checkWith(check) } };
    const first = await keeper.merge((await keeper.planMerge(branches, means)) as never);
    if (merger === undefined || first.merge?.state !== "open") return first;
    const { id } = first.merge;
    await merger(id);
    if ((await keeper.conflicts(id)).some(({ state }) => state === "open")) return first;
    return keeper.merge((await keeper.merges.planRest(id, means)) as never);
  }

  /** What happens to the runs, from the first on: each start, what an agent reports on its way, each end. */
  async *events(): AsyncGenerator<BatchEvent> {
    for (let told = 0; ;) {
      while (told < this.#told.length) yield this.#told[told++]!;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async #runAll(work: readonly RunWork[], jobs: number): Promise<FinishedRun[]> {
    const results: FinishedRun[] = [];
    let next = 0;
    const worker = async () => {
      while (next < work.length) {
        const index = next++;
        results[index] = await work[index]!((event) => this.#tell(event));
        this.#order.push(results[index].run);
        this.#tell({ type: "agent_finished", run: results[index].run });
      }
    };
    await Promise.all(Array.from({ length: Math.min(jobs, work.length) }, worker));
    return results;
  }

  #tell(event: BatchEvent): void {
    this.#told.push(event);
    this.#wake();
  }

  #over(): void {
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
