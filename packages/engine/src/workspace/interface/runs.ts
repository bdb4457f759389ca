/** The part of a workspace that records runs: programs of agents that Belay starts, one turn each. */
import type { ProcessIdentity } from "../../model/process-identity.ts";
import type { Run, RunLog, RunProgress, RunRequest, RunResult } from "../../model/run.ts";

/** Records of runs; `workspace.runs`. The one that starts the programs calls these in their order. */
export interface Runs {
  /** Where the output of runs is kept, below `$BELAY_HOME`; null for a store in memory. */
  readonly directory: string | null;
  /** A running process, precisely enough that a reused pid is not mistaken for it. */
  identify(pid: number): ProcessIdentity;
  isAlive(program: ProcessIdentity): boolean;
  /** The runs of all working copies, newest first; `alive`: only those that have not ended. */
  list(options?: {
    readonly batch?: string;
    readonly alive?: boolean;
    readonly limit?: number;
  }): Promise<Run[]>;
  /** A run by its id, the beginning of it, or its fork; throws `RUN_NOT_FOUND`. */
  find(ref: string): Promise<Run>;
  /** Adds a run that waits. */
  add(request: RunRequest): Promise<Run>;
  /** Takes the checkpoint before the agent and opens its turn, in this working copy. */
  begin(id: string, log: Omit<RunLog, "truncated">): Promise<Run>;
  /** Its program was started. */
  started(id: string, process: ProcessIdentity): Promise<void>;
  /** What the agent told on its way. */
  progress(id: string, progress: RunProgress): Promise<void>;
  /** Says why it is about to end; the first reason stays. */
  ending(id: string, reason: string): Promise<void>;
  /** This process watches it from now on; false when another one does. */
  takeOver(id: string): Promise<boolean>;
  /**
   * Paths here that changed since a run began elsewhere and that no turn changed: the run may have left its fork. What no
   * checkpoint has yet is captured.
   */
  escapedDuring(id: string): Promise<string[]>;
  /** Captures what the agent left and closes its turn, in this working copy; of a run that never began, and where `lost`, nothing is captured. */
  end(id: string, result: RunResult): Promise<Run>;
}
