/** Runs as other programs see them: executions of agents' programs by Belay. */
import type { ChangeCounts } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { ProcessIdentity } from "./process-identity.ts";

/**
 * Where a run is. `interrupted`: its program ended and no process of Belay was there to see how. `lost`: the directory
 * it worked in is gone, so that nothing could be captured.
 */
export type RunStatus = "queued" | "starting" | "running" | RunEnd;

/** How a run ended. */
export type RunEnd = "done" | "failed" | "timed-out" | "over-budget" | "stopped" | "interrupted" | "lost";

/** Tokens as an agent reported them; null where it did not. */
export interface RunTokens {
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

/** Where a run's output is. */
export interface RunLog {
  readonly stdout: string;
  readonly stderr: string;
  /** True when more was written than is kept. */
  readonly truncated: boolean;
}

/** One execution of an agent's program. */
export interface Run {
  readonly id: string;
  /** Runs that were started together have the same. */
  readonly batch: string;
  /** The fork it works in; null in place. */
  readonly fork: string | null;
  readonly branch: string;
  /** Null until it begins. */
  readonly thread: ThreadId | null;
  readonly agent: string;
  readonly role: string;
  readonly command: readonly string[];
  readonly prompt: string;
  readonly limits: RunLimits;
  readonly status: RunStatus;
  readonly process: ProcessIdentity | null;
  /** The process of Belay that watches it; null once it has ended. */
  readonly watcher: ProcessIdentity | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it ended as it did, or is about to; null for a run that is simply done. */
  readonly reason: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** [R102] Null when the agent did not report it. */
  readonly cost: number | null;
  readonly tokens: RunTokens | null;
  /** The agent's own name of the conversation. */
  readonly session: string | null;
  readonly log: RunLog | null;
  /** The checkpoint before the agent, which stays whatever happens. */
  readonly before: CheckpointId | null;
  readonly after: CheckpointId | null;
  readonly changes: ChangeCounts | null;
  /** Paths outside its fork that changed while it ran and that no other turn changed. */
  readonly escaped: readonly string[];
}

/** A run to be added. */
export interface RunRequest {
  readonly batch?: string;
  /** The thread to go on in; without one the run gets its own. */
  readonly thread?: string;
  readonly agent: string;
  readonly role: string;
  readonly command: readonly string[];
  readonly prompt: string;
  readonly limits: RunLimits;
}

/** What an agent reported on its way. */
export interface RunProgress {
  readonly session?: string;
  readonly cost?: number | null;
  readonly tokens?: RunTokens | null;
  /** How many lines it has printed. */
  readonly lines: number;
}

/** How a run ended. */
export interface RunResult {
  readonly status: RunEnd;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason: string | null;
  readonly cost: number | null;
  readonly tokens: RunTokens | null;
  readonly session: string | null;
  /** True when more was printed than is kept. */
  readonly truncated: boolean;
  readonly escaped?: readonly string[];
}
