/** Forks as other programs see them. */
import type { Branch } from "./branch.ts";
import type { CheckpointId } from "./ids.ts";

/** `removing`: in the trash, and can be brought back; `gone`: its directory is no longer where it was. */
export type ForkState = "making" | "ready" | "removing" | "gone";

/** A directory that no checkpoint holds, and what became of it in a fork. */
export interface ForkDependency {
  readonly path: string;
  readonly how: "cloned" | "copied" | "skipped";
  readonly bytes: number;
  /** Why it was skipped; null where it was not. */
  readonly reason: string | null;
}

/** One more working copy of a workspace, in a directory of its own, on a branch of its own. */
export interface Fork {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly branch: string;
  /** The checkpoint that its work is compared with: its files when it was ready. */
  readonly base: CheckpointId | null;
  readonly head: CheckpointId | null;
  readonly state: ForkState;
  /** How its files were made: by blocks that it shares with the original, by copies, or taken over from a removed fork. */
  readonly method: "clone" | "copy" | "spare";
  /** How many files it was made of, how many bytes they have, and how many it took on the disk. */
  readonly files: number;
  readonly bytes: number;
  readonly bytesOnDisk: number;
  readonly dependencies: readonly ForkDependency[];
  readonly git: "private" | "none";
  /** The first of ten ports that are its own. */
  readonly port: number | null;
  /** The run that is at work in it; null when there is none. */
  readonly run: string | null;
  /** How long making it took. */
  readonly durationMs: number;
  readonly createdAt: number;
  /** When it was put into the trash; null otherwise. */
  readonly removedAt: number | null;
}

/** A fork that was just made, and what to know about it. */
export interface MadeFork extends Fork {
  readonly warnings: readonly string[];
}

/** A fork that is no longer there, or will not be after its grace time. */
export interface RemovedFork {
  readonly fork: Fork;
  /** Its branch, which stays. */
  readonly branch: Branch;
  /** The checkpoint of everything it had; null when its directory was gone already. */
  readonly checkpoint: CheckpointId | null;
  /** Until when it can be brought back; null when it cannot. */
  readonly until: number | null;
  readonly warnings: readonly string[];
}

/** What a new fork is made of. */
export interface ForkRequest {
  /** The checkpoint to begin with; without one the present is captured and the fork begins there. */
  readonly from?: string;
  /** `none` leaves out the private git repository; without it the settings decide. */
  readonly git?: "private" | "none";
  /** `none` leaves out the dependencies; without it the settings decide. */
  readonly dependencies?: "auto" | "none";
  /** Called with the fork at its final place, before it is ready: nothing that it does there counts as work. */
  readonly setup?: (fork: Fork, environment: Readonly<Record<string, string>>) => Promise<void>;
  /** The run that the fork is made for: the environment of the set-up names it in `BELAY_RUN`. */
  readonly run?: string;
}

/** How to remove a fork. */
export interface RemoveForkOptions {
  /** Delete it at once, without a time in the trash. */
  readonly now?: boolean;
  /** Remove it although it has what no checkpoint can hold. */
  readonly despiteGaps?: boolean;
}

/** The settings that forks go by. */
export interface ForkSettings {
  /** Where forks are made; null beside the workspace. */
  readonly directory: string | null;
  readonly limit: number;
  readonly bytes: number;
  readonly copyLimitBytes: number;
  readonly dependencies: "auto" | "none";
  readonly git: "private" | "none";
  /** The program that prepares a fork, and its arguments; empty when there is none. */
  readonly setup: readonly string[];
  /** Further variables for everything that is started in a fork. */
  readonly env: Readonly<Record<string, string>>;
  readonly graceHours: number;
  /** How many removed forks are kept for the next one to take over. */
  readonly spare: number;
}
