/** Finds the workspace of a directory, also when the directory was moved or replaced since. */
import {
  absolutePath,
  displayAbsolute,
  realPathAsFarAsPossible,
  upwards,
  type AbsolutePath,
} from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { rootGone } from "../scan/root.ts";
import { MAIN_WORKING_COPY } from "../store/database.ts";
import {
  openRegistry,
  rootIdentity,
  type RegisteredWorkspace,
  type Registry,
  type RootIdentity,
} from "../store/registry.ts";
import type { Workspace } from "../workspace/interface/workspace.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";
import { notProtected } from "./explain-unprotected.ts";
import { openRegistered, type LocatedWorkspace } from "./open-registered.ts";
import { isUnprotectedWorktree } from "./protectable-directory.ts";

/** Opens the nearest protected directory at or above `directory`; throws `WORKSPACE_NOT_FOUND`. */
export async function findWorkspace(directory: string, options: EngineOptions = {}): Promise<Workspace> {
  const system = systemOf(options);
  const home = homePath(options, system);
  const start = realPathAsFarAsPossible(absolutePath(directory));
  // to look for a workspace leaves no trace of its own
  using registry = statNode(home) === undefined ? undefined : openRegistry(home, system.userId);
  for (const path of upwards(start)) {
    const located = registry && locate(registry, path);
    if (registry !== undefined && located !== undefined)
      return openRegistered(located, { home, registry, system, options });
    if (isUnprotectedWorktree(path)) throw notProtected({ home, registry, start, inWorktree: true });
  }
  throw notProtected({ home, registry, start, inWorktree: false });
}

/** Looks up a directory by its path, then by its identity: a moved one keeps its inode. */
export function locate(registry: Registry, path: AbsolutePath): LocatedWorkspace | undefined {
  const identity = rootIdentity(path);
  const byPath = registry.byPath(path);
  if (byPath !== undefined) return locateAt(registry, byPath, identity);
  return identity === undefined ? undefined : locateMoved(registry, path, identity);
}

function locateAt(
  registry: Registry,
  known: RegisteredWorkspace,
  identity: RootIdentity | undefined,
): LocatedWorkspace | undefined {
  if (known.endedAt !== null) return undefined;
  if (identity === undefined) return { ...known, notices: [rootGone(known.path)] };
  if (isSame(known, identity)) return { ...known, notices: [] };
  registry.move(known, known.path, identity);
  return {
    ...known,
    ...identity,
    notices: ["The directory was replaced since the last command; everything is read again."],
  };
}

function locateMoved(
  registry: Registry,
  path: AbsolutePath,
  identity: RootIdentity,
): LocatedWorkspace | undefined {
  const known = registry.byIdentity(identity);
  if (known === undefined || known.endedAt !== null) return undefined;
  const atOldPath = rootIdentity(known.path);
  // the same directory under two names, such as a bind mount
  if (atOldPath !== undefined && isSame(known, atOldPath)) return { ...known, notices: [] };
  registry.move(known, path, identity);
  return {
    ...known,
    path,
    notices: [
      `The ${known.workingCopy === MAIN_WORKING_COPY ? "workspace" : "fork"} moved here from ${displayAbsolute(known.path)}.`,
    ],
  };
}

function isSame(a: RootIdentity, b: RootIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.birth === b.birth;
}
