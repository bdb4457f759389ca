/** Commands about workspaces as a whole: list, remove. */
import { absolutePath, below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { WorkspaceId } from "../model/ids.ts";
import { resolveAsFarAsPossible } from "./fit-root.ts";
import { endedAbove, protectedAbove } from "./not-protected.ts";
import { findWorkspace, homePath, systemOf, type EngineOptions } from "./open.ts";
import { openRegistry, rootIdentity, type RegisteredWorkspace } from "../store/registry.ts";
import { openStore, removeStore, storeBytes } from "../store/store.ts";

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
