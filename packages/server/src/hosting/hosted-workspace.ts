/** An open workspace in the resident process. Work on its files is done one piece at a time. */
import type { Workspace } from "@belay/engine";

/** A workspace and the order of what happens to it. */
export class HostedWorkspace {
  readonly workspace: Workspace;
  #last: Promise<unknown> = Promise.resolve();
  #busy = 0;
  usedAt: number;

  constructor(workspace: Workspace, now: number) {
    this.workspace = workspace;
    this.usedAt = now;
  }

  /** Runs `work` when all earlier work is done. */
  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#busy += 1;
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.#busy -= 1;
    }
  }

  /** Runs work that takes long beside the other work; the workspace stays open meanwhile. */
  async beside<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
    }
  }

  get isBusy(): boolean {
    return this.#busy > 0;
  }
}
