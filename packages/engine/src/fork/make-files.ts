/**
 * Makes a directory hold the files of a snapshot. A file that the original still has, by the stat of its last scan, is
 * copied by the kernel, and the original's stat is compared again afterwards; one that is there already, left by a spare
 * fork, stays after the same comparison; every other file comes from the store, whose reads are verified. [R90]
 */
import { readTree } from "../diff/compare-trees.ts";
import { isInside, type AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { copyContent, copyRegular } from "../fs/copy-file.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { removeFile } from "../fs/durable-file.ts";
import { isDiskFull, kindOf, sameStat, statNode, type FileStat } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { createDirectory, createFile, createLink, setMode } from "../fs/mutate.ts";
import { isSystemError } from "../fs/system-error.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { MODE_BITS, type Entry } from "../model/entry.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { DIRECTORY, FILE, FileTable, SYMLINK } from "../scan/file-table.ts";
import { hasStat, RACY } from "../scan/stat-columns.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** What to make, and where. */
export interface FilesRequest {
  readonly objects: ObjectSource;
  readonly snapshot: ObjectHash;
  readonly original: {
    readonly root: AbsolutePath;
    /** Its last scan; without one everything comes from the store. */
    readonly table: FileTable | undefined;
  };
  /** What a spare fork left in the target, by its last scan: what is wanted of it stays, the rest is removed. */
  readonly spare?: FileTable;
  /** The directory, which exists, and is empty without a spare fork. */
  readonly target: AbsolutePath;
  /** Whether copies share blocks with the original. */
  readonly clone: boolean;
  /** Whether files that are too large for a checkpoint are copied from the original. */
  readonly withGaps: boolean;
}

/** What was made. */
export interface MadeFiles {
  /** The files as they are in the target now, for its first capture to compare with. */
  readonly table: FileTable;
  readonly files: number;
  readonly bytes: number;
  /** Bytes that share no block with the original. */
  readonly written: number;
  /** Files that were a spare fork's. */
  readonly takenOver: number;
  /** Files that were copied although no checkpoint holds them. */
  readonly gaps: readonly BytePath[];
  /** Links that lead into the original. */
  readonly linksBack: readonly BytePath[];
}

/** Makes the files; yields after each, so that the caller can let other work in between. */
export function* makeFiles(request: FilesRequest): Generator<void, MadeFiles> {
  using maker = new FileMaker(request);
  yield* maker.make(ROOT_PATH, request.snapshot);
  return maker.made;
}

class FileMaker implements Disposable {
  readonly #request: FilesRequest;
  readonly #to: Anchor;
  readonly #original: KnownFiles;
  readonly #spare: KnownFiles | undefined;
  readonly #table = new FileTable();
  readonly #gaps: BytePath[] = [];
  readonly #linksBack: BytePath[] = [];
  #files = 0;
  #bytes = 0;
  #written = 0;
  #takenOver = 0;

  constructor(request: FilesRequest) {
    this.#request = request;
    this.#original = new KnownFiles(request.original);
    this.#spare = request.spare && new KnownFiles({ root: request.target, table: request.spare });
    this.#to = new Anchor(request.target, { real: true });
  }

  get made(): MadeFiles {
    return {
      table: this.#table,
      files: this.#files,
      bytes: this.#bytes,
      written: this.#written,
      takenOver: this.#takenOver,
      gaps: this.#gaps,
      linksBack: this.#linksBack,
    };
  }

  [Symbol.dispose](): void {
    this.#original[Symbol.dispose]();
    this.#spare?.[Symbol.dispose]();
    this.#to[Symbol.dispose]();
  }

  /** A directory's entries are one run of the table, so its subdirectories are filled after it. */
  *make(path: BytePath, hash: ObjectHash): Generator<void> {
    const directory = this.#table.addDirectory(path);
    this.#table.setTreeHash(directory, hash);
    const inside: { at: BytePath; mode: number; hash: ObjectHash }[] = [];
    const left = new Set(this.#spare === undefined ? [] : listDirectory(this.#reach(path)));
    for (const [name, entry] of readTree(this.#request.objects, hash)) {
      const at = joinPath(path, name);
      const kept = left.delete(name) ? this.#keep(at, entry) : undefined;
      if (entry.kind === "gap") this.#copyGap(at, entry);
      else this.#add({ directory, name, at, entry, kept });
      if (entry.kind === "directory") inside.push({ at, mode: entry.mode, hash: entry.hash });
      yield;
    }
    for (const name of left) yield* removeTree(this.#to.at(joinPath(path, name)));
    for (const { at, mode, hash: tree } of inside) {
      yield* this.make(at, tree);
      setMode(this.#to.at(at), mode);
    }
  }

  #reach(path: BytePath): AbsolutePath {
    return path === ROOT_PATH ? this.#request.target : this.#to.at(path);
  }

  /** The stat of what is there already, if it is as wanted; else it is removed. */
  #keep(at: BytePath, entry: Entry): FileStat | undefined {
    const path = this.#to.at(at);
    if (entry.kind === "directory") {
      const stat = statNode(path);
      if (stat !== undefined && kindOf(stat) === "directory") {
        if ((stat.mode & 0o700n) !== 0o700n) setMode(path, 0o700);
        return stat;
      }
    }
    if (entry.kind === "file") {
      const stat = this.#spare!.unchanged(at, entry.hash)?.stat;
      // [R90] a file with another name elsewhere would be written there too
      if (stat?.nlink === 1n) return stat;
    }
    for (const _ of removeTree(path));
    return undefined;
  }

  #add(node: {
    directory: number;
    name: string;
    at: BytePath;
    entry: Exclude<Entry, { kind: "gap" }>;
    kept: FileStat | undefined;
  }): void {
    const { directory, name, at, entry, kept } = node;
    const path = this.#to.at(at);
    let stat = kept;
    if (kept !== undefined && entry.kind === "file") stat = this.#takeOver(path, entry, kept);
    else if (entry.kind === "symlink") this.#makeLink(at, path, this.#request.objects.read(entry.hash));
    else if (entry.kind === "file") stat = this.#makeFile(at, path, entry);
    else if (kept === undefined) createDirectory(path);
    stat ??= statNode(path)!;
    const index = this.#table.addEntry(directory, name, KINDS[entry.kind], stat);
    this.#table.setHash(index, entry.hash);
    if (entry.kind !== "directory") return;
    // its times change while it is filled, and its mode is set after that
    this.#table.mode[index] = entry.mode;
    this.#table.flags[index] = RACY;
  }

  #makeLink(at: BytePath, path: AbsolutePath, target: Buffer): void {
    createLink(path, target);
    this.#files += 1;
    if (isInside(target.toString("latin1") as AbsolutePath, this.#request.original.root))
      this.#linksBack.push(at);
  }

  /** The stat of what was made, where it is known already. */
  #makeFile(at: BytePath, path: AbsolutePath, entry: Extract<Entry, { kind: "file" }>): FileStat | undefined {
    this.#files += 1;
    this.#bytes += entry.size;
    const copied = this.#copy(at, path, entry);
    if (copied === undefined) {
      createFile(path, this.#request.objects.pieces(entry.hash), { mode: entry.mode, sync: false });
      this.#written += entry.size;
      return undefined;
    }
    if (!this.#request.clone) this.#written += entry.size;
    if ((Number(copied.mode) & MODE_BITS) === entry.mode) return copied;
    setMode(path, entry.mode);
    return undefined;
  }

  /** Counts a file that stays; its stat, unless another mode changes it. */
  #takeOver(
    path: AbsolutePath,
    { mode, size }: Extract<Entry, { kind: "file" }>,
    stat: FileStat,
  ): FileStat | undefined {
    this.#takenOver += 1;
    this.#files += 1;
    this.#bytes += size;
    this.#written += size;
    if ((Number(stat.mode) & MODE_BITS) === mode) return stat;
    setMode(path, mode);
    return undefined;
  }

  /** Copies from the original what it provably still has; undefined when the store has to give it. */
  #copy(
    at: BytePath,
    path: AbsolutePath,
    { hash, size }: Extract<Entry, { kind: "file" }>,
  ): FileStat | undefined {
    const source = this.#original.unchanged(at, hash);
    if (source === undefined) return undefined;
    try {
      copyContent(source.path, path, { clone: this.#request.clone });
    } catch (error) {
      if (!isSystemError(error) || isDiskFull(error)) throw error;
      removeFile(path);
      return undefined;
    }
    const after = statNode(source.path);
    const isSame = after !== undefined && sameStat(source.stat, after);
    const copied = statNode(path)!;
    if (isSame && Number(copied.size) === size) return copied;
    removeFile(path);
    return undefined;
  }

  /** A file that no checkpoint holds is the only one of its kind: the fork gets a copy of it as it is. */
  #copyGap(at: BytePath, entry: Extract<Entry, { kind: "gap" }>): void {
    if (!this.#request.withGaps || (entry.reason !== "too-large" && entry.reason !== "limit")) return;
    const source = this.#original.reach(at);
    const stat = source === undefined ? undefined : statNode(source);
    if (source === undefined || stat === undefined || kindOf(stat) !== "file") return;
    copyRegular(source, this.#to.at(at), { clone: this.#request.clone });
    if (!this.#request.clone) this.#written += Number(stat.size);
    this.#gaps.push(at);
  }
}

/** A directory whose files are known by a scan. */
class KnownFiles implements Disposable {
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

  /** A file that has this content, by the stat of the scan. */
  unchanged(at: BytePath, hash: ObjectHash): { path: AbsolutePath; stat: FileStat } | undefined {
    const table = this.#table;
    const slash = at.lastIndexOf("/");
    const directory = this.#directories.get(at.slice(0, Math.max(slash, 0)) as BytePath);
    if (table === undefined || directory === undefined) return undefined;
    const index = table.find(directory, at.slice(slash + 1));
    if (index < 0 || table.kind[index] !== FILE || table.flags[index] !== 0 || table.hashAt(index) !== hash)
      return undefined;
    const path = this.reach(at);
    const stat = path === undefined ? undefined : statNode(path);
    if (path === undefined || stat === undefined || !hasStat(table, index, () => stat)) return undefined;
    return { path, stat };
  }

  [Symbol.dispose](): void {
    this.#anchor[Symbol.dispose]();
  }
}

const KINDS = { file: FILE, symlink: SYMLINK, directory: DIRECTORY };
