/** Which paths `sync.withhold` names, directory by directory. */
import { parentPath, baseName, ancestorPaths, type BytePath } from "../model/byte-path.ts";
import { IgnoreLookup } from "./ignore-lookup.ts";
import { createPatternList } from "./ignore-pattern-list.ts";

/** The patterns of a setting, compiled. */
export interface WithheldPaths {
  readonly isEmpty: boolean;
  /** Whether a name in a directory is named itself. */
  inDirectory(directory: BytePath): (name: string, isDirectory: boolean) => boolean;
  /** Whether a file, or a directory above it, is named. */
  has(path: BytePath): boolean;
}

/** Patterns are read as the lines of a `.gitignore` in the root. */
export function createWithheldPaths(patterns: readonly string[]): WithheldPaths {
  const content = Buffer.from(patterns.join("\n"));
  const list = createPatternList({ layer: "defaults", content, directory: "", label: () => "sync.withhold" });
  const inDirectory = (directory: BytePath) => {
    if (list === undefined) return () => false;
    const lookup = new IgnoreLookup([list], list.filter, directory);
    return (name: string, isDirectory: boolean) => lookup.find(name, isDirectory)?.excluded !== undefined;
  };
  const isNamed = (path: BytePath, isDirectory: boolean) =>
    inDirectory(parentPath(path))(baseName(path), isDirectory);
  return {
    isEmpty: list === undefined,
    inDirectory,
    has: (path) => isNamed(path, false) || ancestorPaths(path).some((above) => isNamed(above, true)),
  };
}
