/** Which directories can be a workspace, and what is wrong with those that cannot. */
import { absolutePath, below, displayAbsolute, realPath, type AbsolutePath } from "../fs/absolute-path.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { findRepository } from "../git/git-repository.ts";
import { statNode } from "../fs/file-stat.ts";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { System } from "../model/system.ts";
import { rootIdentity, type RegisteredWorkspace, type Registry } from "../store/registry.ts";

export function parentOf(path: AbsolutePath): AbsolutePath {
  return (path.slice(0, path.lastIndexOf("/")) || "/") as AbsolutePath;
}

/** A linked git worktree is never part of the workspace around it. */
export function isUnprotectedWorktree(path: AbsolutePath): boolean {
  if (statNode(below(path, ".git")) === undefined) return false;
  const repository = findRepository(path);
  return repository?.linkedWorktree === true && repository.topLevel === path;
}

/** The real path of a directory; throws when it is none. */
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

/** The real path of what exists, and the rest as it was written. */
export function resolveAsFarAsPossible(path: AbsolutePath): AbsolutePath {
  try {
    return realPath(path);
  } catch {
    return path === "/"
      ? path
      : below(resolveAsFarAsPossible(parentOf(path)), path.slice(path.lastIndexOf("/") + 1));
  }
}

/** Whole disks and home directories are not projects; a store on a network file system is not safe. */
export function refuseUnfit(root: AbsolutePath, home: AbsolutePath, system: System): void {
  const user = resolveAsFarAsPossible(absolutePath(system.homeDirectory));
  const reason =
    root === "/"
      ? "it is the whole file system"
      : isAtOrBelow(user as string as BytePath, root as string as BytePath)
        ? "it is a home directory"
        : isAtOrBelow(root as string as BytePath, home as string as BytePath)
          ? "it is Belay's own store"
          : fileSystemKind(home).network
            ? `the store ${displayAbsolute(home)} would be on a network file system`
            : undefined;
  if (reason === undefined) return;
  const path = displayAbsolute(root);
  throw new EngineError("WORKSPACE_REFUSED", `${path} is not protected: ${reason}. Nothing was changed.`, {
    path,
    reason,
  });
}

/** A workspace inside another one needs to be asked for; one that moves there may stay in the one it was in. */
export function refuseNested(
  registry: Registry,
  root: AbsolutePath,
  { nested = false, moving }: { nested?: boolean; moving?: RegisteredWorkspace },
): void {
  if (nested || isUnprotectedWorktree(root)) return;
  for (let above = parentOf(root); ; above = parentOf(above)) {
    const outer = registry.byPath(above);
    if (outer !== undefined && outer.endedAt === null && !isAround(outer, moving)) {
      const path = displayAbsolute(root);
      const reason = `it is inside the workspace ${displayAbsolute(outer.path)}`;
      throw new EngineError(
        "WORKSPACE_REFUSED",
        `${path} is protected already: ${reason}. Nothing was changed.`,
        { path, reason },
      );
    }
    if (above === "/") return;
  }
}

/** It is the moving one itself, or was around it already. */
function isAround(outer: RegisteredWorkspace, moving: RegisteredWorkspace | undefined): boolean {
  return (
    moving !== undefined && isAtOrBelow(moving.path as string as BytePath, outer.path as string as BytePath)
  );
}
