/** The ids of working copies. */
import type { WorkspaceId } from "../model/ids.ts";
import { MAIN_WORKING_COPY } from "../store/database.ts";

/** The id of a working copy among those of all workspaces. */
export function copyIdOf(id: WorkspaceId, workingCopy: number): string {
  return workingCopy === MAIN_WORKING_COPY ? id : `${id}-${workingCopy}`;
}
