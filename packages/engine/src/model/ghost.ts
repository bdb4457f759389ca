/** A checkpoint as a commit in the user's repository, for people who look with git's own tools. */
import type { CheckpointId } from "./ids.ts";

/** A checkpoint that a ref of the repository leads to. The store stays the truth. */
export interface Ghost {
  /** The checkpoint's id; the ref is `refs/belay/ghost/<id>`. */
  readonly id: string;
  /** The commit: that of HEAD where nothing differed from it. */
  readonly commit: string;
  readonly description: string;
  readonly createdAt: number;
  /** The message that the checkpoint was taken before; null when it was not taken for one. */
  readonly turn: string | null;
  /** Null when the store no longer has the checkpoint. */
  readonly checkpoint: CheckpointId | null;
  /** How many captured paths are not in the commit: ignored, secret, of another repository, or never captured. */
  readonly leftOut: number;
}

/** What a ghost is called, and how many are kept. */
export interface GhostOptions {
  readonly description?: string;
}

/** Where ghosts are made: never, where there is a repository, or there with a complaint where there is none. */
export type GhostMode = "off" | "auto" | "on";

/** The settings of ghosts. */
export interface GhostSettings {
  readonly mode: GhostMode;
  /** The oldest ones beyond this many go. */
  readonly keep: number;
}
