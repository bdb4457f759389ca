/** Explains why a directory has no workspace: it never had one, it was ended, its store is attached elsewhere. */
import { below, displayAbsolute, isInside, upwards, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { EngineError } from "../model/errors.ts";
import type { RegisteredWorkspace, Registry } from "../store/registry.ts";

/** A search for a workspace that found none. */
interface Search {
  readonly home: AbsolutePath;
  /** Undefined where there is no home yet. */
  readonly registry: Registry | undefined;
  readonly start: AbsolutePath;
  /** The search ended at a linked git worktree. */
  readonly inWorktree: boolean;
}

/** The error for a directory that is in no workspace. */
export function notProtected(search: Search): EngineError<"WORKSPACE_NOT_FOUND"> {
  const { registry, start, inWorktree } = search;
  const path = displayAbsolute(start);
  const gone = registry === undefined ? [] : goneWorkspaces(registry, start);
  const candidates = gone.map(({ id, path: old }) => ({ id, path: displayAbsolute(old) }));
  const isThere = statNode(start) !== undefined;
  const place = inWorktree
    ? "in a linked git worktree that is not protected yet"
    : "not in a protected directory";
  const { why, ...past } = (registry && pastOf(registry, search)) ?? {
    why: isThere ? `${path} is ${place}` : `${path} does not exist, and was not protected`,
  };
  return new EngineError("WORKSPACE_NOT_FOUND", `${why}. Nothing was changed.`, {
    path,
    candidates,
    ...past,
  });
}

/** Protected directories that no longer exist, those first that were below this one. */
export function goneWorkspaces(registry: Registry, start: AbsolutePath): RegisteredWorkspace[] {
  const isBelow = ({ path }: RegisteredWorkspace) => isInside(path, start);
  const gone = registry
    .list()
    .filter(({ endedAt, path }) => endedAt === null && statNode(path) === undefined);
  return [...gone.filter(isBelow), ...gone.filter((one) => !isBelow(one))];
}

/** What became of the protection that this directory, or one above it, once had. */
function pastOf(registry: Registry, { start, home }: Search) {
  const ended = endedAbove(registry, start);
  if (ended !== undefined) {
    const store = displayAbsolute(below(home, `workspaces/${ended.store}`));
    const path = displayAbsolute(ended.path);
    const why = `${path} is no longer protected: \`belay uninstall\` ended that. Its checkpoints are still in ${store}`;
    return { why, ended: { id: ended.id, path, store } };
  }
  for (const path of upwards(start)) {
    const gone = registry.departureFrom(path);
    const now = gone && registry.list().find(({ id }) => id === gone.workspace);
    if (gone === undefined || now === undefined) continue;
    const movedTo = { id: now.id, path: displayAbsolute(now.path) };
    const why = `${displayAbsolute(path)} is not protected: its store was attached to ${movedTo.path}`;
    return { why, movedTo };
  }
  return undefined;
}

/** The nearest directory at or above this one whose protection was ended. */
export function endedAbove(registry: Registry, start: AbsolutePath): RegisteredWorkspace | undefined {
  return nearestAbove(registry, start, ({ endedAt }) => endedAt !== null);
}

/** The nearest directory at or above this one that is protected, whatever state its store is in. */
export function protectedAbove(registry: Registry, start: AbsolutePath): RegisteredWorkspace | undefined {
  return nearestAbove(registry, start, ({ endedAt }) => endedAt === null);
}

function nearestAbove(
  registry: Registry,
  start: AbsolutePath,
  fits: (known: RegisteredWorkspace) => boolean,
): RegisteredWorkspace | undefined {
  for (const path of upwards(start)) {
    const known = registry.byPath(path);
    if (known !== undefined && fits(known)) return known;
  }
  return undefined;
}
