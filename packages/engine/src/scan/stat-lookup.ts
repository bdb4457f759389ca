/** Finds a path's stat in the table of a finished scan. */
import { baseName, parentPath, type BytePath } from "../model/byte-path.ts";
import { FILE, type FileTable } from "./file-table.ts";

/** A function from paths to the stats of files; undefined for anything else. */
export function createStatLookup(
  table: FileTable,
): (path: BytePath) => { size: number; mtimeNs: bigint; mode: number } | undefined {
  let directories: Map<BytePath, number> | undefined;
  return (path) => {
    directories ??= new Map(table.directories.map((directory, index) => [directory, index]));
    const directory = directories.get(parentPath(path));
    const index = directory === undefined ? -1 : table.find(directory, baseName(path));
    if (index < 0 || table.kind[index] !== FILE) return undefined;
    return { size: table.size[index]!, mtimeNs: table.mtimeNs[index]!, mode: table.mode[index]! };
  };
}
