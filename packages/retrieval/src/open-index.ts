/** Opens the index of a workspace, and keeps it in step with ways back. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { displayPath, type Workspace } from "@belay/engine";
import type { IndexedWorkspace, IndexOptions, RetrievalIndex } from "./retrieval-index.ts";
import { WorkspaceIndex } from "./workspace-index.ts";

/** Opens the index beside the store; one that is damaged or of another version is made again, empty. */
export async function openIndex(workspace: Workspace, options: IndexOptions = {}): Promise<RetrievalIndex> {
  return openIndexSync(workspace, options);
}

/** Opens a search index for callers that cannot wait. */
export function openIndexSync(workspace: IndexedWorkspace, options: IndexOptions = {}): RetrievalIndex {
  return new WorkspaceIndex(workspace, placeOf(workspace), options);
}

/** Whether the workspace has an index: it is made when it is first used. */
export function hasIndex(workspace: Pick<Workspace, "store">): boolean {
  return workspace.store !== "memory" && existsSync(placeOf(workspace));
}

/** Removes the index; the files and checkpoints are untouched. */
export function removeIndex(workspace: Pick<Workspace, "store">): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${placeOf(workspace)}${suffix}`, { force: true });
}

/** Looks again, in the background, at exactly the files of each way back; the answer ends that. */
export function keepInStep(workspace: Workspace, index: RetrievalIndex): () => void {
  return workspace.events.afterRestore(async (paths) => {
    const names = paths.map((path) => displayPath(path));
    index.later(() => index.reindexFiles(names));
    return [];
  });
}

function placeOf({ store }: Pick<Workspace, "store">): string {
  return store === "memory" ? ":memory:" : join(store, "index.db");
}
