/**
 * Files with several names: an event names only the path that was written. When such a file changed, its
 * other names in the working copy are examined too. Names elsewhere are left to a full scan.
 */
import { joinPath, type BytePath } from "../../model/byte-path.ts";
import { FILE, type FileTable } from "../../scan/file-table.ts";

/** The inodes of a tree that have several names. */
export class LiveLinks {
  /** Inodes that have, or had, more than one name. */
  readonly #inodes = new Set<bigint>();

  constructor(table: FileTable) {
    const sorted = table.ino.slice(0, table.length).sort();
    for (let at = 1; at < sorted.length; at += 1) {
      if (sorted[at] === sorted[at - 1] && sorted[at] !== 0n) this.#inodes.add(sorted[at]!);
    }
  }

  add(inodes: Iterable<bigint>): void {
    for (const inode of inodes) this.#inodes.add(inode);
  }

  has(inode: bigint): boolean {
    return this.#inodes.has(inode);
  }
}

/** The paths at which a table has these inodes. */
export function pathsOf(table: FileTable, inodes: ReadonlySet<bigint>): BytePath[] {
  const paths: BytePath[] = [];
  if (inodes.size === 0) return paths;
  for (const [directory, path] of table.directories.entries()) {
    for (const index of table.entriesOf(directory)) {
      if (table.kind[index] === FILE && inodes.has(table.ino[index]!))
        paths.push(joinPath(path, table.names[index]!));
    }
  }
  return paths;
}
