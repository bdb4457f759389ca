/** Ghosts: checkpoints that the user's git repository has as commits below `refs/belay/ghost/`. */
import type { MissingGhost } from "../../ghost/ghosts.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { Ghost, GhostOptions } from "../../model/ghost.ts";
import type { CheckpointRef } from "../../model/ids.ts";

/** What a workspace can do with ghosts. Nothing of it touches index, HEAD, settings or hooks of the repository. */
export interface Ghosts {
  /** Makes the ghost of a checkpoint; without `ref` the present is captured first. Says what is missing where none can be. */
  ghost(ref?: CheckpointRef, options?: GhostOptions): Promise<Ghost | MissingGhost>;
  /** The ghosts of this workspace, newest first, also those that earlier processes made. */
  ghosts(): Promise<Ghost[] | MissingGhost>;
  /** The checkpoint of a ghost: one that the store no longer has is imported from the commit. */
  importGhost(id: string): Promise<Checkpoint | MissingGhost>;
  /** Takes a ghost away, or all of this workspace (`"all"`); returns how many went. The checkpoints stay. */
  dropGhost(id: string): Promise<number | MissingGhost>;
}
