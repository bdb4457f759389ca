/** The directories inside a workspace that belong to other workspaces or to Belay, and are left out of it. */
import { isInside, realPathAsFarAsPossible, type AbsolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { ExcludedDirectory } from "../model/rules.ts";
import { openRegistry, whileRegistryUnchanged, type Registry } from "../store/registry.ts";

interface Place {
  readonly id: WorkspaceId;
  readonly root: AbsolutePath;
}

/** Where the registry is, and the registry itself if it is open now. */
interface RegistryAccess {
  readonly home: AbsolutePath;
  readonly userId: number | undefined;
  readonly registry: Registry | undefined;
}

/** Reads what is left out of a workspace; opens the registry again only when its files changed. */
export function excludedDirectories(
  place: Place,
  { home, userId, registry }: RegistryAccess,
): () => ExcludedDirectory[] {
  let opened = registry;
  const read = whileRegistryUnchanged(home, () => {
    if (opened !== undefined) return listExcluded(place, home, opened);
    using again = openRegistry(home, userId);
    return listExcluded(place, home, again);
  });
  // the caller closes its registry soon: it is read at once, or not at all
  if (registry !== undefined) read();
  opened = undefined;
  return read;
}

function listExcluded({ id, root }: Place, home: AbsolutePath, registry: Registry): ExcludedDirectory[] {
  const isBelowRoot = (path: AbsolutePath) => path !== root && isInside(path, root);
  const relative = (path: AbsolutePath) => path.slice(root === "/" ? 1 : root.length + 1) as BytePath;
  const excluded = registry
    .listCopies()
    .filter((other) => other.endedAt === null && isBelowRoot(other.path))
    .map((other) => ({
      path: relative(other.path),
      reason: other.id === id ? "a fork of this workspace" : "a workspace of its own",
    }));
  const store = realPathAsFarAsPossible(home);
  return isBelowRoot(store)
    ? [...excluded, { path: relative(store), reason: "Belay's own store" }]
    : excluded;
}
