/**
 * Where forks are made: beside the workspace, so that their files can share its blocks, and never inside it, where build
 * tools would find every file twice.
 */
import {
  absolutePath,
  below,
  displayAbsolute,
  isInside,
  parentOf,
  realPathAsFarAsPossible,
  type AbsolutePath,
} from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { whyUnwritable } from "../fs/mutate.ts";
import { findRepository } from "../git/git-repository.ts";
import { EngineError } from "../model/errors.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { RegisteredWorkspace } from "../store/registry.ts";

/** Everything that decides where the forks of a workspace are. */
export interface PlaceRequest {
  readonly id: WorkspaceId;
  /** The workspace's own root, also when a fork is forked: forks never lie in one another. */
  readonly root: AbsolutePath;
  /** The setting `forks.directory`. */
  readonly directory: string | null;
  /** `$BELAY_HOME`. */
  readonly home: AbsolutePath;
  readonly homeDirectory: string;
  readonly temporary: string;
  readonly copies: readonly RegisteredWorkspace[];
}

/** The directory of all forks beside a workspace. */
export const FORKS_NAME = ".belay-forks";

/** The directory of all forks of a workspace; it may not exist yet. */
export function forksDirectory(request: PlaceRequest): AbsolutePath {
  const { id, root, directory, homeDirectory } = request;
  const name = root.slice(root.lastIndexOf("/") + 1) || "root";
  if (directory !== null)
    return checked(
      below(realPathAsFarAsPossible(absolutePath(directory)), `${name}-${id.slice(0, 6)}`),
      request,
    );
  const parent = parentOf(root);
  if (isFit(parent, request)) return checked(below(parent, `${FORKS_NAME}/${name}`), request);
  const own = realPathAsFarAsPossible(absolutePath(homeDirectory));
  return checked(below(own, `${FORKS_NAME}/${name}-${id.slice(0, 6)}`), request);
}

/** A repository or another workspace around the forks would take their files for its own. */
function isFit(parent: AbsolutePath, { root, copies }: PlaceRequest): boolean {
  if (root === "/" || whyUnwritable(parent, true) !== undefined) return false;
  if (findRepository(parent) !== undefined) return false;
  return !copies.some((copy) => copy.endedAt === null && isInside(parent, copy.path));
}

function checked(place: AbsolutePath, request: PlaceRequest): AbsolutePath {
  const reason = whyUnfit(place, request);
  if (reason === undefined) return place;
  const path = displayAbsolute(place);
  throw new EngineError(
    "CONFIG_INVALID",
    `Forks cannot be made in ${path}: ${reason}. Choose another place with the setting forks.directory. Nothing was changed.`,
    { key: "forks.directory", reason },
  );
}

function whyUnfit(place: AbsolutePath, { root, home, temporary }: PlaceRequest): string | undefined {
  if (isInside(place, root)) return "it lies inside the workspace, whose tools would find every file twice";
  if (isInside(place, realPathAsFarAsPossible(home))) return "the store is kept there";
  const swept = realPathAsFarAsPossible(absolutePath(temporary));
  if (isInside(place, swept) && !isInside(root, swept)) return "temporary directories are swept";
  return undefined;
}

/** The name of a fork's directory that is not in use there. */
export function freeDirectory(place: AbsolutePath, name: string): AbsolutePath {
  const base = Buffer.from(name.replaceAll("/", "-"), "utf8").toString("latin1");
  for (let number = 1; ; number += 1) {
    const path = below(place, number === 1 ? base : `${base}-${number}`);
    if (statNode(path) === undefined) return path;
  }
}
