/**
 * Live capture: a capture looks only at what the watcher named since the last one, so it costs what changed. The
 * watcher is a hint; a full scan decides at the start, before anything destructive, and whenever there is a doubt:
 * events may be missing, rules changed, the root was replaced. A doubt lets go of the tree; the next capture is cold,
 * and what it saw is the tree from then on.
 *
 * Nothing is missed at a new directory, because its watch is made before it is listed: what came earlier is in the
 * listing, what comes later is an event. So one cookie is enough for everything that happened before it.
 */
import { below, type AbsolutePath } from "../../fs/absolute-path.ts";
import { statNode } from "../../fs/file-stat.ts";
import { findRepository } from "../../git/git-repository.ts";
import { DirectoryWatches, NoMoreWatches } from "../../fs/watch.ts";
import type { WatchCookie } from "../../fs/watch-cookie.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { GitState } from "../../model/checkpoint.ts";
import type { ObjectHash } from "../../model/object-hash.ts";
import type { Edit } from "../../model/plan.ts";
import type { RecordedRules } from "../../model/rules.ts";
import { readScanned, type CapturedTree, type CaptureInput } from "../capture.ts";
import { FILE, type FileTable } from "../../scan/file-table.ts";
import { EXCLUDED, hasStat } from "../../scan/stat-columns.ts";
import { LiveChanges } from "./live-changes.ts";
import { LiveLinks, pathsOf } from "./live-links.ts";
import { isIgnoreFile, LiveRules } from "./live-rules.ts";
import { LiveTree } from "./live-tree.ts";
import { keyOf, type RulesReader, type RecordRequest } from "../../scan/rules-reader.ts";
import { databaseFiles } from "../read-databases.ts";
import { scanNames } from "../../scan/scan.ts";
import { whyOverBudget } from "../../scan/scanner.ts";
import type { NamesToSee, Scan, ScanRequest } from "../../scan/scan-request.ts";
import type { CacheFacts } from "../../scan/stat-cache.ts";

export interface LiveOptions {
  readonly root: AbsolutePath;
  readonly rules: RulesReader;
  readonly commandPath: string;
  readonly cookie: WatchCookie;
  /** At most this many directories are watched. */
  readonly directoryLimit?: number | undefined;
}

/** What a live look needs to know. */
export interface LiveLook {
  readonly request: RecordRequest;
  readonly facts: CacheFacts;
  scanRequest(previous: FileTable): ScanRequest & { previous: FileTable };
  captureInput(scan: Scan): CaptureInput;
}

export interface LiveSeen extends CapturedTree {
  readonly changes: { readonly since: ObjectHash; readonly edits: readonly Edit[] };
  readonly recordedRules: RecordedRules;
  readonly keys: Pick<CacheFacts, "gitIndexKey" | "rulesKey">;
  readonly git: { readonly state: GitState | null; readonly key: string };
  /** Files written so recently that they are to be read once more, after the answer. */
  readonly hot: ReadonlyMap<BytePath, ObjectHash>;
  readonly readCount: number;
}

/** What a full scan saw, by which the captures after it go. */
class Adopted {
  readonly rules: LiveRules;
  isProven: boolean;
  readonly #table: FileTable;
  #tree: LiveTree | undefined;
  #links: LiveLinks | undefined;

  constructor(table: FileTable, rules: LiveRules, isProven: boolean) {
    this.#table = table;
    this.rules = rules;
    this.isProven = isProven;
  }

  get tree(): LiveTree {
    return (this.#tree ??= new LiveTree(this.#table));
  }

  get links(): LiveLinks {
    return (this.#links ??= new LiveLinks(this.tree.table));
  }

  /** Makes now what the next capture, or the next full scan, will need. */
  prepare(): void {
    void this.links;
    this.#table.texts();
  }
}

const SCAN_FIRST = "the next capture scans everything";

export class LiveCapture {
  readonly #options: LiveOptions;
  readonly #watches: DirectoryWatches;
  readonly changes = new LiveChanges();
  #state: Adopted | undefined;
  /** Why there is no tree. */
  #reason = SCAN_FIRST;
  #isClosed = false;
  /** Ignored directories that were too large, and in which something changed since. */
  #touchedOver = new Set<BytePath>();

  constructor(options: LiveOptions) {
    this.#options = options;
    const listener = {
      changed: (directory: BytePath, name: string, replaced: boolean) =>
        this.#changed(directory, name, replaced),
      lost: (reason: string) => this.lose(reason),
    };
    this.#watches = new DirectoryWatches(options.root, listener, options.directoryLimit);
  }

  get tree(): LiveTree | undefined {
    return this.#state?.tree;
  }

  /** True when a capture may rely on the watcher. */
  get isLive(): boolean {
    return this.#state?.isProven === true;
  }

  get watching(): { state: "live" | "cold"; reason: string | null; directories: number } {
    const { isLive } = this;
    return {
      state: isLive ? "live" : "cold",
      reason: isLive ? null : this.#reason,
      directories: this.#watches.size,
    };
  }

  /** Watches a directory before it is looked at; true when the watch is new. A watch dies with its directory. */
  readonly entering = (path: BytePath): boolean => {
    if (this.#isClosed) return false;
    if (this.changes.isReplaced(path)) this.#watches.remove(path);
    try {
      return this.#watches.add(path);
    } catch (error) {
      if (!(error instanceof NoMoreWatches)) throw error;
      this.#giveUp(`not everything can be watched: ${error.message}`);
      return false;
    }
  };

  /** Waits for everything that happened up to now; false when only a full scan can tell. */
  async caughtUp(): Promise<boolean> {
    if (!this.isLive) return false;
    if (!(await this.#options.cookie.arrived())) this.lose("the watcher did not answer");
    return this.isLive;
  }

  /** What a full scan saw is the tree from now on; one that is only believed to be right becomes live by `proven`. */
  adopt(table: FileTable, rules: RecordedRules, facts: CacheFacts, isProven = true): void {
    if (this.#isClosed) return;
    const { gitIndexKey } = facts;
    const rulesKey = keyOf({ ...rules, tracked: [] });
    const last = { rules, gitIndexKey, rulesKey };
    const state = new Adopted(
      table,
      new LiveRules(this.#options.rules, this.#options.commandPath, last),
      isProven,
    );
    this.#state = state;
    this.changes.clear();
    // a scan watches as much of such a directory as proves that it is too large; nothing else does
    this.#touchedOver = new Set(isProven ? [] : rules.overBudget.map(({ path }) => path));
    // in a big tree that takes a while, and whoever asked for the scan has not been answered yet
    setImmediate(() => this.#settleIn(state)).unref();
  }

  /** Makes ready what the next capture needs, and lets go of what is no longer there to be watched. */
  #settleIn(state: Adopted): void {
    if (this.#state !== state) return;
    state.prepare();
    for (const path of this.#watches.paths())
      if (!state.tree.index.has(path) && state.rules.overRootOf(path) === undefined)
        this.#watches.remove(path);
  }

  /** Every difference between the tree and the disk is among the changes now. */
  proven(): void {
    if (this.#state !== undefined) this.#state.isProven = true;
  }

  /** Looks at what changed; undefined when a full scan has to. */
  see(look: LiveLook): LiveSeen | undefined {
    if (this.#state === undefined) return undefined;
    const { tree, rules } = this.#state;
    const repository = findRepository(this.#options.root);
    const named = rules.update(look.request, repository);
    if (named === undefined) return this.doubt("the rules changed");
    this.#addNamed(tree, named);
    const scanned = this.scan(look, this.changes);
    if (scanned === undefined) return undefined;
    const { scan, looks } = scanned;
    const hot = new Map<BytePath, ObjectHash>();
    const hotLater = (path: BytePath, first: ObjectHash) => void hot.set(path, first);
    const content = readScanned({ ...look.captureInput(scan), hotLater });
    const dropped = tree.merge(scan, looks);
    for (const path of dropped) this.#watches.remove(path);
    if (tree.isOverBudget(look.scanRequest(tree.table).ignoredLimits))
      return this.doubt("an ignored directory outgrew its budget");
    if (dropped.some((path) => rules.hasIgnoreFileBelow(path))) return this.doubt("the rules changed");
    const snapshot = tree.build(look.captureInput(scan).sink);
    const git = this.#options.rules.liveGitState(repository, this.changes.paths(), {
      tree,
      statOf: (path) => tree.statOf(path),
      last: look.facts,
    });
    const { files, bytes, gaps } = tree;
    return {
      ...content,
      snapshot,
      files,
      bytes,
      gaps,
      git,
      hot,
      changes: tree.changes(),
      recordedRules: rules.recorded,
      keys: rules.keys,
      readCount: scan.pending.length,
    };
  }

  /** Scans names of the tree's directories; undefined when the rules turn out to be others. */
  scan(look: LiveLook, changes: LiveChanges): { scan: Scan; looks: NamesToSee[] } | undefined {
    if (this.#state === undefined) return undefined;
    const { tree, rules } = this.#state;
    if (!this.#areStillOver(look, tree, rules)) return this.doubt("an ignored directory fits its budget");
    for (const path of tree.restless) if (this.#hasMoved(tree, path)) changes.addPath(path, false);
    for (const path of [...changes.paths()].flatMap(databaseFiles))
      if (tree.find(path) >= 0 && !changes.has(path)) changes.addPath(path, false);
    for (;;) {
      const looks = this.#looks(changes, tree, rules);
      const scan = scanNames(
        { ...look.scanRequest(tree.table), entering: this.#enteringAnew },
        looks,
        tree.index,
      );
      if (this.#state === undefined) return undefined;
      if (scan.ignoreFiles.length > 0) return this.doubt("the rules changed");
      if (scan.overBudget.length > 0) return this.doubt("an ignored directory is over its budget");
      const others = this.#otherNames(changes, scan).filter((path) => !changes.has(path));
      if (others.length === 0) return { scan, looks };
      for (const path of others) changes.addPath(path, false);
    }
  }

  /** What was left out for its size is counted again when something changed in the part that proved it. */
  #areStillOver(look: LiveLook, tree: LiveTree, rules: LiveRules): boolean {
    return [...this.#touchedOver].every((root) => {
      const inside = rules.inIgnored(root);
      const why = inside && whyOverBudget(look.scanRequest(tree.table), root, inside);
      return why !== undefined && rules.isOverFor(root, why);
    });
  }

  #looks(changes: LiveChanges, tree: LiveTree, rules: LiveRules): NamesToSee[] {
    const looks: NamesToSee[] = [];
    for (const [path, names] of changes.directories()) {
      const inside = tree.index.has(path) ? rules.in(path) : undefined;
      if (inside !== undefined) looks.push({ path, names, rules: () => inside });
    }
    return looks;
  }

  /** What is entered anew may be another directory than the one that is watched. */
  readonly #enteringAnew = (path: BytePath): boolean => {
    this.#watches.remove(path);
    return this.entering(path);
  };

  /** Where else files stand that are, or were, among what changed. */
  #otherNames(changes: LiveChanges, { linked }: Scan): BytePath[] {
    const { tree, links } = this.#state!;
    links.add(linked);
    const inodes = new Set(linked);
    for (const path of changes.paths()) {
      const index = tree.find(path);
      if (index >= 0 && links.has(tree.table.ino[index]!)) inodes.add(tree.table.ino[index]!);
    }
    return pathsOf(tree.table, inodes);
  }

  /** The store has what was last seen. */
  recorded(): void {
    this.#state?.tree.recorded();
    this.changes.clear();
    this.#touchedOver.clear();
  }

  /** A full scan has to decide; the watches are good. */
  doubt(reason: string): undefined {
    if (this.#isClosed) return;
    this.#state = undefined;
    this.#reason = `${reason}; ${SCAN_FIRST}`;
  }

  /** Events are missing: a watch may have died with its directory, so all are made anew. */
  lose(reason: string): void {
    if (this.#isClosed) return;
    this.doubt(reason);
    this.changes.clear();
    this.#watches.removeAll();
  }

  close(): void {
    this.#giveUp("nobody asked to watch");
    this.#watches.close();
    this.#options.cookie.close();
  }

  #giveUp(reason: string): void {
    this.#isClosed = true;
    this.#state = undefined;
    this.#reason = reason;
    this.changes.clear();
    this.#watches.removeAll();
  }

  #changed(directory: BytePath, name: string, replaced: boolean): void {
    if (name === ".git" || isIgnoreFile(name)) this.doubt("the rules changed");
    const over = this.#state?.rules.overRootOf(directory);
    if (over !== undefined) this.#touchedOver.add(over);
    const isSeen = over === undefined || this.#state!.tree.index.has(directory);
    if (isSeen && !this.changes.add(directory, name, replaced)) this.lose("too much changed");
  }

  /** A path that was left out and is named now is in, with the directories above it. */
  #addNamed(tree: LiveTree, named: readonly BytePath[]): void {
    for (const path of named) {
      const index = tree.find(path);
      if (index >= 0 && tree.table.kind[index] === EXCLUDED) this.changes.addPath(path, true);
    }
  }

  #hasMoved(tree: LiveTree, path: BytePath): boolean {
    const index = tree.find(path);
    const statOf = () => statNode(below(this.#options.root, path));
    return tree.table.kind[index] !== FILE || !hasStat(tree.table, index, statOf);
  }

  get watches(): DirectoryWatches {
    return this.#watches;
  }
}
