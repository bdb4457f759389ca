/** Opens the store of a directory that the registry knows, and finishes a restore that was interrupted. */
import { below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { EngineError } from "../model/errors.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { System } from "../model/system.ts";
import { WorkspaceSettings } from "../settings/workspace-settings.ts";
import { openRegistry, rootIdentity, type RegisteredWorkspace, type Registry } from "../store/registry.ts";
import { hasWorkingCopy, noteRoot, openStore, readMeta, type Store } from "../store/store.ts";
import { LocalWorkspace } from "../workspace/local-workspace.ts";
import type { EngineOptions } from "./engine-options.ts";
import { excludedDirectories } from "./excluded-directories.ts";

/** A protected directory as the registry knows it now, and what the user should know about finding it. */
export interface LocatedWorkspace extends RegisteredWorkspace {
  readonly notices: readonly string[];
}

/** What opening a workspace needs beside the workspace itself. */
export interface Opening {
  readonly home: AbsolutePath;
  readonly registry: Registry;
  readonly system: System;
  readonly options: EngineOptions;
}

/** Opens a workspace by its entry in the registry. */
export function openRegistered(located: LocatedWorkspace, opening: Opening): LocalWorkspace {
  const store = openStore(below(opening.home, `workspaces/${located.store}`), {
    create: false,
    workingCopy: located.workingCopy,
  });
  try {
    assertOwn(store, located);
    noteRoot(store.db, located.path);
    const workspace = workspaceOverStore(located, store, { ...opening, notices: located.notices });
    workspace.recover();
    return workspace;
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
}

/** Opens another working copy of a workspace that is open. */
function openCopy(
  { id, store }: { id: WorkspaceId; store: Store },
  { workingCopy, root }: { workingCopy: number; root: AbsolutePath },
  { home, system, options }: Pick<Opening, "home" | "system" | "options">,
): LocalWorkspace {
  using registry = openRegistry(home, system.userId);
  const directory = displayAbsolute(store.directory!).split("/").at(-1)!;
  const known = { id, store: directory, path: root, workingCopy, createdAt: 0, endedAt: null };
  const identity = rootIdentity(root) ?? { dev: "", ino: "", birth: "" };
  return openRegistered({ ...known, ...identity, notices: [] }, { home, registry, system, options });
}

/** A store that lost its content, or was put in the place of another, must not be taken for this workspace's. */
function assertOwn({ db, directory }: Store, { id }: RegisteredWorkspace): void {
  if (readMeta(db, "workspace_id") === id && hasWorkingCopy(db)) return;
  const store = displayAbsolute(directory!);
  throw new EngineError(
    "STORE_REPLACED",
    `The store ${store} is not the one that belongs to this workspace. Nothing was changed.`,
    { store },
  );
}

/** A workspace over a store that is open already. */
export function workspaceOverStore(
  { id, path: root }: RegisteredWorkspace,
  store: Store,
  assembling: Pick<Opening, "home" | "system" | "options"> & {
    readonly registry?: Registry;
    readonly notices: readonly string[];
  },
): LocalWorkspace {
  const { home, registry, system, options, notices } = assembling;
  return new LocalWorkspace({
    id,
    root,
    store,
    settings: new WorkspaceSettings({
      home: displayAbsolute(home),
      id,
      now: system.now,
      policy: options.policy,
      retention: options.retention,
    }),
    system,
    notices,
    plans: options.plans,
    ignore: options.ignore,
    copies: { home, open: (copy) => openCopy({ id, store }, copy, { home, system, options }) },
    excludedDirectories: excludedDirectories({ id, root }, { home, registry, userId: system.userId }),
  });
}
