/**
 * Looks at the whole working copy once: lists every directory, stats every entry, applies the rules
 * and compares with the previous scan. Reads no file content except ignore files; what must be read is
 * left in `pending`. Never follows a symbolic link, never crosses a mount point, never opens a FIFO
 * or device. What cannot be looked at becomes a gap; nothing is left out silently.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { isErrno, kindOf, statNode, type FileStat } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { GapReason } from "../model/entry.ts";
import type { RecordedIgnoreFile } from "../model/rules.ts";
import { HASH_BYTES } from "../model/object-hash.ts";
import { DIRECTORY, FILE, FileTable, GAP, RACY, SYMLINK } from "./file-table.ts";
import { IGNORE_FILE_LIMIT, type DirectoryRules, type IgnoreFiles } from "./ignore-rules.ts";

export interface ScanRequest {
  readonly root: AbsolutePath;
  /** The rules for the root directory, its own ignore files not yet applied. */
  readonly rules: DirectoryRules;
  readonly previous: FileTable | undefined;
  readonly fileLimitBytes: number;
  /** Paths to which the size limit does not apply. */
  readonly unlimited: ReadonlySet<BytePath>;
  /** Paths to read again whatever their stat says. */
  readonly forced: ReadonlySet<BytePath>;
  /** Entries whose times are not older than this may change again without a trace. */
  readonly racySinceNs: bigint;
}

export interface Scan {
  readonly table: FileTable;
  /** Indexes of files and symbolic links whose content must be read. */
  readonly pending: readonly number[];
  readonly pendingPaths: readonly BytePath[];
  /** Directories of the table whose entries are all as before; their subdirectories may still differ. */
  readonly unchanged: Uint8Array;
  /** For each directory: the table index of its own entry (-1 for the root), and of its parent directory. */
  readonly ownEntry: readonly number[];
  readonly parent: readonly number[];
  /** The previous table's index of each directory, -1 when it is new. */
  readonly before: readonly number[];
  readonly excluded: readonly ExcludedRoot[];
  readonly ignoreFiles: readonly RecordedIgnoreFile[];
}

/** Databases and the like are written through memory maps, which leave no trace in the file's times. */
const MAPPED = /\.(?:db|sqlite3?|mdb|lmdb)(?:-wal|-shm|-journal)?$/;

export function scanTree(request: ScanRequest): Scan {
  return new Scanner(request).run();
}

/** What `.git` in a directory can tell about it. */
const LINKED_WORKTREE = /^gitdir: .*[/\\]worktrees[/\\][^/\\]+\s*$/;

class Scanner {
  readonly #request: ScanRequest;
  readonly #table = new FileTable();
  readonly #pending: number[] = [];
  readonly #pendingPaths: BytePath[] = [];
  readonly #unchanged: number[] = [];
  readonly #ownEntry: number[] = [];
  readonly #parent: number[] = [];
  readonly #before: number[] = [];
  readonly #excluded: ExcludedRoot[] = [];
  readonly #ignoreFiles: RecordedIgnoreFile[] = [];
  readonly #previousDirectories = new Map<BytePath, number>();
  readonly #device: bigint;

  constructor(request: ScanRequest) {
    this.#request = request;
    this.#device = statNode(request.root)?.dev ?? -1n;
    request.previous?.directories.forEach((path, index) => this.#previousDirectories.set(path, index));
  }

  run(): Scan {
    this.#scan({ path: ROOT_PATH, rules: this.#request.rules, names: listDirectory(this.#request.root), ownEntry: -1, parent: -1 });
    return {
      table: this.#table,
      pending: this.#pending,
      pendingPaths: this.#pendingPaths,
      unchanged: Uint8Array.from(this.#unchanged),
      ownEntry: this.#ownEntry,
      parent: this.#parent,
      before: this.#before,
      excluded: this.#excluded,
      ignoreFiles: this.#ignoreFiles,
    };
  }

  #scan(visit: Visit): void {
    const { path } = visit;
    const directory = this.#table.addDirectory(path);
    const before = this.#previousDirectories.get(path) ?? -1;
    this.#ownEntry.push(visit.ownEntry);
    this.#parent.push(visit.parent);
    this.#before.push(before);
    const cursor = new PreviousEntries(this.#request.previous, before);
    const subdirectories: Visit[] = [];
    for (const name of visit.names) this.#look({ ...visit, directory, cursor, subdirectories }, name);
    this.#unchanged.push(cursor.isExhaustedUnchanged(this.#table.entryCount[directory]!) ? 1 : 0);
    for (const child of subdirectories) this.#scan(child);
  }

  #look(visit: OpenVisit, name: string): void {
    const path = joinPath(visit.path, name);
    const absolute = below(this.#request.root, path);
    let stat: FileStat | undefined;
    try {
      stat = statNode(absolute);
    } catch {
      return this.#addGap(visit, name, UNKNOWN, "unreadable");
    }
    if (stat === undefined) return;
    const kind = kindOf(stat);
    const verdict = visit.rules.verdict(name, kind === "directory");
    if (typeof verdict === "object") {
      this.#exclude(path, verdict.excludedBy, kind === "directory" ? null : Number(stat.size));
    } else if (kind === "directory") {
      this.#lookAtDirectory(visit, { name, path, absolute, stat });
    } else if (kind === "special") {
      this.#addGap(visit, name, stat, "special");
    } else {
      this.#lookAtFile(visit, { name, path, stat, kind });
    }
  }

  #lookAtDirectory(visit: OpenVisit, found: { name: string; path: BytePath; absolute: AbsolutePath; stat: FileStat }): void {
    const { name, path, absolute, stat } = found;
    if (stat.dev !== this.#device) return this.#exclude(path, "mount point", null);
    let names: string[];
    try {
      names = listDirectory(absolute);
    } catch (error) {
      if (isErrno(error, "ENOENT", "ENOTDIR")) return;
      return this.#addGap(visit, name, stat, "unreadable");
    }
    if (names.includes(".git") && isLinkedWorktree(absolute)) return this.#exclude(path, "linked git worktree", null);
    const index = this.#table.addEntry(visit.directory, name, DIRECTORY, stat);
    visit.cursor.compareDirectory(this.#table, index);
    const rules = visit.rules.child(name, this.#readIgnoreFiles(path, names));
    visit.subdirectories.push({ path, rules, names, ownEntry: index, parent: visit.directory });
  }

  #lookAtFile(visit: OpenVisit, found: { name: string; path: BytePath; stat: FileStat; kind: "file" | "symlink" }): void {
    const { name, path, stat, kind } = found;
    const { fileLimitBytes, unlimited, forced, racySinceNs } = this.#request;
    if (kind === "file" && stat.size > fileLimitBytes && !unlimited.has(path)) {
      return this.#addGap(visit, name, stat, "too-large");
    }
    const index = this.#table.addEntry(visit.directory, name, kind === "file" ? FILE : SYMLINK, stat);
    if (stat.mtimeNs >= racySinceNs || stat.ctimeNs >= racySinceNs || MAPPED.test(name)) this.#table.flags[index] = RACY;
    const reused = !forced.has(path) && visit.cursor.reuse(this.#table, index);
    if (reused) return;
    visit.cursor.markChanged();
    this.#pending.push(index);
    this.#pendingPaths.push(path);
  }

  #addGap(visit: OpenVisit, name: string, stat: FileStat, reason: GapReason): void {
    const index = this.#table.addEntry(visit.directory, name, GAP, stat);
    this.#table.setGap(index, reason);
    visit.cursor.compareGap(this.#table, index);
  }

  #exclude(path: BytePath, rule: string, bytes: number | null): void {
    this.#excluded.push({ path, rule, bytes });
  }


  #readIgnoreFiles(path: BytePath, names: readonly string[]): IgnoreFiles {
    const files: { gitignore?: Buffer; belayignore?: Buffer } = {};
    for (const layer of ["gitignore", "belayignore"] as const) {
      if (!names.includes(`.${layer}`)) continue;
      const content = readSmallFile(below(this.#request.root, joinPath(path, `.${layer}`)), IGNORE_FILE_LIMIT);
      if (content === undefined) continue;
      files[layer] = content;
      this.#ignoreFiles.push({ path: joinPath(path, `.${layer}`), layer, content });
    }
    return files;
  }
}

/** Stands in for a stat that the system would not give. */
const UNKNOWN = { mode: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n, ino: 0n } as FileStat;

interface Visit {
  readonly path: BytePath;
  readonly rules: DirectoryRules;
  readonly names: readonly string[];
  readonly ownEntry: number;
  readonly parent: number;
}

interface OpenVisit extends Visit {
  readonly directory: number;
  readonly cursor: PreviousEntries;
  readonly subdirectories: Visit[];
}

function isLinkedWorktree(directory: AbsolutePath): boolean {
  const pointer = readSmallFile(below(directory, ".git"), 4096);
  return pointer !== undefined && LINKED_WORKTREE.test(pointer.toString("latin1").trimEnd());
}

/** Walks the previous scan's entries of one directory alongside the new ones; both are sorted by name. */
class PreviousEntries {
  readonly #table: FileTable | undefined;
  #at: number;
  readonly #first: number;
  readonly #end: number;
  #changed = false;

  constructor(table: FileTable | undefined, directory: number) {
    this.#table = directory < 0 ? undefined : table;
    this.#first = this.#at = this.#table?.firstEntry[directory] ?? 0;
    this.#end = this.#at + (this.#table?.entryCount[directory] ?? 0);
    if (this.#table === undefined) this.#changed = true;
  }

  markChanged(): void {
    this.#changed = true;
  }

  /** True when each of the new entries was there before, equal, and none is missing. */
  isExhaustedUnchanged(count: number): boolean {
    return !this.#changed && count === this.#end - this.#first;
  }

  /** Takes over the hash when the entry is provably the one seen before. */
  reuse(table: FileTable, index: number): boolean {
    const old = this.#find(table.names[index]!);
    const before = this.#table;
    if (before === undefined || old < 0 || before.flags[old] === RACY || !sameKeys(table, index, before, old)) return false;
    if (before.mode[old] !== table.mode[index]) this.#changed = true;
    const from = old * HASH_BYTES;
    table.hash.set(before.hash.subarray(from, from + HASH_BYTES), index * HASH_BYTES);
    return true;
  }

  compareDirectory(table: FileTable, index: number): void {
    const old = this.#find(table.names[index]!);
    const before = this.#table;
    if (before === undefined || old < 0 || before.kind[old] !== DIRECTORY || before.mode[old] !== table.mode[index]) this.#changed = true;
  }

  compareGap(table: FileTable, index: number): void {
    const old = this.#find(table.names[index]!);
    const before = this.#table;
    const same =
      before !== undefined &&
      old >= 0 &&
      before.kind[old] === GAP &&
      before.mode[old] === table.mode[index] &&
      before.size[old] === table.size[index];
    if (!same) this.#changed = true;
  }

  #find(name: string): number {
    const table = this.#table;
    if (table === undefined) return -1;
    while (this.#at < this.#end && table.names[this.#at]! < name) this.#at += 1;
    return this.#at < this.#end && table.names[this.#at] === name ? this.#at : -1;
  }
}

function sameKeys(a: FileTable, i: number, b: FileTable, j: number): boolean {
  return (
    a.kind[i] === b.kind[j] &&
    a.size[i] === b.size[j] &&
    a.ino[i] === b.ino[j] &&
    a.mtimeNs[i] === b.mtimeNs[j] &&
    a.ctimeNs[i] === b.ctimeNs[j] &&
    b.hasHash(j)
  );
}
