/**
 * Makes a directory hold the files of a snapshot. A file that the original still has, by the stat of its last scan, is
 * copied by the kernel, and the original's stat is compared again afterwards; one that is there already, left by a spare
 * fork, stays after the same comparison; every other file comes from the store, whose reads are verified. [R90]
 */
import { readTree } from "../diff/compare-trees.ts";
import { displayAbsolute, isInside, type AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { copyContent, copySettled } from "../fs/copy-file.ts";
import { CopyThreads } from "../fs/copy-threads.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { removeFile } from "../fs/durable-file.ts";
import { isDiskFull, kindOf, sameStat, statNode, type FileStat } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { createDirectory, createFile, createLink, setMode } from "../fs/mutate.ts";
import { isSystemError } from "../fs/system-error.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { MODE_BITS, type Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { DIRECTORY, FILE, FileTable, SYMLINK } from "../scan/file-table.ts";
import { beginNativeLook, type DirectoryLook } from "../scan/native-look.ts";
import { RACY } from "../scan/stat-columns.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { KnownFiles, type KnownDirectory } from "./known-files.ts";

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
  /** Those of them that another program wrote during every attempt to copy them. */
  readonly torn: readonly BytePath[];
  /** Links that lead into the original. */
  readonly linksBack: readonly BytePath[];
}

/** Makes the files. Yields after each one, so that the caller can do other work in between, or a promise to wait for. */
export function* makeFiles(request: FilesRequest): Generator<Promise<void> | void, MadeFiles> {
  using maker = new FileMaker(request);
  yield* maker.make(ROOT_PATH, request.snapshot);
  yield* maker.copyAll();
  maker.finishDirectories();
  return maker.made;
}

class FileMaker implements Disposable {
  readonly #request: FilesRequest;
  readonly #to: Anchor;
  readonly #original: KnownFiles;
  readonly #spare: KnownFiles | undefined;
  /** Looks ahead at whole directories of the spare fork. */
  readonly #look: DirectoryLook | undefined;
  readonly #table = new FileTable();
  /** What threads copy at the end; undefined where files are copied one by one. */
  readonly #threads = CopyThreads.create();
  /** What each of those copies is in the table. */
  readonly #waiting: { readonly index: number; readonly entry: FileEntry }[] = [];
  /** They get their modes once they are full: some of them are read-only. */
  readonly #filled: FilledDirectory[] = [];
  readonly #gaps: BytePath[] = [];
  readonly #torn: BytePath[] = [];
  readonly #linksBack: BytePath[] = [];
  #files = 0;
  #bytes = 0;
  #written = 0;
  #takenOver = 0;

  constructor(request: FilesRequest) {
    this.#request = request;
    this.#original = new KnownFiles(request.original);
    this.#spare = request.spare && new KnownFiles({ root: request.target, table: request.spare });
    // [R90] a file with another name elsewhere would be written there too
    this.#look = request.spare && beginNativeLook(request.target, request.spare, { onlySingle: true });
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
      torn: this.#torn,
      linksBack: this.#linksBack,
    };
  }

  [Symbol.dispose](): void {
    this.#look?.[Symbol.dispose]();
    this.#original[Symbol.dispose]();
    this.#spare?.[Symbol.dispose]();
    this.#to[Symbol.dispose]();
  }

  /**
   * Fills a directory. `isListed` says that a spare fork's has the names of its table; `isNew` that it was just made: then
   * nothing is taken over, since the look may have gone through a link that stood in its place. A directory's entries are
   * one run of the table, so its subdirectories are filled after it.
   */
  *make(
    path: BytePath,
    hash: ObjectHash,
    { isListed = false, isNew = false }: { isListed?: boolean; isNew?: boolean } = {},
  ): Generator<void, Filled> {
    const directory = this.#table.addDirectory(path);
    this.#table.setTreeHash(directory, hash);
    const spare = isNew ? undefined : this.#spare?.directoryAt(path, this.#look);
    if (isListed && spare !== undefined && isWholly(spare, hash))
      return yield* this.#takeOverAll(path, directory, spare);
    const inside: DirectoryInside[] = [];
    let hasGap = false;
    const left = new Set(this.#namesIn(path, isListed ? spare : undefined));
    for (const [name, entry] of readTree(this.#request.objects, hash)) {
      const at = joinPath(path, name);
      if (entry.kind === "file" && spare !== undefined && this.#keepSeen(directory, name, entry, spare)) {
        left.delete(name);
        yield;
        continue;
      }
      const kept = left.delete(name) ? this.#keep(at, entry) : undefined;
      if (entry.kind === "gap") {
        this.#copyGap(at, entry);
        hasGap = true;
      } else {
        const index = this.#add({ directory, name, at, entry, kept });
        if (entry.kind === "directory")
          inside.push({ at, index, mode: entry.mode, hash: entry.hash, isNew: kept === undefined });
      }
      yield;
    }
    for (const name of left) yield* removeTree(this.#to.at(joinPath(path, name)));
    for (const { hash: tree, isNew: isNewInside, ...each } of inside) {
      // what is as before has the times it had, and so the names
      const filled = yield* this.make(each.at, tree, { isListed: spare !== undefined, isNew: isNewInside });
      this.#filled.push({ ...each, hasGap: filled === "with gap" });
    }
    return hasGap ? "with gap" : "made";
  }

  /** Takes over a directory that has what is wanted, name by name, without reading what that is. */
  *#takeOverAll(
    path: BytePath,
    directory: number,
    { table, directory: from }: KnownDirectory,
  ): Generator<void, Filled> {
    const first = this.#table.copyEntries(directory, table, from);
    for (const [number, old] of [...table.entriesOf(from)].entries()) {
      if (table.kind[old] === FILE) this.#countTakenOver({ size: table.size[old]! });
      else {
        const at = joinPath(path, table.names[old]!);
        const index = first + number;
        const filled = yield* this.make(at, table.hashAt(old), { isListed: true });
        if (filled !== "as it was")
          this.#filled.push({ at, index, mode: table.mode[old]!, hasGap: filled === "with gap" });
      }
      yield;
    }
    return "as it was";
  }

  #namesIn(path: BytePath, known: KnownDirectory | undefined): readonly string[] {
    if (this.#spare === undefined) return [];
    if (known === undefined)
      return listDirectory(path === ROOT_PATH ? this.#request.target : this.#to.at(path));
    return [...known.table.entriesOf(known.directory)].map((index) => known.table.names[index]!);
  }

  /** Copies what is the original's by threads; what was not as expected comes from the store. */
  *copyAll(): Generator<Promise<void> | void> {
    const threads = this.#threads;
    if (threads === undefined) return;
    const { original, target, clone } = this.#request;
    yield* threads.run({ from: original.root, to: target, clone });
    for (const [number, { index, entry }] of this.#waiting.entries()) {
      const copy = threads.copied(number);
      if (copy === undefined) continue;
      this.#table.mode[index] = entry.mode;
      this.#table.mtimeNs[index] = copy.mtimeNs;
      this.#table.ctimeNs[index] = copy.ctimeNs;
      this.#table.ino[index] = copy.ino;
      if (!clone) this.#written += entry.size;
    }
    for (const { number, path } of threads.left()) {
      const { index, entry } = this.#waiting[number]!;
      const at = this.#to.at(path);
      removeFile(at);
      this.#writeFile(at, entry);
      this.#table.setStat(index, statMade(at));
      yield;
    }
  }

  /** Gives the directories their modes; the table has the stat of those that it has every name of. */
  finishDirectories(): void {
    for (const { at, index, mode, hasGap } of this.#filled) {
      const path = this.#to.at(at);
      let stat = statMade(path);
      if ((Number(stat.mode) & MODE_BITS) !== mode) {
        setMode(path, mode);
        stat = statMade(path);
      }
      this.#table.setStat(index, stat);
      this.#table.flags[index] = hasGap ? RACY : 0;
    }
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

  /** Keeps a file of a directory in which nothing changed, without another look at it; false where it is another. */
  #keepSeen(
    directory: number,
    name: string,
    entry: FileEntry,
    { table, directory: from }: KnownDirectory,
  ): boolean {
    const index = table.find(from, name);
    if (index < 0 || table.kind[index] !== FILE || table.mode[index] !== entry.mode) return false;
    if (table.hashAt(index) !== entry.hash) return false;
    this.#table.copyEntry(directory, table, index);
    this.#countTakenOver(entry);
    return true;
  }

  #add(node: {
    directory: number;
    name: string;
    at: BytePath;
    entry: Exclude<Entry, { kind: "gap" }>;
    kept: FileStat | undefined;
  }): number {
    const { directory, name, at, entry, kept } = node;
    const later =
      kept === undefined && entry.kind === "file" ? this.#copyLater(directory, at, entry) : undefined;
    if (later !== undefined) return later;
    const path = this.#to.at(at);
    let stat = kept;
    if (kept !== undefined && entry.kind === "file") stat = this.#takeOver(path, entry, kept);
    else if (entry.kind === "symlink") this.#makeLink(at, path, this.#request.objects.read(entry.hash));
    else if (entry.kind === "file") stat = this.#makeFile(at, path, entry);
    else if (kept === undefined) createDirectory(path, entry.mode | 0o700);
    stat ??= statMade(path);
    const index = this.#table.addEntry(directory, name, KINDS[entry.kind], stat);
    this.#table.setHash(index, entry.hash);
    return index;
  }

  #makeLink(at: BytePath, path: AbsolutePath, target: Buffer): void {
    createLink(path, target);
    this.#files += 1;
    if (isInside(target.toString("latin1") as AbsolutePath, this.#request.original.root))
      this.#linksBack.push(at);
  }

  /** The stat of what was made, where it is known already. */
  #makeFile(at: BytePath, path: AbsolutePath, entry: FileEntry): FileStat | undefined {
    this.#files += 1;
    this.#bytes += entry.size;
    const copied = this.#threads === undefined ? this.#copy(at, path, entry) : undefined;
    if (copied === undefined) {
      this.#writeFile(path, entry);
      return undefined;
    }
    if (!this.#request.clone) this.#written += entry.size;
    if ((Number(copied.mode) & MODE_BITS) === entry.mode) return copied;
    setMode(path, entry.mode);
    return undefined;
  }

  #writeFile(path: AbsolutePath, { hash, mode, size }: FileEntry): void {
    createFile(path, this.#request.objects.pieces(hash), { mode, sync: false });
    this.#written += size;
  }

  /** Leaves a file that the original has to the threads; where it is in the table, undefined when they cannot copy it. */
  #copyLater(directory: number, at: BytePath, entry: FileEntry): number | undefined {
    const known = this.#threads && this.#original.known(at, entry.hash);
    if (known === undefined) return undefined;
    const { table, index } = known;
    this.#threads!.add(
      at,
      {
        size: table.size[index]!,
        mtimeNs: table.mtimeNs[index]!,
        ctimeNs: table.ctimeNs[index]!,
        ino: table.ino[index]!,
      },
      entry.mode,
    );
    this.#files += 1;
    this.#bytes += entry.size;
    const own = this.#table.copyEntry(directory, table, index);
    this.#waiting.push({ index: own, entry });
    return own;
  }

  /** Counts a file that stays; its stat, unless another mode changes it. */
  #takeOver(path: AbsolutePath, entry: FileEntry, stat: FileStat): FileStat | undefined {
    this.#countTakenOver(entry);
    if ((Number(stat.mode) & MODE_BITS) === entry.mode) return stat;
    setMode(path, entry.mode);
    return undefined;
  }

  #countTakenOver({ size }: Pick<FileEntry, "size">): void {
    this.#takenOver += 1;
    this.#files += 1;
    this.#bytes += size;
    this.#written += size;
  }

  /** Copies from the original what it provably still has; undefined when the store has to give it. */
  #copy(at: BytePath, path: AbsolutePath, { hash, size }: FileEntry): FileStat | undefined {
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
    const copied = statMade(path);
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
    if (!copySettled(source, this.#to.at(at), { clone: this.#request.clone })) this.#torn.push(at);
    if (!this.#request.clone) this.#written += Number(stat.size);
    this.#gaps.push(at);
  }
}

/** What became of a directory: nothing was changed in it, or it was filled, with a file that is not in the table or without. */
type Filled = "as it was" | "made" | "with gap";

/** A directory that is still to be filled. */
interface DirectoryInside {
  readonly at: BytePath;
  readonly index: number;
  readonly mode: number;
  readonly hash: ObjectHash;
  readonly isNew: boolean;
}

/** A directory that is complete, and its place in the table. */
interface FilledDirectory {
  readonly at: BytePath;
  readonly index: number;
  readonly mode: number;
  /** It has a file that is not in the table. */
  readonly hasGap: boolean;
}

/** True when the table has exactly what is wanted, and the owner may write in each of its directories. */
function isWholly({ table, directory }: KnownDirectory, hash: ObjectHash): boolean {
  if (!table.hasTreeHash(directory) || table.treeHashAt(directory) !== hash) return false;
  for (const index of table.entriesOf(directory)) {
    const kind = table.kind[index];
    const isOpen = kind === DIRECTORY && (table.mode[index]! & 0o700) === 0o700;
    if (kind !== FILE && !isOpen) return false;
  }
  return true;
}

type FileEntry = Extract<Entry, { kind: "file" }>;

const KINDS = { file: FILE, symlink: SYMLINK, directory: DIRECTORY };

/** The stat of what was just made; another program may have moved it away. */
function statMade(path: AbsolutePath): FileStat {
  const stat = statNode(path);
  if (stat !== undefined) return stat;
  const shown = displayAbsolute(path);
  throw new EngineError("FILE_SYSTEM", `Another program took ${shown} away while the fork was made.`, {
    path: shown,
    operation: "fork",
  });
}
