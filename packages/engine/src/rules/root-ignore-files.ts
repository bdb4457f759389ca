/** The ignore files in force in the workspace root: its own, and those of an enclosing repository. */
import { ancestorPaths, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { IGNORE_FILE_PATHS, type RecordedIgnoreFile } from "../model/rules.ts";
import { IgnoreStack, type IgnoreFiles } from "./ignore-stack.ts";

/**
 * Collects the ignore files from the repository's top level down to the root. A rule that excludes the root
 * or a directory above it was not meant for this workspace: it and everything above it are dropped, or a
 * project inside an ignored folder would have no content.
 */
export function rootStack(prefix: BytePath, ignoreFiles: readonly RecordedIgnoreFile[]): IgnoreStack {
  const files = filesByDirectory(ignoreFiles);
  const levels = prefix === "" ? [ROOT_PATH] : [ROOT_PATH, ...ancestorPaths(prefix), prefix];
  let stack = IgnoreStack.empty;
  for (const [depth, directory] of levels.entries()) {
    const next = levels[depth + 1];
    const shownAs = Array(levels.length - 1 - depth)
      .fill("..")
      .join("/") as BytePath;
    stack = stack.withFiles(files.get(shownAs) ?? {}, directory, shownAs);
    if (next === undefined) break;
    const name = next.slice(directory === "" ? 0 : directory.length + 1);
    if (stack.at(directory).find(name, true)?.excluded) stack = IgnoreStack.empty;
  }
  return stack;
}

/** Ignore files by their directory. */
export function filesByDirectory(ignoreFiles: readonly RecordedIgnoreFile[]): Map<BytePath, IgnoreFiles> {
  const files = new Map<BytePath, { -readonly [Layer in keyof IgnoreFiles]: IgnoreFiles[Layer] }>();
  for (const { path, layer, content } of ignoreFiles) {
    const end = path.length - IGNORE_FILE_PATHS[layer].length;
    const directory = path.slice(0, Math.max(end - 1, 0)) as BytePath;
    const sameDirectory = files.get(directory);
    if (sameDirectory === undefined) files.set(directory, { [layer]: content });
    else sameDirectory[layer] = content;
  }
  return files;
}
