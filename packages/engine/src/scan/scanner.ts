/**
 * Scans the working copy once: lists directories, stats every entry, applies the rules and compares with the
 * previous scan. Reads no file content except ignore files; what must be read is left in `pending`. Never
 * follows a symbolic link, never crosses a mount point, never opens a FIFO or device. What cannot be accessed
 * becomes a gap; nothing is left out silently.
 *
 * A directory that was at rest and whose own times are those of the previous scan has the same names. It is
 * not listed again, and the verdicts on its names stand as long as the rules do, which the caller checks
 * afterwards (`RulesReader`). Each of its entries is still stat'ed.
 */
import { byLayer } from "../rules/ignore-stack.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { createNameStat, isErrno, kindOf, statNode, type FileStat } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { GapReason } from "../model/entry.ts";
import type { ExcludedDirectory, RecordedIgnoreFile } from "../model/rules.ts";
import { DIRECTORY, FILE, FileTable, GAP, SYMLINK } from "./file-table.ts";
import { EXCLUDED, OVER, RACY } from "./stat-columns.ts";
import type { DirectoryRules } from "../rules/ignore-rules.ts";
import { IgnoredBudget, OverBudget } from "../rules/ignored-budget.ts";
import { isLinkedWorktree } from "../git/linked-worktree.ts";
import { isMapped } from "./database-names.ts";
import { PreviousEntries } from "./previous-entries.ts";
import {
  childRules,
  directoryIndex,
  isListingKnown,
  isRacy,
  isSameDirectory,
  listAgain,
  judgedAs,
  once,
  readIgnoreFiles,
  setSize,
  timesOf,
  UNKNOWN_STAT,
  whyTooLarge,
} from "./scan-directory.ts";
import type { NamesToSee, Scan, ScanRequest } from "./scan-request.ts";
import type { NamedNode, OpenVisit, Visit } from "./scan-visit.ts";

/** Why a git-ignored directory is not captured under these rules; undefined when it is. */
export function whyOverBudget(
  request: ScanRequest,
  path: BytePath,
  rules: DirectoryRules,
): string | undefined {
  const nothingKnown = { previous: undefined, seenSame: undefined, ahead: undefined, trustListings: false };
  const bare = { ...request, ...nothingKnown };
  return new Scanner(bare, new FileTable()).measure(path, rules);
}

/** One scan; `scan.ts` starts it. */
export class Scanner {
  readonly #request: ScanRequest;
  readonly #table: FileTable;
  readonly #pending: number[] = [];
  readonly #pendingPaths: BytePath[] = [];
  readonly #unchanged: number[] = [];
  readonly #ownEntry: number[] = [];
  readonly #parent: number[] = [];
  readonly #before: number[] = [];
  readonly #excluded: ExcludedRoot[] = [];
  readonly #overBudget: ExcludedDirectory[] = [];
  /** Ignored directories known to be over their budget. */
  readonly #over: ReadonlyMap<BytePath, string>;
  readonly #isPartial: boolean;
  readonly #ignoreFiles: RecordedIgnoreFile[] = [];
  readonly #linked: bigint[] = [];
  readonly #device: bigint;
  #previousDirectories: ReadonlyMap<BytePath, number> | undefined;
  /**
   * The previous index of the next directory if nothing was added or removed: a guess that saves a search.
   */
  #nextBefore = 0;

  constructor(
    request: ScanRequest,
    table: FileTable,
    known: { index?: ReadonlyMap<BytePath, number>; over?: ReadonlyMap<BytePath, string> } = {},
  ) {
    this.#request = request;
    this.#table = table;
    this.#previousDirectories = known.index;
    this.#isPartial = known.index !== undefined;
    this.#over = known.over ?? new Map();
    this.#device = statNode(request.root)?.dev ?? -1n;
  }

  run(): Scan {
    const { root, rules, trustListings, previous, entering, namesIn } = this.#request;
    const isWatchNew = entering?.(ROOT_PATH) === true;
    const rootTimes = this.#readRootTimes();
    const hasSameNames = trustListings && rootTimes !== "" && previous?.rootTimes === rootTimes;
    const names = hasSameNames ? undefined : (namesIn?.(ROOT_PATH) ?? listDirectory(root));
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

  measure(path: BytePath, rules: DirectoryRules): string | undefined {
    const { root, entering, ignoredLimits } = this.#request;
    entering?.(path);
    const place = { ownEntry: -1, parent: -1, before: -1, isWatchNew: false };
    const budget = new IgnoredBudget(path, ignoredLimits);
    try {
      this.#scan({ path, names: listDirectory(below(root, path)), rules: () => rules, ...place, budget });
      return undefined;
    } catch (error) {
      if (error instanceof OverBudget) return error.reason;
      // the scan reports what cannot be read
      if (isErrno(error, "EACCES", "EPERM", "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
      throw error;
    }
  }

  #readRootTimes(): string {
    const stat = statNode(this.#request.root);
    return (this.#table.rootTimes =
      stat === undefined || isRacy(stat, this.#request.racySinceNs) ? "" : timesOf(stat));
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
      overBudget: this.#overBudget,
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

  /** A change between the look of a native thread and a new watch would be neither seen nor reported. */
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

  /** Takes over a directory whose entries are all as before. */
  #takeOver(visit: Visit): void {
    const previous = this.#request.previous!;
    const table = this.#table;
    const directory = this.#addDirectory(visit);
    // a tree that was never stored must be stored, changed or not
    this.#unchanged.push(previous.hasTreeHash(visit.before) ? 1 : 0);
    const first = table.copyEntries(directory, previous, visit.before);
    const end = first + table.entryCount[directory]!;
    visit.budget?.addNames(end - first);
    for (let index = first; index < end; index += 1) {
      const kind = table.kind[index];
      if (kind === FILE || kind === SYMLINK) visit.budget?.addFile(table.size[index]!);
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
    visit.budget?.addNames(names?.length ?? previous!.entryCount[before]!);
    if (names !== undefined) for (const name of names) this.#look(open, name);
    else this.#lookAgain(open);
    this.#unchanged.push(cursor.isExhaustedUnchanged(this.#table.entryCount[directory]!) ? 1 : 0);
    for (const child of open.subdirectories) this.#scan(child);
  }

  /** Names and verdicts are as before; the entries are examined one by one. */
  #lookAgain(visit: OpenVisit): void {
    const previous = this.#request.previous!;
    const first = previous.firstEntry[visit.before]!;
    for (let old = first; old < first + previous.entryCount[visit.before]!; old += 1) {
      const name = previous.names[old]!;
      if (previous.kind[old] !== EXCLUDED) {
        const found = this.#stat(visit, name);
        if (found !== undefined) this.#accept(visit, found, previous.ignoredRoots.has(found.path));
      }
      // a mount point or worktree can cease to be one without changing the directory's times, or a size may
      // change
      else if (previous.flags[old] !== 0) this.#look(visit, name);
      else this.#exclude(visit, name, previous.exclusionOf(old));
    }
  }

  #look(visit: OpenVisit, name: string): void {
    const found = this.#stat(visit, name);
    if (found === undefined) return;
    const isDirectory = found.kind === "directory";
    let verdict = visit.rules().verdict(isDirectory ? name : judgedAs(name, visit.statOf), isDirectory);
    const isOver = verdict === "ignored" && isDirectory && this.#leaveOutIfOver(visit, found);
    if (isOver) verdict = visit.rules().verdict(name, isDirectory);
    if (typeof verdict === "object") this.#exclude(visit, name, verdict.excludedBy, isOver ? OVER : 0);
    else this.#accept(visit, found, verdict === "ignored");
  }

  /**
   * True when a git-ignored directory is over its budget. What was captured last time is counted on the way.
   */
  #leaveOutIfOver(visit: OpenVisit, { name, path, stat }: NamedNode): boolean {
    const rules = visit.rules();
    if (rules.isIgnored || stat.dev !== this.#device) return false;
    const { previous } = this.#request;
    const wasCaptured = previous?.ignoredRoots.has(path) === true && !this.#isPartial;
    const why =
      this.#over.get(path) ??
      (wasCaptured
        ? undefined
        : whyOverBudget(this.#request, path, childRules(rules, name, this.#request.root)));
    if (why === undefined) return false;
    const reason = `${rules.ignoredBy(name, true)}, ${why}`;
    rules.leaveOut(name, reason);
    this.#overBudget.push({ path, reason });
    return true;
  }

  #stat(visit: OpenVisit, name: string): NamedNode | undefined {
    let stat: FileStat | undefined;
    try {
      stat = visit.statOf(name);
    } catch {
      this.#addGap(visit, name, UNKNOWN_STAT, "unreadable");
      return undefined;
    }
    if (stat === undefined) visit.cursor.markChanged();
    return stat === undefined
      ? undefined
      : { name, path: joinPath(visit.path, name), stat, kind: kindOf(stat) };
  }

  #accept(visit: OpenVisit, found: NamedNode, isIgnored: boolean): void {
    if (found.kind === "directory") this.#lookAtDirectory(visit, found, isIgnored);
    else if (found.kind === "special") this.#addGap(visit, found.name, found.stat, "special");
    else this.#lookAtFile(visit, found, found.kind);
  }

  #lookAtDirectory(visit: OpenVisit, found: NamedNode, isIgnored: boolean): void {
    const { name, path } = found;
    let { stat } = found;
    const absolute = below(this.#request.root, path);
    if (stat.dev !== this.#device) return this.#exclude(visit, name, "mount point", RACY);
    const before = this.#indexBefore(path);
    const own = visit.cursor.find(name);
    if (visit.only?.get(name) === false && before >= 0 && isSameDirectory(this.#request.previous!, own, stat))
      return this.#keepDirectory(visit, name, stat, own);
    const isWatchNew = this.#request.entering?.(path) === true;
    if (isWatchNew) stat = visit.statOf(name) ?? stat;
    const { trustListings, previous, namesIn } = this.#request;
    const hasSameNames = trustListings && before >= 0 && isListingKnown(previous, own, stat);
    const names = hasSameNames ? undefined : (namesIn?.(path) ?? this.#list(visit, name, absolute, stat));
    if (names === null) return;
    const isLinked = names?.includes(".git") === true && isLinkedWorktree(absolute);
    if (isLinked && !visit.rules().hasIncludedBelow(name))
      return this.#exclude(visit, name, LINKED_WORKTREE, RACY);
    const index = this.#table.addEntry(visit.directory, name, DIRECTORY, stat);
    if (isRacy(stat, this.#request.racySinceNs)) this.#table.flags[index] = RACY;
    visit.cursor.compareDirectory(this.#table, index);
    const budget = visit.budget ?? (isIgnored ? this.#ignoredRoot(visit, path) : undefined);
    const place = { name, path, names, before, isWatchNew, ownEntry: index, parent: visit.directory, budget };
    visit.subdirectories.push(
      isLinked
        ? { ...place, rules: once(() => visit.rules().strictChild(name, LINKED_WORKTREE)) }
        : this.#enter(visit, place),
    );
  }

  /** Records a captured ignored directory, and counts its content unless that was just done. */
  #ignoredRoot(visit: Visit, path: BytePath): IgnoredBudget | undefined {
    if (visit.rules().isIgnored) return undefined;
    this.#table.ignoredRoots.add(path);
    const { previous, ignoredLimits } = this.#request;
    const isCounted = this.#isPartial || previous?.ignoredRoots.has(path) !== true;
    return isCounted ? undefined : new IgnoredBudget(path, ignoredLimits);
  }

  /** Its own mode or times may have changed; its content has watches of its own. */
  #keepDirectory(visit: OpenVisit, name: string, stat: FileStat, own: number): void {
    const index = this.#table.addEntry(visit.directory, name, DIRECTORY, stat);
    this.#table.setHash(index, this.#request.previous!.hashAt(own));
    if (isRacy(stat, this.#request.racySinceNs)) this.#table.flags[index] = RACY;
  }

  /** Enters a directory whose entry was taken over. */
  #enterAgain(visit: Visit, parent: number, ownEntry: number): Visit {
    const name = this.#table.names[ownEntry]!;
    const joined = joinPath(visit.path, name);
    const before = this.#indexBefore(joined);
    // the same text, but a string that maps have hashed before
    const path = before < 0 ? joined : this.#request.previous!.directories[before]!;
    const isWatchNew = this.#request.entering?.(path) === true;
    const names = isWatchNew ? listAgain(this.#table, ownEntry, below(this.#request.root, path)) : undefined;
    const isIgnored = this.#request.previous!.ignoredRoots.has(path);
    const budget = visit.budget ?? (isIgnored ? this.#ignoredRoot(visit, path) : undefined);
    return this.#enter(visit, { name, path, names, before, isWatchNew, ownEntry, parent, budget });
  }

  #enter(visit: Visit, child: Omit<Visit, "rules"> & { readonly name: string }): Visit {
    const has = (name: string) =>
      child.names?.includes(name) ?? this.#request.previous!.hasName(child.before, name);
    const ignoreFiles = readIgnoreFiles(this.#request.root, child.path, has);
    this.#ignoreFiles.push(...ignoreFiles);
    return { ...child, rules: once(() => visit.rules().child(child.name, byLayer(ignoreFiles))) };
  }

  /** null = it vanished, or is a gap now */
  #list(visit: OpenVisit, name: string, absolute: AbsolutePath, stat: FileStat): string[] | null {
    try {
      return listDirectory(absolute);
    } catch (error) {
      if (!isErrno(error, "ENOENT", "ENOTDIR")) this.#addGap(visit, name, stat, "unreadable");
      else visit.cursor.markChanged();
      return null;
    }
  }

  #lookAtFile(visit: OpenVisit, { name, path, stat }: NamedNode, kind: "file" | "symlink"): void {
    const { fileLimitBytes, unlimited, ignoredLimits } = this.#request;
    // [R136] restoring a log without its database, or the reverse, would do harm
    const size = isMapped(name) ? setSize(name, visit.statOf) : Number(stat.size);
    const reason = unlimited.has(path)
      ? undefined
      : whyTooLarge(visit, name, { size, limits: ignoredLimits });
    if (reason !== undefined) return this.#exclude(visit, name, reason, OVER);
    if (kind === "file" && size > fileLimitBytes && !unlimited.has(path))
      return this.#addGap(visit, name, stat, "too-large");
    visit.budget?.addFile(Number(stat.size));
    if (stat.nlink > 1n) this.#linked.push(stat.ino);
    const index = this.#table.addEntry(visit.directory, name, kind === "file" ? FILE : SYMLINK, stat);
    if (isRacy(stat, this.#request.racySinceNs) || isMapped(name)) this.#table.flags[index] = RACY;
    const reused = visit.cursor.reuse(this.#table, index);
    if (reused) return;
    visit.cursor.markChanged();
    // a database is read together with its logs
    if (!isMapped(name)) this.#request.ahead?.offer(this.#pending.length, path, this.#table, index);
    this.#pending.push(index);
    this.#pendingPaths.push(path);
  }

  #addGap(visit: OpenVisit, name: string, stat: FileStat, reason: GapReason): void {
    const index = this.#table.addEntry(visit.directory, name, GAP, stat);
    this.#table.setGap(index, reason);
    // an unreadable file may become readable without its times showing it
    if (reason === "unreadable") this.#table.flags[index] = RACY;
    visit.cursor.compareGap(this.#table, index);
  }

  /** Excluded names stay in the table, so that an unchanged directory need not be listed to know them. */
  #exclude(visit: OpenVisit, name: string, rule: string, flags = 0): void {
    this.#table.addExcluded(visit.directory, name, rule, flags);
    visit.cursor.compareExcluded(name);
    this.#noteExcluded(visit, name, rule);
  }

  #noteExcluded(visit: Visit, name: string, rule: string): void {
    this.#excluded.push({ path: joinPath(visit.path, name), rule, bytes: null });
  }
}

const LINKED_WORKTREE = "linked git worktree";
