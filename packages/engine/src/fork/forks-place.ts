/** Where the forks of the workspace at hand go, and whether their files can share its blocks. */
import type { Context } from "../capture/context.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { sharesBlocks } from "../fs/copy-file.ts";
import { temporaryDirectory } from "../fs/system.ts";
import { forksDirectory } from "./fork-place.ts";
import { withRegistry, workspaceRoot, type Forking } from "./forking.ts";

/** The directory of all forks; it may not exist yet. */
export function forksPlace(context: Context, forking: Forking): AbsolutePath {
  const { settings, home, id } = forking;
  return forksDirectory({
    id,
    root: workspaceRoot(context),
    directory: settings.directory,
    home,
    homeDirectory: context.system.homeDirectory,
    temporary: temporaryDirectory(),
    copies: withRegistry(context, forking, (registry) => registry.listCopies()),
  });
}

/** Tried with a file of the original that has content: only then are there blocks to share. */
export function sharesBlocksWith({ workingCopy, store }: Context, place: AbsolutePath): boolean {
  const table = workingCopy.lastScan?.table;
  if (table === undefined || store.directory === undefined) return false;
  for (const [directory, path] of table.directories.entries())
    for (const index of table.entriesOf(directory))
      if (table.kind[index] === 0 && table.size[index]! > 0)
        return sharesBlocks(
          below(workingCopy.root, path === "" ? table.names[index]! : `${path}/${table.names[index]!}`),
          place,
        );
  return false;
}
