/** Ends the protection of a directory, with or without its checkpoints. */
import {
  absolutePath,
  below,
  displayAbsolute,
  realPathAsFarAsPossible,
  type AbsolutePath,
} from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import { MAIN_WORKING_COPY } from "../store/database.ts";
import type { WorkspaceId } from "../model/ids.ts";
import { openRegistry, type RegisteredWorkspace, type Registry } from "../store/registry.ts";
import { removeStore } from "../store/store.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";
import { endedAbove, protectedAbove } from "./explain-unprotected.ts";
import { findWorkspace } from "./find-workspace.ts";
import { summarise, type WorkspaceSummary } from "./list-workspaces.ts";

/** A workspace whose protection was ended just now. */
export interface RemovedWorkspace {
  readonly id: string;
  readonly path: string;
  readonly store: string;
  /** The store is gone too. */
  readonly purged: boolean;
  /** The directories of its forks, which stay and are not protected any more either. */
  readonly forks: readonly string[];
}

/** The workspace that `removeWorkspace` would remove: the nearest protected one, else the nearest that was. */
export async function removableWorkspace(
  directory: string,
  options: EngineOptions = {},
): Promise<WorkspaceSummary> {
  const system = systemOf(options);
  return summarise(await findRemovable(directory, options), homePath(options, system));
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
  const forks = forksOf(registry, id);
  if (options.purge) {
    registry.remove(id);
    removeStore(place);
  } else registry.end(id, system.now());
  return { id, path: displayAbsolute(path), store: displayAbsolute(place), purged: options.purge, forks };
}

function forksOf(registry: Registry, workspace: WorkspaceId): string[] {
  return registry
    .listCopies()
    .filter(({ id, workingCopy }) => id === workspace && workingCopy !== MAIN_WORKING_COPY)
    .filter(({ path }) => statNode(path) !== undefined)
    .map(({ path }) => displayAbsolute(path));
}

/** [R151] An agent that works in a fork must not end the protection of the original with it. */
function refuseFork(registry: Registry, start: AbsolutePath): void {
  const known = protectedAbove(registry, start) ?? endedAbove(registry, start);
  if (known === undefined || known.workingCopy === MAIN_WORKING_COPY) return;
  const root = registry.list().find(({ id }) => id === known.id);
  const [fork, original] = [
    displayAbsolute(known.path),
    root ? displayAbsolute(root.path) : "another directory",
  ];
  throw new EngineError(
    "WORKSPACE_REFUSED",
    `${fork} is a fork of ${original}, which would lose its protection too. Nothing was changed.`,
    { path: fork, reason: `a fork of ${original}` },
  );
}

async function findRemovable(directory: string, options: EngineOptions): Promise<RegisteredWorkspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  const start = realPathAsFarAsPossible(absolutePath(directory));
  try {
    // opened, so that an interrupted restore is settled before its store is out of reach
    await using workspace = await findWorkspace(directory, options);
    using registry = openRegistry(home, system.userId);
    refuseFork(registry, start);
    return registry.list().find(({ id }) => id === workspace.id)!;
  } catch (error) {
    // a store that cannot be opened has nothing to recover, and must not prevent a new start
    const isLost = isEngineError(error, "STORE_CORRUPT") || isEngineError(error, "STORE_MISSING");
    if (!isLost && !isEngineError(error, "WORKSPACE_NOT_FOUND")) throw error;
    using registry = openRegistry(home, system.userId);
    refuseFork(registry, start);
    const known = isLost ? protectedAbove(registry, start) : endedAbove(registry, start);
    if (known === undefined) throw error;
    return known;
  }
}
