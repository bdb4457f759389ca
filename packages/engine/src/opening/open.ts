/**
 * Finding and opening workspaces: which store belongs to a directory, what happened to its root since,
 * and whether an interrupted restore must be finished first.
 */
import { absolutePath, below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { makePrivateDirectory } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import {
  existingRoot,
  isUnprotectedWorktree,
  parentOf,
  refuseNested,
  refuseUnfit,
  resolveAsFarAsPossible,
} from "./fit-root.ts";
import { LocalWorkspace } from "../workspace/local-workspace.ts";
import { notProtected } from "./not-protected.ts";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { CheckpointPolicy } from "../model/policy.ts";
import type { ExcludedDirectory } from "../model/rules.ts";
import type { System } from "../model/system.ts";
import { CurrentSettings } from "../settings/current-settings.ts";
import {
  openRegistry,
  rootIdentity,
  whileRegistryStands,
  type RegisteredWorkspace,
  type Registry,
} from "../store/registry.ts";
import {
  finishStore,
  noteRoot,
  openStore,
  readMeta,
  removeStore,
  writeMeta,
  type Store,
} from "../store/store.ts";
import { createSystem } from "../fs/system.ts";
import { rootGone } from "../scan/root.ts";
import type { Progress, TakenCheckpoint, Workspace } from "../workspace/workspace.ts";

export interface EngineOptions {
  /** Where stores and settings live; default `~/.belay`. */
  readonly home?: string;
  /** Keep everything in memory: nothing survives the process. */
  readonly store?: "memory";
  /** What time it is, in milliseconds since 1970. */
  readonly clock?: () => number;
  readonly system?: System;
  /** Which events make checkpoints by themselves, instead of what the settings say. */
  readonly policy?: CheckpointPolicy;
}

/** The world as the options want it. */
export function systemOf({ system, clock }: EngineOptions): System {
  const world = system ?? createSystem();
  return clock === undefined ? world : { ...world, now: clock };
}

export interface InitOptions extends EngineOptions {
  /** Allow a workspace inside another one, which then leaves it out. */
  readonly nested?: boolean;
  /** Done when nothing speaks against protecting the directory, and before its first checkpoint is taken. */
  readonly prepare?: () => void;
  readonly progress?: Progress;
}

export function homePath(options: EngineOptions, system: System): AbsolutePath {
  return options.home === undefined
    ? below(absolutePath(system.homeDirectory), ".belay")
    : absolutePath(options.home);
}

/** Opens the workspace whose root is exactly `path`, protecting it first if need be. */
export async function openWorkspace(path: string, options: InitOptions = {}): Promise<Workspace> {
  return (await initWorkspace(path, options)).workspace;
}

/** Protects a directory: makes its store and takes the initial checkpoint. One that is protected is only opened. */
export async function initWorkspace(
  path: string,
  options: InitOptions = {},
): Promise<{ workspace: Workspace; initial: TakenCheckpoint | null; created: boolean }> {
  const system = systemOf(options);
  const root = existingRoot(path);
  if (options.store === "memory") return initInMemory(root, options, system);
  const home = homePath(options, system);
  using registry = openRegistry(home, system.userId);
  const opening = { home, registry, system, options };
  const known = locate(registry, root);
  if (known !== undefined) return { workspace: open(known, opening), initial: null, created: false };
  refuseUnfit(root, home, system);
  refuseNested(registry, root, { nested: options.nested ?? false });
  return (await initAgain(root, { ...opening, options })) ?? (await initNew(root, { ...opening, options }));
}

/** A directory whose protection was ended gets its store back, and a checkpoint of what it is like now. */
async function initAgain(
  root: AbsolutePath,
  opening: Opening & { options: InitOptions },
): Promise<{ workspace: Workspace; initial: TakenCheckpoint; created: boolean } | undefined> {
  const { home, registry, options } = opening;
  const identity = rootIdentity(root)!;
  const ended = registry.byPath(root) ?? registry.byIdentity(identity);
  if (ended === undefined) return undefined;
  if (statNode(below(home, `workspaces/${ended.store}`)) === undefined) {
    registry.remove(ended.id);
    return undefined;
  }
  options.prepare?.();
  registry.move(ended.id, root, identity);
  const workspace = open({ ...ended, path: root, notices: [PROTECTED_AGAIN] }, opening);
  const description = "Protected again";
  const initial = await workspace.checkpoint({ kind: "initial", description }, options.progress);
  return { workspace, initial, created: true };
}

const PROTECTED_AGAIN = "This directory was protected before: its earlier checkpoints are there again.";

async function initInMemory(
  root: AbsolutePath,
  options: InitOptions,
  system: System,
): Promise<{ workspace: Workspace; initial: TakenCheckpoint; created: boolean }> {
  const store = openStore(undefined, { create: true });
  const settings = new CurrentSettings(displayAbsolute(homePath(options, system)));
  const workspace = new LocalWorkspace({
    id: system.newId() as WorkspaceId,
    root,
    store,
    settings,
    policy: options.policy,
    system,
    notices: [],
    excludedDirectories: () => [],
  });
  return {
    workspace,
    initial: await workspace.checkpoint({ kind: "initial", description: "Initial checkpoint" }),
    created: true,
  };
}

interface Opening {
  readonly home: AbsolutePath;
  readonly registry: Registry;
  readonly system: System;
  readonly options: EngineOptions;
}

async function initNew(
  root: AbsolutePath,
  opening: Opening & { options: InitOptions },
): Promise<{ workspace: Workspace; initial: TakenCheckpoint | null; created: boolean }> {
  const { home, registry, system, options } = opening;
  const id = system.newId() as WorkspaceId;
  const name =
    root
      .slice(root.lastIndexOf("/") + 1)
      .replaceAll(/[^A-Za-z0-9._-]/g, "_")
      .slice(0, 40) || "root";
  const registered: RegisteredWorkspace = {
    id,
    store: `${name}-${id}`,
    path: root,
    ...rootIdentity(root)!,
    createdAt: system.now(),
    endedAt: null,
  };
  const directory = below(home, `workspaces/${registered.store}`);
  makeStoreDirectory(directory);
  options.prepare?.();
  const initial = await buildStore(registered, { home, system, progress: options.progress });
  const winner = registry.add(registered);
  const created = winner.id === id;
  // when another process protected the same directory meanwhile, its store counts
  if (!created) clearAway(directory);
  return { workspace: open({ ...winner, notices: [] }, opening), initial: created ? initial : null, created };
}

type Building = {
  readonly home: AbsolutePath;
  readonly system: System;
  readonly progress: Progress | undefined;
};

/** Builds a new store with its initial checkpoint; nothing is left of one that could not be finished. */
async function buildStore(registered: RegisteredWorkspace, building: Building): Promise<TakenCheckpoint> {
  const directory = below(building.home, `workspaces/${registered.store}`);
  try {
    const initial = await takeInitial(registered, directory, building);
    finishStore(directory);
    return initial;
  } catch (error) {
    clearAway(directory);
    throw noStore(directory, error);
  }
}

function makeStoreDirectory(directory: AbsolutePath): void {
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    throw noStore(directory, error);
  }
}

function noStore(directory: AbsolutePath, error: unknown): unknown {
  const path = displayAbsolute(directory);
  return explainSystemError(error, { what: `No store can be made in ${path}`, path, operation: "store" });
}

/** [N1] What cannot be removed must not hide why it has to be; without its name in the registry it is nobody's store. */
function clearAway(directory: AbsolutePath): void {
  try {
    removeStore(directory);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

async function takeInitial(
  registered: RegisteredWorkspace,
  directory: AbsolutePath,
  { home, system, progress }: Building,
): Promise<TakenCheckpoint> {
  using store = openStore(directory, { create: true, bulk: true });
  store.db.transaction(() => {
    writeMeta(store.db, "workspace_id", registered.id);
    noteRoot(store.db, registered.path);
  });
  const workspace = assemble(registered, store, { home, system, options: {} }, []);
  return await workspace.checkpoint({ kind: "initial", description: "Initial checkpoint" }, progress);
}

/** The nearest protected directory at or above `directory`. */
export async function findWorkspace(directory: string, options: EngineOptions = {}): Promise<Workspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  const start = resolveAsFarAsPossible(absolutePath(directory));
  using registry = openRegistry(home, system.userId);
  for (let path = start; ; path = parentOf(path)) {
    const known = locate(registry, path);
    if (known !== undefined) return open(known, { home, registry, system, options });
    if (path === "/" || isUnprotectedWorktree(path))
      throw notProtected({ home, registry, start, inWorktree: path !== "/" });
  }
}

/** Finds a directory by its path, then by its identity: a moved one keeps its inode. */
function locate(
  registry: Registry,
  path: AbsolutePath,
): (RegisteredWorkspace & { notices: string[] }) | undefined {
  const identity = rootIdentity(path);
  const byPath = registry.byPath(path);
  if (byPath !== undefined) {
    if (byPath.endedAt !== null) return undefined;
    if (identity === undefined) return { ...byPath, notices: [rootGone(path)] };
    if (sameIdentity(byPath, identity)) return { ...byPath, notices: [] };
    registry.move(byPath.id, path, identity);
    return {
      ...byPath,
      ...identity,
      notices: ["The directory was replaced since the last command; everything is read anew."],
    };
  }
  const byIdentity = identity === undefined ? undefined : registry.byIdentity(identity);
  if (byIdentity === undefined || byIdentity.endedAt !== null || identity === undefined) return undefined;
  const there = rootIdentity(byIdentity.path);
  // the same directory under two names, such as a bind mount
  if (there !== undefined && sameIdentity(byIdentity, there)) return { ...byIdentity, notices: [] };
  registry.move(byIdentity.id, path, identity);
  return {
    ...byIdentity,
    path,
    notices: [`The workspace moved here from ${displayAbsolute(byIdentity.path)}.`],
  };
}

function sameIdentity(
  a: { dev: string; ino: string; birth: string },
  b: { dev: string; ino: string; birth: string },
): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.birth === b.birth;
}

function open(
  known: RegisteredWorkspace & { notices: string[] },
  { home, registry, system, options }: Opening,
): LocalWorkspace {
  const store = openStore(below(home, `workspaces/${known.store}`), { create: false });
  try {
    assertOwn(store, known);
    noteRoot(store.db, known.path);
    const workspace = assemble(known, store, { home, registry, system, options }, known.notices);
    workspace.recover();
    return workspace;
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
}

/** A store that lost its content, or was put in the place of another, must not be taken for this workspace's. */
function assertOwn({ db, directory }: Store, { id }: RegisteredWorkspace): void {
  if (readMeta(db, "workspace_id") === id) return;
  const store = displayAbsolute(directory!);
  throw new EngineError(
    "STORE_REPLACED",
    `The store ${store} is not the one that belongs to this workspace. Nothing was changed.`,
    { store },
  );
}

function assemble(
  known: RegisteredWorkspace,
  store: Store,
  { home, registry, system, options }: Omit<Opening, "registry"> & { readonly registry?: Registry },
  notices: readonly string[],
): LocalWorkspace {
  return new LocalWorkspace({
    id: known.id,
    root: known.path,
    store,
    settings: new CurrentSettings(displayAbsolute(home)),
    policy: options.policy,
    system,
    notices,
    excludedDirectories: excludedFor(known, { home, registry, system }),
  });
}

/** What is left out of a workspace, as long as the registry says so; read at once from one that is open already. */
function excludedFor(
  known: RegisteredWorkspace,
  { home, registry, system }: Pick<Opening, "home" | "system"> & { readonly registry?: Registry | undefined },
): () => ExcludedDirectory[] {
  let first = registry;
  const read = whileRegistryStands(home, () => {
    if (first !== undefined) return otherWorkspaces(known, home, first);
    using again = openRegistry(home, system.userId);
    return otherWorkspaces(known, home, again);
  });
  if (registry !== undefined) read();
  first = undefined;
  return read;
}

/** Other workspaces inside this one, and the store itself if it is inside. */
function otherWorkspaces(
  { id, path: root }: RegisteredWorkspace,
  home: AbsolutePath,
  registry: Registry,
): ExcludedDirectory[] {
  const inside = (path: AbsolutePath) =>
    path !== root && isAtOrBelow(path as string as BytePath, root as string as BytePath);
  const relative = (path: AbsolutePath) => path.slice(root === "/" ? 1 : root.length + 1) as BytePath;
  const excluded = registry
    .list()
    .filter((other) => other.id !== id && other.endedAt === null && inside(other.path))
    .map((other) => ({ path: relative(other.path), reason: "a workspace of its own" }));
  const store = resolveAsFarAsPossible(home);
  return inside(store) ? [...excluded, { path: relative(store), reason: "Belay's own store" }] : excluded;
}
