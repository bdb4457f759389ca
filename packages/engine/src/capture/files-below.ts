/** The files below a path of the disk. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { kindOf } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { joinPath, type BytePath } from "../model/byte-path.ts";
import { GIT, hardExclude } from "../rules/hard-excludes.ts";
import { statNodeBelow } from "./node-state.ts";

/** Git repositories at any depth below a path; a checkpoint can hold none of them. */
export function repositoriesBelow(root: AbsolutePath, path: BytePath): BytePath[] {
  const stat = statNodeBelow(below(root, path));
  if (stat === undefined || kindOf(stat) !== "directory") return [];
  return listDirectory(below(root, path)).flatMap((name) => {
    const each = joinPath(path, name);
    const excluded = hardExclude(name);
    if (excluded === undefined) return repositoriesBelow(root, each);
    return excluded === GIT ? [each] : [];
  });
}

/** Every file and link at or below a path, whatever the rules say of it; git's own data aside. */
export function filesBelow(root: AbsolutePath, path: BytePath): BytePath[] {
  const stat = statNodeBelow(below(root, path));
  if (stat === undefined) return [];
  if (kindOf(stat) !== "directory") return [path];
  return listDirectory(below(root, path))
    .filter((name) => hardExclude(name) === undefined)
    .flatMap((name) => filesBelow(root, joinPath(path, name)));
}
