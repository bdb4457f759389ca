/** Runs that were started together: as many at once as there are jobs, the others wait in their order. */
import type { RunRecord } from "../run/run-record.ts";
import type { AgentFacts } from "../run/agent-facts.ts";

/** A run that is over, and what the agent said last. */
export interface FinishedRun {
  readonly run: RunRecord;
  readonly facts: AgentFacts;
}

/** Brings branches together. The plan is the keeper's own. */
export interface MergeKeeper {
  plan(branches: readonly string[]): Promise<unknown>;
  apply(plan: never): Promise<{ readonly outcome: string }>;
}

/** Something that happened in a batch. */
export interface BatchEvent {
  readonly type: "agent_finished";
  readonly run: RunRecord;
}

/** Runs that were started together. */
export class Batch {
  /** As they were when they were added. */
  readonly runs: readonly RunRecord[];
  readonly #finished: Promise<FinishedRun[]>;
  readonly #order: RunRecord[] = [];
  readonly #stop: (id: string) => Promise<RunRecord>;
  readonly #merges: MergeKeeper | undefined;
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  constructor(
    runs: readonly RunRecord[],
    work: readonly (() => Promise<FinishedRun>)[],
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
  async merge({ order = "listed" }: { readonly order?: "listed" | "finished" } = {}): Promise<{
    readonly outcome: string;
  }> {
    const branches = await this.branches(order);
    if (this.#merges === undefined || branches.length === 0) return { outcome: "unchanged" };
    return this.#merges.apply((await this.#merges.plan(branches)) as never);
  }

  /** Each run as it ends. */
  async *events(): AsyncGenerator<BatchEvent> {
    for (let told = 0; ;) {
      while (told < this.#order.length) yield { type: "agent_finished", run: this.#order[told++]! };
      if (this.#isOver) return;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async #runAll(work: readonly (() => Promise<FinishedRun>)[], jobs: number): Promise<FinishedRun[]> {
    const results: FinishedRun[] = [];
    let next = 0;
    const worker = async () => {
      while (next < work.length) {
        const index = next++;
        results[index] = await work[index]!();
        this.#order.push(results[index].run);
        this.#wake();
      }
    };
    await Promise.all(Array.from({ length: Math.min(jobs, work.length) }, worker));
    return results;
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
