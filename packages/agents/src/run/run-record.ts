/**
 * What running agents needs of the keeper of checkpoints: the records of runs, in the order of a run's life. The
 * package owns these interfaces; the engine's workspace has them.
 */

/** A process, precisely enough that a reused pid is not mistaken for it. */
export interface ProgramProcess {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
}

/** Facts about processes of this machine. */
export interface Processes {
  identify(pid: number): ProgramProcess;
  isAlive(process: ProgramProcess): boolean;
}

/** How a run ended. */
export type RunEnd = "done" | "failed" | "timed-out" | "over-budget" | "stopped" | "interrupted" | "lost";

/** Tokens as an agent reported them; null where it did not. */
export interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  readonly total: number | null;
}

/** What a run may use at most; null means no limit. */
export interface RunLimits {
  readonly timeoutMs: number | null;
  readonly maxCost: number | null;
  readonly maxTokens: number | null;
}

/** Where a run's output goes. */
export interface RunFiles {
  readonly stdout: string;
  readonly stderr: string;
}

/** A run as it is recorded. */
export interface RunRecord {
  readonly id: string;
  readonly batch: string;
  readonly fork: string | null;
  readonly branch: string;
  readonly thread: string | null;
  readonly agent: string;
  readonly role: string;
  readonly command: readonly string[];
  readonly prompt: string;
  readonly limits: RunLimits;
  readonly status: "queued" | "starting" | "running" | RunEnd;
  readonly process: ProgramProcess | null;
  readonly watcher: ProgramProcess | null;
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly cost: number | null;
  readonly tokens: Tokens | null;
  readonly session: string | null;
  readonly log: (RunFiles & { readonly truncated: boolean }) | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** What the end of a run leaves to record. */
export interface RunOutcome {
  readonly status: RunEnd;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason: string | null;
  readonly cost: number | null;
  readonly tokens: Tokens | null;
  readonly session: string | null;
  readonly truncated: boolean;
  readonly escaped?: readonly string[];
}

/** A run to be added. */
export interface RunRequest {
  readonly batch?: string;
  readonly thread?: string;
  readonly agent: string;
  readonly role: string;
  readonly command: readonly string[];
  readonly prompt: string;
  readonly limits: RunLimits;
}

/** The records of runs. */
export interface RunKeeper extends Processes {
  /** Where output is kept: a directory for the user alone; null where there is none. */
  readonly directory: string | null;
  list(options?: { batch?: string; alive?: boolean }): Promise<RunRecord[]>;
  find(ref: string): Promise<RunRecord>;
  add(request: RunRequest): Promise<RunRecord>;
  begin(id: string, files: RunFiles): Promise<RunRecord>;
  started(id: string, process: ProgramProcess): Promise<void>;
  progress(
    id: string,
    progress: { session?: string; cost?: number | null; tokens?: Tokens | null; lines: number },
  ): Promise<void>;
  ending(id: string, reason: string): Promise<void>;
  takeOver(id: string): Promise<boolean>;
  /** Left out where nothing is known of the original while forks are worked in. */
  escapedDuring?(id: string): Promise<string[]>;
  end(id: string, outcome: RunOutcome): Promise<RunRecord>;
}

/** The working copy that an agent works in. */
export interface RunPlace {
  readonly root: string;
  readonly runs: RunKeeper;
}
