/** Commands about workspaces as a whole: list, attach, remove. */
import { below, displayAbsolute, type AbsolutePath } from "./fs/absolute-path.ts";
import type { LocalWorkspace } from "./local-workspace.ts";
import { EngineError } from "./model/errors.ts";
import { existingRoot } from "./fit-root.ts";
import { findWorkspace, homePath, systemOf, type EngineOptions } from "./open.ts";
import { openRegistry, rootIdentity, type RegisteredWorkspace, type Registry } from "./store/registry.ts";
import { openStore, removeStore, storeBytes } from "./store/store.ts";

export interface WorkspaceSummary {
  readonly id: string;
  readonly path: string;
  readonly store: string;
  readonly createdAt: number;
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
  { id, path, store, createdAt }: RegisteredWorkspace,
  home: AbsolutePath,
): WorkspaceSummary {
  const directory = below(home, `workspaces/${store}`);
  const facts = {
    id,
    path: displayAbsolute(path),
    store: displayAbsolute(directory),
    createdAt,
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

/** Tells Belay where a workspace's directory is now. */
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

/** Stops protecting the workspace of a directory; with `purge` its store and all checkpoints go too. */
export async function removeWorkspace(
  directory: string,
  options: EngineOptions & { purge: boolean },
): Promise<RemovedWorkspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  const { id, path, store } = await (async () => {
    await using workspace = await findWorkspace(directory, options);
    using registry = openRegistry(home, system.userId);
    return registry.list().find((each) => each.id === workspace.id)!;
  })();
  const place = below(home, `workspaces/${store}`);
  if (options.purge) {
    using registry = openRegistry(home, system.userId);
    registry.remove(id);
    removeStore(place);
  }
  return { id, path: displayAbsolute(path), store: displayAbsolute(place), purged: options.purge };
}
