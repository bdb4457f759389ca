/**
 * The last scan's table, updated in place: a partial scan is merged into it, and only the trees of changed
 * directories are built again. Numbers, gaps and excluded paths are updated by difference.
 * What was merged counts as unrecorded (to be read again, its trees without a name) until `recorded` says
 * that the store has it: a capture that fails or only looked leaves nothing that could be mistaken for
 * stored.
 */
import {
  baseName,
  isAtOrBelow,
  joinPath,
  parentPath,
  ROOT_PATH,
  type BytePath,
} from "../../model/byte-path.ts";
import type { ExcludedRoot, Gap } from "../../model/checkpoint.ts";
import { mayHoldMore, sameNode, type Entry } from "../../model/entry.ts";
import type { Edit } from "../../model/plan.ts";
import type { ObjectHash } from "../../model/object-hash.ts";
import type { ContentSink } from "../../store/content-sink.ts";
import { encodeDirectory } from "../build-snapshot.ts";
import { ABSENT, DIRECTORY, FILE, type FileTable, GAP, SYMLINK, TABLE_GAPS } from "../../scan/file-table.ts";
import { EXCLUDED, RACY } from "../../scan/stat-columns.ts";
import { IgnoredUse } from "../../rules/ignored-budget.ts";
import { isMapped } from "../../scan/database-names.ts";
import type { NamesToSee, Scan } from "../../scan/scan-request.ts";
import type { IgnoredLimits } from "../../rules/ignored-budget.ts";

/** The known tree: a table with an index, kept up to date by partial scans. */
export class LiveTree {
  #table: FileTable;
  readonly #index = new Map<BytePath, number>();
  readonly #gaps = new Map<BytePath, Gap>();
  readonly #excluded = new Map<BytePath, string>();
  /** Paths that can change without an event and must be examined each time. */
  readonly #restless = new Map<BytePath, true>();
  files = 0;
  bytes = 0;
  /** Directories whose tree is not known to be in the store. */
  readonly #unrecorded = new Set<BytePath>();
  readonly #trees = new Map<BytePath, ObjectHash>();
  /** What was at the paths that changed since the last `recorded`; undefined = nothing. */
  readonly #before = new Map<BytePath, Entry | undefined>();
  #recorded: ObjectHash;
  /** Entries read since the last `recorded`, and whether they were at rest. */
  readonly #merged = new Map<number, number>();

  /** What the ignored directories hold. */
  readonly #ignoredUse: IgnoredUse;
  /** When the table has more entries than this, most of its room is lost: it is compacted. */
  #mostEntries: number;

  constructor(table: FileTable) {
    this.#table = table;
    this.#mostEntries = roomFor(table);
    this.#ignoredUse = new IgnoredUse(table.ignoredRoots);
    table.directories.forEach((path, directory) => {
      this.#index.set(path, directory);
      const end = table.firstEntry[directory]! + table.entryCount[directory]!;
      for (let index = table.firstEntry[directory]!; index < end; index += 1) this.#count(path, index, 1);
    });
    this.#recorded = table.treeHashAt(this.#index.get(ROOT_PATH)!);
  }

  get table(): FileTable {
    return this.#table;
  }

  get index(): ReadonlyMap<BytePath, number> {
    return this.#index;
  }

  get restless(): Iterable<BytePath> {
    return this.#restless.keys();
  }

  get gaps(): readonly Gap[] {
    return sortedByPath([...this.#gaps.values()]);
  }

  get excluded(): readonly ExcludedRoot[] {
    return sortedByPath([...this.#excluded].map(([path, rule]) => ({ path, rule, bytes: null })));
  }

  /** True when an ignored directory holds more than may be captured. */
  isOverBudget(limits: IgnoredLimits): boolean {
    return this.#ignoredUse.isOver(limits);
  }

  /** The table's index of a path, -1 when it is not there. */
  find(path: BytePath): number {
    const directory = this.#index.get(parentPath(path));
    return directory === undefined ? -1 : this.#table.find(directory, baseName(path));
  }

  /** What the tree knows of a file, for the comparison with git's index; undefined for anything else. */
  statOf(path: BytePath): { size: number; mtimeNs: bigint; mode: number } | undefined {
    const index = this.find(path);
    const { kind, size, mtimeNs, mode } = this.#table;
    if (index < 0 || kind[index] !== FILE) return undefined;
    return { size: size[index]!, mtimeNs: mtimeNs[index]!, mode: mode[index]! };
  }

  /** Merges what a partial scan saw; returns the directories that no longer exist. */
  merge(scan: Scan, looks: Iterable<NamesToSee>): BytePath[] {
    const seen = new SeenPart(scan);
    const dropped: BytePath[] = [];
    for (const root of scan.table.ignoredRoots) this.#table.ignoredRoots.add(root);
    this.#ignoredUse.rootsChanged();
    for (const { path, names } of looks) {
      const target = this.#index.get(path);
      // it disappeared with a directory above it, or was entered as a part of it
      if (target === undefined || seen.entered.has(path)) continue;
      for (const name of names.keys()) this.#takeOut(path, name, seen, dropped);
      this.#putIn(path, target, { names, seen, at: seen.looked.get(path)! });
      this.#mark(path);
    }
    for (const [path, at] of seen.entered) this.#graft(path, seen, at);
    for (const path of dropped) if (!this.#index.has(path)) this.#table.ignoredRoots.delete(path);
    this.#ignoredUse.rootsChanged();
    return dropped.filter((path) => !this.#index.has(path));
  }

  /** Builds the trees of all unrecorded directories and of their changed ancestors, deepest first. */
  build(sink: ContentSink): ObjectHash {
    this.#trees.clear();
    for (const path of withAncestors(this.#unrecorded)) {
      if (!this.#unrecorded.has(path)) continue;
      const hash = encodeDirectory(this.#table, this.#index.get(path)!, sink);
      this.#trees.set(path, hash);
      if (path !== ROOT_PATH && this.#nameTree(path, hash)) this.#mark(parentPath(path));
    }
    return this.#trees.get(ROOT_PATH) ?? this.#table.treeHashAt(this.#index.get(ROOT_PATH)!);
  }

  /**
   * The edits from the last recorded snapshot to the one that was built; below a gap nothing is known [R12].
   */
  changes(): { since: ObjectHash; edits: Edit[] } {
    const edits: Edit[] = [];
    for (const [path, from] of this.#before) {
      const to = this.#entry(this.find(path));
      if (!sameNode(from, to)) edits.push({ path, from, to });
    }
    const gaps = edits.filter(({ from, to }) => mayHoldMore(from) || mayHoldMore(to));
    const isKnown = ({ path }: Edit) => !gaps.some((gap) => gap.path !== path && isAtOrBelow(path, gap.path));
    return { since: this.#recorded, edits: sortedByPath(gaps.length === 0 ? edits : edits.filter(isKnown)) };
  }

  #entry(index: number): Entry | undefined {
    return index >= 0 && this.#table.kind[index]! < EXCLUDED ? this.#table.entryAt(index) : undefined;
  }

  /** Call when what was merged and built is in the store. */
  recorded(): void {
    for (const [index, flags] of this.#merged) this.#table.flags[index] = flags;
    this.#merged.clear();
    for (const [path, hash] of this.#trees) this.#table.setTreeHash(this.#index.get(path)!, hash);
    this.#trees.clear();
    this.#unrecorded.clear();
    this.#before.clear();
    this.#recorded = this.#table.treeHashAt(this.#index.get(ROOT_PATH)!);
    if (this.#table.length > this.#mostEntries) this.#compact();
  }

  #compact(): void {
    this.#table = this.#table.compacted();
    this.#index.clear();
    this.#table.directories.forEach((path, directory) => this.#index.set(path, directory));
    this.#mostEntries = roomFor(this.#table);
  }

  /** Writes a directory's tree into its own entry; true when it changed. */
  #nameTree(path: BytePath, hash: ObjectHash): boolean {
    return this.#table.setHash(this.find(path), hash);
  }

  #mark(path: BytePath): void {
    this.#unrecorded.add(path);
    this.#table.forgetTreeHash(this.#index.get(path)!);
  }

  /** Removes a name from the counts, and what is below it from the table unless it stays. */
  #takeOut(directory: BytePath, name: string, seen: SeenPart, dropped: BytePath[]): void {
    const index = this.#table.find(this.#index.get(directory)!, name);
    if (index < 0) return;
    this.#uncount(directory, index);
    const path = joinPath(directory, name);
    const now = seen.find(directory, name);
    const stays = now >= 0 && seen.table.kind[now] === DIRECTORY && !seen.entered.has(path);
    if (!stays) this.#drop(path, dropped);
  }

  #drop(path: BytePath, dropped: BytePath[]): void {
    const directory = this.#index.get(path);
    if (directory === undefined) return;
    for (const index of this.#table.entriesOf(directory)) {
      this.#uncount(path, index);
      if (this.#table.kind[index] === DIRECTORY)
        this.#drop(joinPath(path, this.#table.names[index]!), dropped);
    }
    this.#index.delete(path);
    this.#unrecorded.delete(path);
    this.#table.removeDirectory(directory);
    dropped.push(path);
  }

  /**
   * Writes names as they are now into a directory: in place if the names are the same, otherwise as a new
   * run.
   */
  #putIn(path: BytePath, target: number, { names, seen, at }: PutIn): void {
    const table = this.#table;
    const fresh = [...seen.table.entriesOf(at)].filter((index) => seen.table.kind[index] !== ABSENT);
    const isThere = new Set(fresh.map((index) => seen.table.names[index]!));
    const sameNames = [...names.keys()].every((name) => isThere.has(name) === table.find(target, name) >= 0);
    if (sameNames) {
      for (const index of fresh) {
        const own = table.find(target, seen.table.names[index]!);
        table.overwriteEntry(own, seen.table, index);
        this.#note(path, own, seen, index);
      }
      return;
    }
    const stay = [...table.entriesOf(target)].filter((index) => !names.has(table.names[index]!));
    table.emptyDirectory(target);
    for (const index of fresh) {
      const name = seen.table.names[index]!;
      while (stay.length > 0 && table.names[stay[0]!]! < name) table.copyEntry(target, table, stay.shift()!);
      this.#note(path, table.copyEntry(target, seen.table, index), seen, index);
    }
    for (const index of stay) table.copyEntry(target, table, index);
  }

  /** Adds a directory that was entered, with everything in it. */
  #graft(path: BytePath, seen: SeenPart, at: number): void {
    const directory = this.#table.addDirectory(path);
    this.#index.set(path, directory);
    this.#mark(path);
    const first = this.#table.copyEntries(directory, seen.table, at);
    const start = seen.table.firstEntry[at]!;
    for (const index of this.#table.entriesOf(directory))
      this.#note(path, index, seen, start + index - first);
  }

  /** Counts a merged entry; its content is read again until it is recorded. */
  #note(directory: BytePath, index: number, seen: SeenPart, source: number): void {
    this.#count(directory, index, 1);
    const path = joinPath(directory, this.#table.names[index]!);
    if (!this.#before.has(path)) this.#before.set(path, undefined);
    // what was read at this place before is another entry now
    this.#merged.delete(index);
    if (!seen.pending.has(source)) return;
    this.#merged.set(index, this.#table.flags[index]!);
    this.#table.flags[index] = RACY;
  }

  /**
   * Removes an entry from the counts; the first time since the last `recorded` it is remembered as what was
   * there before.
   */
  #uncount(directory: BytePath, index: number): void {
    const path = joinPath(directory, this.#table.names[index]!);
    if (!this.#before.has(path)) this.#before.set(path, this.#entry(index));
    this.#count(directory, index, -1);
  }

  #count(directory: BytePath, index: number, sign: 1 | -1): void {
    const { kind, size, names, mode, flags } = this.#table;
    const isContent = kind[index] === FILE || kind[index] === SYMLINK;
    this.#ignoredUse.add(directory, isContent ? size[index]! : undefined, sign);
    if (isContent) {
      this.files += sign;
      this.bytes += sign * size[index]!;
      if (kind[index] === SYMLINK || !isMapped(names[index]!)) return;
    }
    const path = joinPath(directory, names[index]!);
    switch (kind[index]) {
      case FILE:
        return keep(this.#restless, path, sign, true);
      case GAP:
        return keep(this.#gaps, path, sign, { path, reason: TABLE_GAPS[mode[index]!]!, size: size[index]! });
      case EXCLUDED:
        keep(this.#excluded, path, sign, this.#table.exclusionOf(index));
        // a mount point or worktree can cease to be one without an event
        if (flags[index] === RACY) keep(this.#restless, path, sign, true);
    }
  }
}

/**
 * A partial scan by path. A directory can be in it twice: visited for some names, and entered with one above
 * it.
 */
class SeenPart {
  readonly table: FileTable;
  readonly pending: ReadonlySet<number>;
  readonly looked = new Map<BytePath, number>();
  readonly entered = new Map<BytePath, number>();

  constructor({ table, pending, parent }: Scan) {
    this.table = table;
    this.pending = new Set(pending);
    table.directories.forEach((path, at) => (parent[at] === -1 ? this.looked : this.entered).set(path, at));
  }

  find(directory: BytePath, name: string): number {
    const index = this.table.find(this.looked.get(directory)!, name);
    return index >= 0 && this.table.kind[index] !== ABSENT ? index : -1;
  }
}

interface PutIn {
  readonly names: ReadonlyMap<string, boolean>;
  readonly seen: SeenPart;
  readonly at: number;
}

function keep<Value>(map: Map<BytePath, Value>, path: BytePath, sign: 1 | -1, value: Value): void {
  if (sign > 0) map.set(path, value);
  else map.delete(path);
}

function roomFor(table: FileTable): number {
  return 2 * table.length + 1024;
}

function sortedByPath<Item extends { path: BytePath }>(items: Item[]): Item[] {
  return items.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** These paths and all above them, deepest first. */
function withAncestors(paths: ReadonlySet<BytePath>): BytePath[] {
  const all = new Set<BytePath>([ROOT_PATH]);
  for (const path of paths) {
    for (let at = path; !all.has(at); at = parentPath(at)) all.add(at);
  }
  // a path is longer than those above it
  return [...all].sort((a, b) => b.length - a.length);
}
