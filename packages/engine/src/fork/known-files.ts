/** What is provably still in a directory, by the stats of its last scan. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { statNode, type FileStat } from "../fs/file-stat.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { FILE, type FileTable } from "../scan/file-table.ts";
import type { DirectoryLook } from "../scan/native-look.ts";
import { hasStat } from "../scan/stat-columns.ts";

/** A directory in the table of a scan. */
export interface KnownDirectory {
  readonly table: FileTable;
  readonly directory: number;
}

/** A directory whose files are known by a scan. */
export class KnownFiles implements Disposable {
  readonly #anchor: Anchor;
  readonly #table: FileTable | undefined;
  readonly #directories: ReadonlyMap<BytePath, number>;

  constructor({ root, table }: { readonly root: AbsolutePath; readonly table: FileTable | undefined }) {
    this.#anchor = new Anchor(root);
    this.#table = table;
    this.#directories = new Map(table?.directories.map((path, index) => [path, index]));
  }

  reach(at: BytePath): AbsolutePath | undefined {
    return this.#anchor.reach(at);
  }

  /** A directory in which nothing has changed since the scan. */
  directoryAt(path: BytePath, look: DirectoryLook | undefined): KnownDirectory | undefined {
    const directory = this.#directories.get(path);
    if (this.#table === undefined || directory === undefined || look?.isAsBefore(directory) !== true)
      return undefined;
    return { table: this.#table, directory };
  }

  /** Where a file is in the scan that had this content then. */
  known(at: BytePath, hash: ObjectHash): { table: FileTable; index: number } | undefined {
    const table = this.#table;
    const slash = at.lastIndexOf("/");
    const directory = this.#directories.get(at.slice(0, Math.max(slash, 0)) as BytePath);
    if (table === undefined || directory === undefined) return undefined;
    const index = table.find(directory, at.slice(slash + 1));
    if (index < 0 || table.kind[index] !== FILE || table.flags[index] !== 0 || table.hashAt(index) !== hash)
      return undefined;
    return { table, index };
  }

  /** A file that has this content, by the stat of the scan. */
  unchanged(at: BytePath, hash: ObjectHash): { path: AbsolutePath; stat: FileStat } | undefined {
    const known = this.known(at, hash);
    if (known === undefined) return undefined;
    const { table, index } = known;
    const path = this.reach(at);
    const stat = path === undefined ? undefined : statNode(path);
    if (path === undefined || stat === undefined || !hasStat(table, index, () => stat)) return undefined;
    return { path, stat };
  }

  [Symbol.dispose](): void {
    this.#anchor[Symbol.dispose]();
  }
}
