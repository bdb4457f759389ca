/** Which directories can be protected, and why the others cannot. */
import {
  absolutePath,
  below,
  displayAbsolute,
  isInside,
  parentOf,
  realPath,
  realPathAsFarAsPossible,
  upwards,
  type AbsolutePath,
} from "../fs/absolute-path.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { findRepository } from "../git/git-repository.ts";
import { statNode } from "../fs/file-stat.ts";
import { EngineError } from "../model/errors.ts";
import type { System } from "../model/system.ts";
import { rootIdentity, type RegisteredWorkspace, type Registry } from "../store/registry.ts";

/** Whether a directory is a linked git worktree, which is never part of the workspace around it. */
export function isUnprotectedWorktree(path: AbsolutePath): boolean {
  if (statNode(below(path, ".git")) === undefined) return false;
  const repository = findRepository(path);
  return repository?.linkedWorktree === true && repository.topLevel === path;
}

/** The real path of a directory; throws `WORKSPACE_REFUSED` when there is none. */
export function existingRoot(path: string): AbsolutePath {
  const absolute = absolutePath(path);
  const shown = displayAbsolute(absolute);
  let root: AbsolutePath;
  try {
    root = realPath(absolute);
  } catch (error) {
    throw new EngineError(
      "WORKSPACE_REFUSED",
      `${shown} does not exist. Nothing was changed.`,
      { path: shown, reason: "it does not exist" },
      error,
    );
  }
  if (rootIdentity(root) !== undefined) return root;
  throw new EngineError("WORKSPACE_REFUSED", `${shown} is not a directory. Nothing was changed.`, {
    path: shown,
    reason: "it is not a directory",
  });
}

/** Refuses whole disks and home directories, which are not projects, and stores on network file systems. */
export function refuseUnfit(root: AbsolutePath, home: AbsolutePath, system: System): void {
  const user = realPathAsFarAsPossible(absolutePath(system.homeDirectory));
  const reason =
    root === "/"
      ? "it is the whole file system"
      : isInside(user, root)
        ? "it is a home directory"
        : isInside(root, home)
          ? "it is Belay's own store"
          : fileSystemKind(nearestExisting(home)).network
            ? `the store ${displayAbsolute(home)} would be on a network file system`
            : undefined;
  if (reason === undefined) return;
  const path = displayAbsolute(root);
  throw new EngineError("WORKSPACE_REFUSED", `${path} is not protected: ${reason}. Nothing was changed.`, {
    path,
    reason,
  });
}

/** Where a home that is not there yet will be made: it will be on that file system. */
function nearestExisting(home: AbsolutePath): AbsolutePath {
  return upwards(home).find((path) => statNode(path) !== undefined) ?? home;
}

/** Refuses a workspace inside another one unless `nested` asks for it; one that moves may stay inside the one it was in. */
export function refuseNested(
  registry: Registry,
  root: AbsolutePath,
  { nested = false, moving }: { nested?: boolean; moving?: RegisteredWorkspace },
): void {
  if (nested || isUnprotectedWorktree(root)) return;
  for (const above of upwards(parentOf(root))) {
    const outer = registry.byPath(above);
    if (outer === undefined || outer.endedAt !== null || isAround(outer, moving)) continue;
    const path = displayAbsolute(root);
    const reason = `it is inside the workspace ${displayAbsolute(outer.path)}`;
    throw new EngineError(
      "WORKSPACE_REFUSED",
      `${path} is protected already: ${reason}. Nothing was changed.`,
      { path, reason },
    );
  }
}

/** Whether the outer one is the moving one itself, or already held it. */
function isAround(outer: RegisteredWorkspace, moving: RegisteredWorkspace | undefined): boolean {
  return moving !== undefined && isInside(moving.path, outer.path);
}
