/**
 * Looks at the whole working copy once: lists directories, stats every entry, applies the rules and
 * compares with the previous scan. Reads no file content except ignore files; what must be read is left
 * in `pending`. Never follows a symbolic link, never crosses a mount point, never opens a FIFO or device.
 * What cannot be looked at becomes a gap; nothing is left out silently.
 *
 * A directory whose own times are those of the previous scan, and at rest then, has the same names: it
 * is not listed again, and the verdicts on its names stand as long as the rules do, which the caller
 * checks afterwards (`RulesReader`). Its entries are still looked at, each of them.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { createNameStat, isErrno, kindOf, statNode, type FileStat } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { GapReason } from "../model/entry.ts";
import type { RecordedIgnoreFile } from "../model/rules.ts";
import { DIRECTORY, FILE, FileTable, GAP, SYMLINK } from "./file-table.ts";
import { EXCLUDED, RACY } from "./stat-columns.ts";
import { IGNORE_FILE_LIMIT, type IgnoreFiles } from "./ignore-rules.ts";
import { isLinkedWorktree, isMapped } from "./peculiar-nodes.ts";
import { PreviousEntries } from "./previous-entries.ts";
import type { NamesToSee, Scan, ScanRequest } from "./scan-request.ts";
import type { Found, OpenVisit, Visit } from "./scan-visit.ts";

export function scanTree(request: ScanRequest): Scan {
  return new Scanner(request, new FileTable(request.previous)).run();
}

/** Looks at some names only, and at all of a directory that is new or was replaced; `index` finds those of the previous scan. */
export function scanNames(
  request: ScanRequest & { previous: FileTable },
  names: Iterable<NamesToSee>,
  index: ReadonlyMap<BytePath, number>,
): Scan {
  const table = new FileTable();
  // the same list, so that the numbers in both tables mean the same
  table.exclusions = request.previous.exclusions;
  return new Scanner(request, table, index).runSome(names);
}

class Scanner {
  readonly #request: ScanRequest;
  readonly #table: FileTable;
  readonly #pending: number[] = [];
  readonly #pendingPaths: BytePath[] = [];
  readonly #unchanged: number[] = [];
  readonly #ownEntry: number[] = [];
  readonly #parent: number[] = [];
  readonly #before: number[] = [];
  readonly #excluded: ExcludedRoot[] = [];
  readonly #ignoreFiles: RecordedIgnoreFile[] = [];
  readonly #linked: bigint[] = [];
  readonly #device: bigint;
  #previousDirectories: ReadonlyMap<BytePath, number> | undefined;
  /** The previous index of the directory that comes next if nothing came or went: a guess that saves the search. */
  #nextBefore = 0;

  constructor(request: ScanRequest, table: FileTable, index?: ReadonlyMap<BytePath, number>) {
    this.#request = request;
    this.#table = table;
    this.#previousDirectories = index;
    this.#device = statNode(request.root)?.dev ?? -1n;
  }

  run(): Scan {
    const { root, rules, trustListings, previous, entering } = this.#request;
    const isWatchNew = entering?.(ROOT_PATH) === true;
    const rootTimes = this.#readRootTimes();
    const hasSameNames = trustListings && rootTimes !== "" && previous?.rootTimes === rootTimes;
    const names = hasSameNames ? undefined : listDirectory(root);
    this.#scan({
      path: ROOT_PATH,
      rules: once(rules),
      names,
      ownEntry: -1,
      parent: -1,
      before: this.#indexBefore(ROOT_PATH),
      isWatchNew,
    });
    return this.#result();
  }

  runSome(directories: Iterable<NamesToSee>): Scan {
    this.#readRootTimes();
    for (const { path, names, rules } of directories) {
      const place = { ownEntry: -1, parent: -1, before: this.#indexBefore(path), isWatchNew: false };
      this.#scan({ path, names: [...names.keys()].sort(), only: names, rules: once(rules), ...place });
    }
    return this.#result();
  }

  #readRootTimes(): string {
    const stat = statNode(this.#request.root);
    return (this.#table.rootTimes = stat === undefined || this.#isRacy(stat) ? "" : timesOf(stat));
  }

  #result(): Scan {
    return {
      table: this.#table,
      pending: this.#pending,
      pendingPaths: this.#pendingPaths,
      unchanged: Uint8Array.from(this.#unchanged),
      ownEntry: this.#ownEntry,
      parent: this.#parent,
      before: this.#before,
      excluded: this.#excluded.sort((a, b) => (a.path < b.path ? -1 : 1)),
      ignoreFiles: this.#ignoreFiles,
      linked: this.#linked,
    };
  }

  #indexBefore(path: BytePath): number {
    if (this.#request.previous?.directories[this.#nextBefore] === path) return this.#nextBefore;
    this.#previousDirectories ??= directoryIndex(this.#request.previous);
    return this.#previousDirectories.get(path) ?? -1;
  }

  #scan(visit: Visit): void {
    this.#nextBefore = visit.before + 1;
    if (visit.names === undefined && this.#isAsBefore(visit)) this.#takeOver(visit);
    else this.#lookAtEach(visit);
  }

  /** A change between a look by others and a new watch would neither be seen nor told of. */
  #isAsBefore({ path, before, isWatchNew }: Visit): boolean {
    const { previous, root, seenSame } = this.#request;
    if (!isWatchNew && seenSame?.(before) === true) return true;
    return previous!.isAsBefore(before, createNameStat(below(root, path)));
  }

  #addDirectory({ path, ownEntry, parent, before }: Visit): number {
    this.#ownEntry.push(ownEntry);
    this.#parent.push(parent);
    this.#before.push(before);
    return this.#table.addDirectory(path);
  }

  /** Every entry is as before. */
  #takeOver(visit: Visit): void {
    const previous = this.#request.previous!;
    const table = this.#table;
    const directory = this.#addDirectory(visit);
    // a tree that was never stored must be, changed or not
    this.#unchanged.push(previous.hasTreeHash(visit.before) ? 1 : 0);
    const first = table.copyEntries(directory, previous, visit.before);
    const end = first + table.entryCount[directory]!;
    for (let index = first; index < end; index += 1) {
      const kind = table.kind[index];
      if (kind === DIRECTORY) this.#scan(this.#enterAgain(visit, directory, index));
      else if (kind === EXCLUDED) this.#noteExcluded(visit, table.names[index]!, table.exclusionOf(index));
    }
  }

  #lookAtEach(visit: Visit): void {
    const { path, before, names } = visit;
    const { previous } = this.#request;
    const directory = this.#addDirectory(visit);
    const cursor = new PreviousEntries(previous, before);
    if (before >= 0 && !previous!.hasTreeHash(before)) cursor.markChanged();
    const statOf = createNameStat(below(this.#request.root, path));
    const open: OpenVisit = { ...visit, directory, cursor, statOf, subdirectories: [] };
    if (names !== undefined) for (const name of names) this.#look(open, name);
    else this.#lookAgain(open);
    this.#unchanged.push(cursor.isExhaustedUnchanged(this.#table.entryCount[directory]!) ? 1 : 0);
    for (const child of open.subdirectories) this.#scan(child);
  }

  /** The names and the verdicts on them are as before; the entries are looked at one by one. */
  #lookAgain(visit: OpenVisit): void {
    const previous = this.#request.previous!;
    const first = previous.firstEntry[visit.before]!;
    for (let old = first; old < first + previous.entryCount[visit.before]!; old += 1) {
      const name = previous.names[old]!;
      if (previous.kind[old] !== EXCLUDED) this.#lookAtAccepted(visit, name);
      // a mount point or worktree can cease to be one without a trace in the directory's times
      else if (previous.flags[old] === RACY) this.#look(visit, name);
      else this.#exclude(visit, name, previous.exclusionOf(old));
    }
  }

  #look(visit: OpenVisit, name: string): void {
    const found = this.#stat(visit, name);
    if (found === undefined) return;
    const verdict = visit.rules().verdict(name, found.kind === "directory");
    if (typeof verdict === "object") this.#exclude(visit, name, verdict.excludedBy);
    else this.#accept(visit, found);
  }

  #lookAtAccepted(visit: OpenVisit, name: string): void {
    const found = this.#stat(visit, name);
    if (found !== undefined) this.#accept(visit, found);
  }

  #stat(visit: OpenVisit, name: string): Found | undefined {
    let stat: FileStat | undefined;
    try {
      stat = visit.statOf(name);
    } catch {
      this.#addGap(visit, name, UNKNOWN, "unreadable");
      return undefined;
    }
    if (stat === undefined) visit.cursor.markChanged();
    return stat === undefined
      ? undefined
      : { name, path: joinPath(visit.path, name), stat, kind: kindOf(stat) };
  }

  #accept(visit: OpenVisit, found: Found): void {
    if (found.kind === "directory") this.#lookAtDirectory(visit, found);
    else if (found.kind === "special") this.#addGap(visit, found.name, found.stat, "special");
    else this.#lookAtFile(visit, found, found.kind);
  }

  #lookAtDirectory(visit: OpenVisit, found: Found): void {
    const { name, path } = found;
    let { stat } = found;
    const absolute = below(this.#request.root, path);
    if (stat.dev !== this.#device) return this.#exclude(visit, name, "mount point", RACY);
    const before = this.#indexBefore(path);
    const own = visit.cursor.find(name);
    if (visit.only?.get(name) === false && before >= 0 && this.#isSameDirectory(own, stat))
      return this.#keepDirectory(visit, name, stat, own);
    const isWatchNew = this.#request.entering?.(path) === true;
    if (isWatchNew) stat = visit.statOf(name) ?? stat;
    const { trustListings, previous } = this.#request;
    const hasSameNames = trustListings && before >= 0 && this.#isListingKnown(previous, own, stat);
    const names = hasSameNames ? undefined : this.#list(visit, name, absolute, stat);
    if (names === null) return;
    const isLinked = names?.includes(".git") === true && isLinkedWorktree(absolute);
    if (isLinked && !visit.rules().hasIncludedBelow(name))
      return this.#exclude(visit, name, LINKED_WORKTREE, RACY);
    const index = this.#table.addEntry(visit.directory, name, DIRECTORY, stat);
    if (this.#isRacy(stat)) this.#table.flags[index] = RACY;
    visit.cursor.compareDirectory(this.#table, index);
    const place = { name, path, names, before, isWatchNew, ownEntry: index, parent: visit.directory };
    visit.subdirectories.push(
      isLinked
        ? { ...place, rules: once(() => visit.rules().strictChild(name, LINKED_WORKTREE)) }
        : this.#enter(visit, place),
    );
  }

  #isSameDirectory(own: number, stat: FileStat): boolean {
    const { previous } = this.#request;
    return own >= 0 && previous!.kind[own] === DIRECTORY && previous!.ino[own] === stat.ino;
  }

  /** Its own mode or times may have changed; what is in it has watches of its own. */
  #keepDirectory(visit: OpenVisit, name: string, stat: FileStat, own: number): void {
    const index = this.#table.addEntry(visit.directory, name, DIRECTORY, stat);
    this.#table.setHash(index, this.#request.previous!.hashAt(own));
    if (this.#isRacy(stat)) this.#table.flags[index] = RACY;
  }

  /** Enters a directory whose entry was taken over as it was. */
  #enterAgain(visit: Visit, parent: number, ownEntry: number): Visit {
    const name = this.#table.names[ownEntry]!;
    const joined = joinPath(visit.path, name);
    const before = this.#indexBefore(joined);
    // the same text, but one that maps have seen before
    const path = before < 0 ? joined : this.#request.previous!.directories[before]!;
    const isWatchNew = this.#request.entering?.(path) === true;
    const names = isWatchNew ? this.#listAgain(ownEntry, path) : undefined;
    return this.#enter(visit, { name, path, names, before, isWatchNew, ownEntry, parent });
  }

  /** undefined: the names are still those of the previous scan, as the entry that was taken over is. */
  #listAgain(ownEntry: number, path: BytePath): string[] | undefined {
    const absolute = below(this.#request.root, path);
    const stat = statNode(absolute);
    if (stat !== undefined && this.#isListingKnown(this.#table, ownEntry, stat)) return undefined;
    try {
      return listDirectory(absolute);
    } catch {
      // it goes away as we look; the watch above it tells
      return [];
    }
  }

  #enter(visit: Visit, child: Omit<Visit, "rules"> & { readonly name: string }): Visit {
    const has = (name: string) =>
      child.names?.includes(name) ?? this.#request.previous!.hasName(child.before, name);
    const ignoreFiles = this.#readIgnoreFiles(child.path, has);
    return { ...child, rules: once(() => visit.rules().child(child.name, ignoreFiles)) };
  }

  /** A directory at rest with the times it had then has the names it had then. */
  #isListingKnown(table: FileTable | undefined, own: number, stat: FileStat): boolean {
    return (
      table !== undefined &&
      own >= 0 &&
      table.kind[own] === DIRECTORY &&
      table.flags[own] !== RACY &&
      table.mtimeNs[own] === stat.mtimeNs &&
      table.ctimeNs[own] === stat.ctimeNs &&
      table.ino[own] === stat.ino
    );
  }

  /** null: it vanished, or is a gap now. */
  #list(visit: OpenVisit, name: string, absolute: AbsolutePath, stat: FileStat): string[] | null {
    try {
      return listDirectory(absolute);
    } catch (error) {
      if (!isErrno(error, "ENOENT", "ENOTDIR")) this.#addGap(visit, name, stat, "unreadable");
      else visit.cursor.markChanged();
      return null;
    }
  }

  #lookAtFile(visit: OpenVisit, { name, path, stat }: Found, kind: "file" | "symlink"): void {
    const { fileLimitBytes, unlimited, forced } = this.#request;
    if (kind === "file" && stat.size > fileLimitBytes && !unlimited.has(path)) {
      return this.#addGap(visit, name, stat, "too-large");
    }
    if (stat.nlink > 1n) this.#linked.push(stat.ino);
    const index = this.#table.addEntry(visit.directory, name, kind === "file" ? FILE : SYMLINK, stat);
    if (this.#isRacy(stat) || isMapped(name)) this.#table.flags[index] = RACY;
    const reused = !forced.has(path) && visit.cursor.reuse(this.#table, index);
    if (reused) return;
    visit.cursor.markChanged();
    this.#request.ahead?.offer(this.#pending.length, path, this.#table, index);
    this.#pending.push(index);
    this.#pendingPaths.push(path);
  }

  #isRacy({ mtimeNs, ctimeNs }: FileStat): boolean {
    const { racySinceNs } = this.#request;
    return mtimeNs >= racySinceNs || ctimeNs >= racySinceNs;
  }

  #addGap(visit: OpenVisit, name: string, stat: FileStat, reason: GapReason): void {
    const index = this.#table.addEntry(visit.directory, name, GAP, stat);
    this.#table.setGap(index, reason);
    // what could not be read may be readable next time without a trace in its times
    if (reason === "unreadable") this.#table.flags[index] = RACY;
    visit.cursor.compareGap(this.#table, index);
  }

  /** Excluded names stay in the table, so that a directory need not be listed to know them. */
  #exclude(visit: OpenVisit, name: string, rule: string, flags = 0): void {
    this.#table.addExcluded(visit.directory, name, rule, flags);
    visit.cursor.compareExcluded(name);
    this.#noteExcluded(visit, name, rule);
  }

  #noteExcluded(visit: Visit, name: string, rule: string): void {
    this.#excluded.push({ path: joinPath(visit.path, name), rule, bytes: null });
  }

  #readIgnoreFiles(path: BytePath, has: (name: string) => boolean): IgnoreFiles {
    const files: { gitignore?: Buffer; belayignore?: Buffer } = {};
    for (const layer of ["gitignore", "belayignore"] as const) {
      if (!has(`.${layer}`)) continue;
      const content = readSmallFile(
        below(this.#request.root, joinPath(path, `.${layer}`)),
        IGNORE_FILE_LIMIT,
      );
      if (content === undefined) continue;
      files[layer] = content;
      this.#ignoreFiles.push({ path: joinPath(path, `.${layer}`), layer, content });
    }
    return files;
  }
}

const LINKED_WORKTREE = "linked git worktree";

/** Stands in for a stat that the system would not give. */
const UNKNOWN = { mode: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n, ino: 0n } as FileStat;

function directoryIndex(table: FileTable | undefined): Map<BytePath, number> {
  return new Map(table?.directories.map((path, index) => [path, index]));
}

function timesOf({ mtimeNs, ctimeNs }: FileStat): string {
  return `${mtimeNs} ${ctimeNs}`;
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
