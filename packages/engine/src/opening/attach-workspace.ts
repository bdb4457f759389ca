/** Gives a directory the store of another one: which directories may have it, and which look like it. */
import { below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { readTree } from "../diff/compare-trees.ts";
import { existingRoot, refuseNested, refuseUnfit } from "./protectable-directory.ts";
import { noteAttach } from "../history/attaches.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import type { Workspace } from "../workspace/interface/workspace.ts";
import { summarise, type WorkspaceSummary } from "./list-workspaces.ts";
import { EngineError } from "../model/errors.ts";
import type { System } from "../model/system.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";
import { findWorkspace } from "./find-workspace.ts";
import { openRegistry, rootIdentity, type RegisteredWorkspace, type Registry } from "../store/registry.ts";
import { openStore } from "../store/store.ts";

/** What attaching would do, to be shown before it is done. */
export interface AttachPlan {
  /** The workspace of this id, or the only one whose id begins like it. */
  readonly workspace: WorkspaceSummary;
  /** False: the directory holds files, and fewer than half of what the newest checkpoint has at its top. */
  readonly isAlike: boolean;
}

/** What `attachWorkspace` would do; throws where it would. */
export async function planAttach(
  id: string,
  directory: string,
  options: EngineOptions = {},
): Promise<AttachPlan> {
  const system = systemOf(options);
  const home = homePath(options, system);
  using registry = openRegistry(home, system.userId);
  const { workspace, root } = chosen(id, directory, { registry, home, system });
  return { workspace: summarise(workspace, home), isAlike: isAlike(workspace, root, home) };
}

/** Tells Belay where a workspace's directory is now. One that still exists is no longer protected. */
export async function attachWorkspace(
  id: string,
  directory: string,
  options: EngineOptions = {},
): Promise<Workspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  {
    using registry = openRegistry(home, system.userId);
    const { workspace, root } = chosen(id, directory, { registry, home, system });
    if (workspace.path !== root) {
      using store = openStore(below(home, `workspaces/${workspace.store}`), { create: false });
      noteAttach(store.db);
    }
    registry.move(workspace, root, rootIdentity(root)!);
    if (workspace.path !== root && rootIdentity(workspace.path) !== undefined)
      registry.noteDeparture(workspace.path, { workspace: workspace.id, at: system.now() });
  }
  return findWorkspace(directory, options);
}

interface Surroundings {
  readonly registry: Registry;
  readonly home: AbsolutePath;
  readonly system: System;
}

/** The workspace and the directory; throws when they cannot be attached. */
function chosen(id: string, directory: string, { registry, home, system }: Surroundings) {
  const workspace = findById(registry, id);
  const root = existingRoot(directory);
  refuseTaken(registry, workspace, root);
  if (workspace.path !== root) {
    refuseUnfit(root, home, system);
    refuseNested(registry, root, { moving: workspace });
  }
  return { workspace, root };
}

/** An empty directory is like any other: it holds no work that could be mixed up. */
function isAlike({ store, path }: RegisteredWorkspace, root: AbsolutePath, home: AbsolutePath): boolean {
  const here = new Set(listDirectory(root));
  if (here.size === 0 || path === root) return true;
  using opened = openStore(below(home, `workspaces/${store}`), { create: false });
  const newest = headCheckpoint(opened.db);
  if (newest === undefined) return false;
  const names = [...readTree(opened.objects, newest.snapshot).keys()];
  return names.length > 0 && names.filter((name) => here.has(name)).length * 2 >= names.length;
}

function findById(registry: Registry, id: string): RegisteredWorkspace {
  const all = registry.list();
  const found = all.filter(
    (workspace) =>
      workspace.id === id || workspace.store === id || (id.length >= 4 && workspace.id.startsWith(id)),
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
    byId: true,
  });
}

function refuseTaken(registry: Registry, workspace: RegisteredWorkspace, root: AbsolutePath): void {
  const path = displayAbsolute(root);
  const holder = registry.byPath(root);
  const isFork = holder?.workingCopy !== workspace.workingCopy;
  if (holder === undefined || (holder.id === workspace.id && !isFork)) return;
  const reason = `it is ${isFork ? "a fork of " : ""}the workspace ${holder.id} already`;
  throw new EngineError("WORKSPACE_REFUSED", `${path} cannot be attached: ${reason}. Nothing was changed.`, {
    path,
    reason,
  });
}
