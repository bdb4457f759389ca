/** All workspaces of a user. */
import { below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { countCheckpoints } from "../history/checkpoints.ts";
import { EngineError } from "../model/errors.ts";
import type { WorkspaceId } from "../model/ids.ts";
import { copyIdOf } from "../workspace/copy-id.ts";
import { openRegistry, rootIdentity, type RegisteredWorkspace } from "../store/registry.ts";
import { openStore, storeBytes } from "../store/store.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";

/** A workspace as lists show it. */
export interface WorkspaceSummary {
  readonly id: string;
  readonly path: string;
  readonly store: string;
  readonly createdAt: number;
  /** When `belay uninstall` ended its protection; null while it is protected. */
  readonly endedAt: number | null;
  /** False when the directory is gone: moved, deleted or not mounted. */
  readonly exists: boolean;
  readonly bytes: number;
  /** null when the store cannot be opened. */
  readonly checkpoints: number | null;
}

/** All workspaces, by path; also those whose protection was ended and whose store is kept. */
export async function listWorkspaces(options: EngineOptions = {}): Promise<WorkspaceSummary[]> {
  const system = systemOf(options);
  const home = homePath(options, system);
  if (statNode(home) === undefined) return [];
  using registry = openRegistry(home, system.userId);
  return registry.list().map((workspace) => summarise(workspace, home));
}

/** The entry of one workspace; opens its store to count what is in it. */
export function summarise(
  { id, path, store, createdAt, endedAt }: RegisteredWorkspace,
  home: AbsolutePath,
): WorkspaceSummary {
  const directory = below(home, `workspaces/${store}`);
  const facts = {
    id,
    path: displayAbsolute(path),
    store: displayAbsolute(directory),
    createdAt,
    endedAt,
    exists: rootIdentity(path) !== undefined,
  };
  try {
    using opened = openStore(directory, { create: false });
    return { ...facts, bytes: storeBytes(opened), checkpoints: countCheckpoints(opened.db) };
  } catch (error) {
    if (error instanceof EngineError) return { ...facts, bytes: 0, checkpoints: null };
    throw error;
  }
}

/** Where protected directories are, without a look into their stores. */
export function protectedRoots(options: EngineOptions = {}): { id: WorkspaceId; path: string }[] {
  return protectedCopies(options).flatMap(({ id, copyId, path }) => (copyId === id ? [{ id, path }] : []));
}

/** A working copy of a workspace and where it is. */
export interface ProtectedCopy {
  readonly id: WorkspaceId;
  /** As `Workspace.copyId` has it. */
  readonly copyId: string;
  readonly path: string;
}

/** Where all working copies are, roots and forks, without a look into their stores. */
export function protectedCopies(options: EngineOptions = {}): ProtectedCopy[] {
  const system = systemOf(options);
  const home = homePath(options, system);
  if (statNode(home) === undefined) return [];
  using registry = openRegistry(home, system.userId);
  const protectedOnes = registry.listCopies().filter(({ endedAt }) => endedAt === null);
  return protectedOnes.map((copy) => ({
    id: copy.id,
    copyId: copyIdOf(copy.id, copy.workingCopy),
    path: displayAbsolute(copy.path),
  }));
}
