/**
 * Paths on the command line are relative to the current directory; the engine needs them relative to the
 * root.
 */
import { realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Workspace } from "@belay/engine";
import { ContractError, usageError } from "@belay/protocol/errors";

/** Paths relative to the root; undefined for the whole workspace or no paths at all. */
export function workspacePaths(
  workspace: Pick<Workspace, "root">,
  directory: string,
  given: readonly string[],
): readonly string[] | undefined {
  const paths = given.map((path) => atAnyDepth(path, workspacePath(workspace, directory, path)));
  return paths.length === 0 || paths.includes("") ? undefined : paths;
}

/** A pattern without a slash is tried at any depth below the directory it was typed in. */
function atAnyDepth(given: string, path: string): string {
  const slash = path.lastIndexOf("/");
  if (slash === -1 || given.includes("/") || !/[*?[]/.test(given)) return path;
  return `${path.slice(0, slash)}/**${path.slice(slash)}`;
}

/**
 * One path relative to the root, "" for the root itself. It need not exist; a final symbolic link is not
 * resolved.
 */
export function workspacePath(workspace: Pick<Workspace, "root">, directory: string, given: string): string {
  if (given === "") throw usageError("A path is empty.", "Name a file or directory; . is the current one.");
  if (given.includes("\ufffd")) throw notText(given);
  const absolute = resolve(directory, given);
  const path = inside(workspace.root, absolute) ?? inside(workspace.root, withRealParent(absolute));
  if (path !== undefined) return path.split(sep).join("/");
  throw new ContractError(
    "PATH_OUTSIDE",
    `${given} is outside the workspace ${workspace.root}. Nothing was changed.`,
    {
      facts: { path: given },
    },
  );
}

/** An absolute path that lies outside the workspace; undefined for any other. */
export function outsidePath(
  workspace: Pick<Workspace, "root">,
  directory: string,
  given: string,
): string | undefined {
  if (!given.startsWith(sep)) return undefined;
  const [written, real] = [resolve(directory, given), withRealParent(resolve(directory, given))];
  const isInside = [written, real].some((path) => inside(workspace.root, path) !== undefined);
  return isInside ? undefined : real;
}

function inside(root: string, absolute: string): string | undefined {
  const path = relative(root, absolute);
  return path === ".." || path.startsWith(`..${sep}`) ? undefined : path;
}

/** Resolves symbolic links in the part of the path that exists, but not in its last name. */
function withRealParent(absolute: string): string {
  const parent = dirname(absolute);
  if (parent === absolute) return absolute;
  const name = absolute.slice(parent.endsWith(sep) ? parent.length : parent.length + 1);
  try {
    return join(realpathSync(parent), name);
  } catch {
    return join(withRealParent(parent), name);
  }
}

function notText(given: string): ContractError {
  return usageError(
    `${given} is not valid UTF-8, and such a name cannot be passed on the command line.`,
    "Name the directory above it.",
  );
}
