/** Forks of a workspace: further working copies, each in a directory and on a branch of its own. */
import type { Fork, ForkRequest, MadeFork, RemovedFork, RemoveForkOptions } from "../../model/fork.ts";

/** What a workspace can do with forks. A fork is named by its id, its name or its path. */
export interface Forks<Opened> {
  /** All forks, oldest first; with `removed` also those in the trash. */
  forks(options?: { removed?: boolean }): Promise<Fork[]>;
  /** One fork; throws `FORK_NOT_FOUND`. */
  findFork(ref: string): Promise<Fork>;
  /** Makes a fork; without a name it gets one. Throws `BRANCH_TAKEN`, `BRANCH_NAME_INVALID`, `FORK_LIMIT`. */
  fork(name?: string, request?: ForkRequest): Promise<MadeFork>;
  /** Opens a fork as a workspace with the same store; the caller closes it. */
  openFork(ref: string): Promise<Opened>;
  /** The variables for everything that is started in a fork. */
  forkEnvironment(ref: string): Promise<Record<string, string>>;
  /**
   * Captures everything in a fork and puts it into the trash. Throws `RUN_ALIVE` and `FORK_BUSY` while something is at
   * work there, and `FORK_UNCAPTURED` when it has what no checkpoint can hold.
   */
  removeFork(ref: string, options?: RemoveForkOptions): Promise<RemovedFork>;
  /** Brings a fork back from the trash. */
  restoreFork(ref: string): Promise<Fork>;
}
