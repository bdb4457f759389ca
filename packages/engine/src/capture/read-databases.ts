/**
 * A SQLite database and its logs, read as one. Each file by itself may be whole and the set still broken: SQLite moves
 * pages from the log into the database while we read. So the logs are read between two equal readings of the database.
 * Frames that were appended meanwhile are incomplete; SQLite recognizes them and leaves them out, so what is restored is
 * the state after some commit. A set that never holds still is captured as it was last read, and marked.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { baseName, joinPath, parentPath, type BytePath } from "../model/byte-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { DISCARD } from "../store/content-sink.ts";
import { FILE } from "../scan/file-table.ts";
import { databaseSet, isMapped } from "../scan/database-names.ts";
import { readFileContent } from "./read-content.ts";
import type { Scan } from "../scan/scan-request.ts";
import { directoryIndex } from "../scan/scan-directory.ts";
import { sleep } from "./sleep.ts";
import { hasStat } from "../scan/stat-columns.ts";

const ATTEMPTS = 8;

/** What a scan saw of the files to read. */
interface ScannedFiles {
  readonly root: AbsolutePath;
  readonly scan: Scan;
  /** Files whose times are not older than this are read twice, a moment apart. */
  readonly hotSinceNs: bigint;
}

/** The other files that belong to one set with this one; none for most names. */
export function databaseFiles(path: BytePath): BytePath[] {
  const name = baseName(path);
  return isMapped(name) ? databaseSet(name).map((each) => joinPath(parentPath(path), each)) : [];
}

/**
 * Reads the databases among the pending files, entry by entry. Returns the entries that need no further reading
 * (`done`), and the databases that did not hold still, with their logs (`unstable`).
 */
export function readDatabases(
  input: ScannedFiles,
  read: (path: BytePath, index: number) => void,
): { done: ReadonlySet<number>; unstable: readonly BytePath[] } {
  const { scan } = input;
  const names = new Set(scan.pendingPaths.flatMap((path) => databaseFiles(path).slice(0, 1)));
  const done = new Set<number>();
  const unstable: BytePath[] = [];
  if (names.size === 0) return { done, unstable };
  const directories = directoryIndex(scan.table);
  const pending = new Set(scan.pending);
  const indexOf = (path: BytePath) => {
    const directory = directories.get(parentPath(path));
    const index = directory === undefined ? -1 : scan.table.find(directory, baseName(path));
    return index >= 0 && scan.table.kind[index] === FILE ? index : undefined;
  };
  for (const name of names) {
    const database = new Database(input, name, indexOf);
    if (!database.isAtWork) continue;
    if (!database.readConsistently(pending, read)) unstable.push(...database.paths);
    for (const index of database.indexes) done.add(index);
  }
  return { done, unstable };
}

/** One database of the scan, with its logs. */
class Database {
  readonly #input: ScannedFiles;
  readonly #path: BytePath;
  readonly #files: readonly BytePath[];
  readonly #indexes: ReadonlyMap<BytePath, number>;

  constructor(input: ScannedFiles, path: BytePath, indexOf: (path: BytePath) => number | undefined) {
    this.#input = input;
    this.#path = path;
    this.#files = databaseSet(path).map((file) => file as BytePath);
    this.#indexes = new Map(
      this.#files.flatMap((file) => {
        const index = indexOf(file);
        return index === undefined ? [] : [[file, index] as const];
      }),
    );
  }

  get indexes(): Iterable<number> {
    return this.#indexes.values();
  }

  get paths(): Iterable<BytePath> {
    return this.#indexes.keys();
  }

  /** True when a program has it open, died while it had it open, or wrote to it a moment ago. */
  get isAtWork(): boolean {
    const index = this.#indexes.get(this.#path);
    if (index === undefined) return false;
    const isHot = this.#input.scan.table.mtimeNs[index]! >= this.#input.hotSinceNs;
    return isHot || this.#files.slice(1).some((log) => this.#isOnDisk(log));
  }

  /** Reads the set until the database is the same before and after; false when it never is. */
  readConsistently(pending: ReadonlySet<number>, read: (path: BytePath, index: number) => void): boolean {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (attempt > 0) sleep(2 ** attempt);
      for (const [path, index] of this.#indexes) if (pending.has(index)) read(path, index);
      if (this.#isUnchanged(this.#path, pending) && this.#isUnchanged(this.#journal, pending)) return true;
    }
    return false;
  }

  get #journal(): BytePath {
    return `${this.#path}-journal` as BytePath;
  }

  /** True when a file on disk is as it was read, or is still absent. */
  #isUnchanged(path: BytePath, pending: ReadonlySet<number>): boolean {
    const { table } = this.#input.scan;
    const index = this.#indexes.get(path);
    if (index === undefined || table.kind[index] !== FILE) return !this.#isOnDisk(path);
    if (!pending.has(index)) return hasStat(table, index, () => this.#stat(path));
    return this.#hashOnDisk(path) === table.hashAt(index);
  }

  #hashOnDisk(path: BytePath): ObjectHash | undefined {
    try {
      return readFileContent(below(this.#input.root, path), DISCARD).hash;
    } catch {
      // gone or unreadable: not what it was in any case
      return undefined;
    }
  }

  #isOnDisk(path: string): boolean {
    return this.#stat(path) !== undefined;
  }

  #stat(path: string) {
    return statNode(below(this.#input.root, path));
  }
}
