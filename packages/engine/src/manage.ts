/** Commands about workspaces as a whole: list, attach, remove. */
import { absolutePath, below, displayAbsolute, type AbsolutePath } from "./fs/absolute-path.ts";
import type { LocalWorkspace } from "./local-workspace.ts";
import { EngineError, isEngineError } from "./model/errors.ts";
import type { WorkspaceId } from "./model/ids.ts";
import { existingRoot, resolveAsFarAsPossible } from "./fit-root.ts";
import { endedAbove, protectedAbove } from "./not-protected.ts";
import { findWorkspace, homePath, systemOf, type EngineOptions } from "./open.ts";
import { openRegistry, rootIdentity, type RegisteredWorkspace, type Registry } from "./store/registry.ts";
import { openStore, removeStore, storeBytes } from "./store/store.ts";

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

export async function listWorkspaces(options: EngineOptions = {}): Promise<WorkspaceSummary[]> {
  const system = systemOf(options);
  const home = homePath(options, system);
  using registry = openRegistry(home, system.userId);
  return registry.list().map((workspace) => summarise(workspace, home));
}

function summarise(
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
    const count = opened.db.get("SELECT count(*) AS n FROM checkpoint WHERE pruned_at IS NULL")?.["n"];
    return { ...facts, bytes: storeBytes(opened), checkpoints: Number(count) };
  } catch (error) {
    if (error instanceof EngineError) return { ...facts, bytes: 0, checkpoints: null };
    throw error;
  }
}

/** Where protected directories are, without a look into their stores. */
export function protectedRoots(options: EngineOptions = {}): { id: WorkspaceId; path: string }[] {
  const system = systemOf(options);
  using registry = openRegistry(homePath(options, system), system.userId);
  const protectedOnes = registry.list().filter(({ endedAt }) => endedAt === null);
  return protectedOnes.map(({ id, path }) => ({ id, path: displayAbsolute(path) }));
}

/** The workspace of this id, or of the only one that begins so: what `attachWorkspace` would take. */
export async function workspaceById(id: string, options: EngineOptions = {}): Promise<WorkspaceSummary> {
  const system = systemOf(options);
  const home = homePath(options, system);
  using registry = openRegistry(home, system.userId);
  return summarise(findById(registry, id), home);
}

/** Tells Belay where a workspace's directory is now. One that still exists is not protected any more. */
export async function attachWorkspace(
  id: string,
  directory: string,
  options: EngineOptions = {},
): Promise<LocalWorkspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  {
    using registry = openRegistry(home, system.userId);
    const workspace = findById(registry, id);
    const root = existingRoot(directory);
    refuseTaken(registry, workspace, root);
    registry.move(workspace.id, root, rootIdentity(root)!);
    if (workspace.path !== root && rootIdentity(workspace.path) !== undefined)
      registry.noteDeparture(workspace.path, { workspace: workspace.id, at: system.now() });
  }
  return findWorkspace(directory, options);
}

function findById(registry: Registry, id: string): RegisteredWorkspace {
  const all = registry.list();
  const found = all.filter(
    (workspace) => workspace.id === id || (id.length >= 4 && workspace.id.startsWith(id)),
  );
  if (found.length === 1) return found[0]!;
  const candidates = (found.length === 0 ? all : found).map((workspace) => ({
    id: workspace.id,
    path: displayAbsolute(workspace.path),
  }));
  const why = found.length === 0 ? "There is no workspace" : "More than one workspace begins with";
  throw new EngineError("WORKSPACE_NOT_FOUND", `${why} "${id}". Nothing was changed.`, {
    path: id,
    candidates,
  });
}

function refuseTaken(registry: Registry, workspace: RegisteredWorkspace, root: AbsolutePath): void {
  const path = displayAbsolute(root);
  const holder = registry.byPath(root);
  if (holder === undefined || holder.id === workspace.id) return;
  const reason = `it is the workspace ${holder.id} already`;
  throw new EngineError("WORKSPACE_REFUSED", `${path} cannot be attached: ${reason}. Nothing was changed.`, {
    path,
    reason,
  });
}

export interface RemovedWorkspace {
  readonly id: string;
  readonly path: string;
  readonly store: string;
  readonly purged: boolean;
}

/** The workspace that removing would be about: the nearest protected one, else the nearest that was. */
export async function removableWorkspace(
  directory: string,
  options: EngineOptions = {},
): Promise<WorkspaceSummary> {
  const system = systemOf(options);
  const home = homePath(options, system);
  return summarise(await findRemovable(directory, options), home);
}

async function findRemovable(directory: string, options: EngineOptions): Promise<RegisteredWorkspace> {
  const system = systemOf(options);
  try {
    // opened, so that a restore that was interrupted is settled before its store is out of reach
    await using workspace = await findWorkspace(directory, options);
    using registry = openRegistry(homePath(options, system), system.userId);
    return registry.list().find(({ id }) => id === workspace.id)!;
  } catch (error) {
    // a store that cannot be opened has nothing to settle, and must not keep anyone from starting anew
    const isLost = isEngineError(error, "STORE_CORRUPT") || isEngineError(error, "STORE_MISSING");
    if (!isLost && !isEngineError(error, "WORKSPACE_NOT_FOUND")) throw error;
    using registry = openRegistry(homePath(options, system), system.userId);
    const start = resolveAsFarAsPossible(absolutePath(directory));
    const known = isLost ? protectedAbove(registry, start) : endedAbove(registry, start);
    if (known === undefined) throw error;
    return known;
  }
}

/** Stops protecting the workspace of a directory; with `purge` its store and all checkpoints go too. */
export async function removeWorkspace(
  directory: string,
  options: EngineOptions & { purge: boolean },
): Promise<RemovedWorkspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  const { id, path, store } = await findRemovable(directory, options);
  const place = below(home, `workspaces/${store}`);
  using registry = openRegistry(home, system.userId);
  if (options.purge) {
    registry.remove(id);
    removeStore(place);
  } else registry.end(id, system.now());
  return { id, path: displayAbsolute(path), store: displayAbsolute(place), purged: options.purge };
}
