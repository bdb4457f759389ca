/** Protects a directory: makes its store, takes the initial checkpoint, and only then registers it. */
import { below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { makePrivateDirectory } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import { coverOnlyNamed, type Coverage } from "../history/coverage.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { System } from "../model/system.ts";
import { WorkspaceSettings } from "../settings/workspace-settings.ts";
import { MAIN_WORKING_COPY } from "../store/database.ts";
import { newWorkspace, openRegistry, rootIdentity, type RegisteredWorkspace } from "../store/registry.ts";
import { finishStore, noteRoot, openStore, removeStore, writeMeta, type Store } from "../store/store.ts";
import { LocalWorkspace } from "../workspace/local-workspace.ts";
import type { CheckpointRequest, TakenCheckpoint } from "../model/checkpoint.ts";
import type { Progress, Workspace } from "../workspace/interface/workspace.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";
import { locate } from "./find-workspace.ts";
import { workspaceOverStore, openRegistered, type Opening } from "./open-registered.ts";
import { existingRoot, refuseNested, refuseUnfit } from "./protectable-directory.ts";

/** Options of protecting a directory. */
export interface InitOptions extends EngineOptions {
  /** Allow a workspace inside another one, which then leaves it out. */
  readonly nested?: boolean;
  /** Called once the directory is known to be protectable, before its first checkpoint is taken. */
  readonly prepare?: () => void;
  /**
   * "named": captures of a new workspace see exactly the paths that were named, and cost what those cost. A checkpoint without
   * `paths` makes it "all" for good. A workspace that exists stays as it is.
   */
  readonly coverage?: Coverage;
  readonly progress?: Progress;
}

/** The open workspace of a directory, and how it came about. */
export interface InitializedWorkspace {
  readonly workspace: Workspace;
  /** The first checkpoint; null when the directory was protected already. */
  readonly initial: TakenCheckpoint | null;
  /** False when the directory was protected already. */
  readonly created: boolean;
}

const FIRST = { kind: "initial", description: "Initial checkpoint" } as const;

/** The first checkpoint; where only named paths are captured it has none. */
function firstOf({ coverage }: InitOptions): CheckpointRequest {
  return coverage === "named" ? { ...FIRST, paths: [] } : FIRST;
}

function cover({ db }: Store, { coverage }: InitOptions): void {
  if (coverage === "named") db.transaction(() => coverOnlyNamed(db));
}
const PROTECTED_AGAIN = "This directory was protected before: its earlier checkpoints are there again.";

/** Opens the workspace whose root is exactly `path`, protecting it first if need be. */
export async function openWorkspace(path: string, options: InitOptions = {}): Promise<Workspace> {
  return (await initWorkspace(path, options)).workspace;
}

/** Protects a directory: makes its store and takes the initial checkpoint. A protected one is only opened. */
export async function initWorkspace(path: string, options: InitOptions = {}): Promise<InitializedWorkspace> {
  const system = systemOf(options);
  const root = existingRoot(path);
  if (options.store === "memory") return initInMemory(root, options, system);
  const home = homePath(options, system);
  using registry = openRegistry(home, system.userId);
  const opening = { home, registry, system, options };
  const located = locate(registry, root);
  if (located !== undefined)
    return { workspace: openRegistered(located, opening), initial: null, created: false };
  refuseUnfit(root, home, system);
  refuseNested(registry, root, { nested: options.nested ?? false });
  return (await initAgain(root, opening)) ?? (await initNew(root, opening));
}

/** What `initWorkspace` would do, refusing what it would refuse. Writes nothing. */
export function previewInit(
  path: string,
  options: Pick<InitOptions, "home" | "nested" | "system"> = {},
): { readonly path: string; readonly created: boolean } {
  const system = systemOf(options);
  const root = existingRoot(path);
  const home = homePath(options, system);
  using registry = statNode(home) === undefined ? undefined : openRegistry(home, system.userId);
  const known = registry?.byPath(root) ?? registry?.byIdentity(rootIdentity(root)!);
  const isProtected = known !== undefined && known.endedAt === null;
  if (!isProtected) {
    refuseUnfit(root, home, system);
    if (registry !== undefined) refuseNested(registry, root, { nested: options.nested ?? false });
  }
  return { path: displayAbsolute(root), created: !isProtected };
}

/** What a store in memory holds at most unless the caller says otherwise. */
const MEMORY_BYTES = 512 * 1024 * 1024;

async function initInMemory(
  root: AbsolutePath,
  options: InitOptions,
  system: System,
): Promise<InitializedWorkspace> {
  const id = system.newId() as WorkspaceId;
  const home = displayAbsolute(homePath(options, system));
  const store = openStore(undefined, { create: true });
  cover(store, options);
  const workspace = new LocalWorkspace({
    id,
    root,
    store,
    settings: new WorkspaceSettings({
      home,
      id,
      now: system.now,
      policy: options.policy,
      retention: options.retention,
      mostBytes: options.memoryBytes ?? MEMORY_BYTES,
    }),
    system,
    notices: [],
    plans: options.plans,
    ignore: options.ignore,
    excludedDirectories: () => [],
  });
  workspace.recover();
  return { workspace, initial: await workspace.checkpoint(firstOf(options)), created: true };
}

interface Protecting extends Opening {
  readonly options: InitOptions;
}

/** A directory whose protection was ended gets its store back, and a checkpoint of its present state. */
async function initAgain(root: AbsolutePath, opening: Protecting): Promise<InitializedWorkspace | undefined> {
  const { home, registry, options } = opening;
  const identity = rootIdentity(root)!;
  const ended = registry.byPath(root) ?? registry.byIdentity(identity);
  if (ended?.workingCopy !== MAIN_WORKING_COPY) return undefined;
  if (statNode(below(home, `workspaces/${ended.store}`)) === undefined) {
    registry.remove(ended.id);
    return undefined;
  }
  options.prepare?.();
  registry.move(ended, root, identity);
  const workspace = openRegistered({ ...ended, path: root, notices: [PROTECTED_AGAIN] }, opening);
  const request = { kind: "initial", description: "Protected again" } as const;
  return { workspace, initial: await workspace.checkpoint(request, options.progress), created: true };
}

async function initNew(root: AbsolutePath, opening: Protecting): Promise<InitializedWorkspace> {
  const { home, registry, system, options } = opening;
  const registered = newWorkspace(root, system, (id) => `${storeNameOf(root)}-${id}`);
  const directory = below(home, `workspaces/${registered.store}`);
  makeStoreDirectory(directory);
  options.prepare?.();
  const initial = await buildStore(registered, directory, opening);
  const winner = registry.add(registered);
  const created = winner.id === registered.id;
  // when another process protected the same directory meanwhile, its store counts
  if (!created) clearAway(directory);
  const workspace = openRegistered({ ...winner, notices: [] }, opening);
  return { workspace, initial: created ? initial : null, created };
}

/** The readable beginning of a store's name. */
function storeNameOf(root: AbsolutePath): string {
  const name = root.slice(root.lastIndexOf("/") + 1);
  return name.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 40) || "root";
}

function makeStoreDirectory(directory: AbsolutePath): void {
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    throw noStore(directory, error);
  }
}

/** Builds a new store with its initial checkpoint; nothing is left of one that could not be finished. */
async function buildStore(
  registered: RegisteredWorkspace,
  directory: AbsolutePath,
  opening: Protecting,
): Promise<TakenCheckpoint> {
  try {
    const initial = await takeInitial(registered, directory, opening);
    finishStore(directory);
    return initial;
  } catch (error) {
    clearAway(directory);
    throw noStore(directory, error);
  }
}

async function takeInitial(
  registered: RegisteredWorkspace,
  directory: AbsolutePath,
  { home, system, options }: Protecting,
): Promise<TakenCheckpoint> {
  using store = openStore(directory, { create: true, bulk: true });
  store.db.transaction(() => {
    writeMeta(store.db, "workspace_id", registered.id);
    noteRoot(store.db, registered.path);
  });
  cover(store, options);
  const workspace = workspaceOverStore(registered, store, { home, system, options: {}, notices: [] });
  return await workspace.checkpoint(firstOf(options), options.progress);
}

function noStore(directory: AbsolutePath, error: unknown): unknown {
  const path = displayAbsolute(directory);
  return explainSystemError(error, { what: `No store can be created in ${path}`, path, operation: "store" });
}

/** [N1] A store that cannot be removed must not hide why it has to be; without an entry in the registry no one uses it. */
function clearAway(directory: AbsolutePath): void {
  try {
    removeStore(directory);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
