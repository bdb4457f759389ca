/** Versions of a workspace: checkpoints that were put on a branch on purpose. */
import type { Version, VersionRequest } from "../../model/version.ts";

/** The versions of a workspace; `workspace.versions`. */
export interface Versions {
  /** Makes a version of a checkpoint on the present branch. References find the checkpoint by the version's id. */
  create(request: VersionRequest): Promise<Version>;
  /** All versions, oldest first. */
  list(): Promise<Version[]>;
  /** The newest version on a branch, or the one that the branch began with; null when there is none. */
  head(branch: string): Promise<Version | null>;
  /** Takes versions away; their checkpoints stay. */
  remove(ids: readonly string[]): Promise<void>;
}
