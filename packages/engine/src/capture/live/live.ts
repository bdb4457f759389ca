/**
 * Live capture examines only what the watcher named since the last one, so it costs what changed. The watcher
 * is a hint. A full scan decides at the start, before a restore, and whenever the known tree may be wrong:
 * events may be missing, rules changed, the root was replaced. `live-state.ts` has the states and their
 * transitions.
 *
 * Nothing is missed in a new directory, because its watch is created before it is listed: earlier changes are
 * in the listing, later ones are events. So one cookie covers everything that happened before it.
 */
import { below, type AbsolutePath } from "../../fs/absolute-path.ts";
import { statNode } from "../../fs/file-stat.ts";
import { findRepository } from "../../git/git-repository.ts";
import { DirectoryWatches, NoMoreWatches } from "../../fs/watch.ts";
import type { WatchCookie } from "../../fs/watch-cookie.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { GitState } from "../../model/checkpoint.ts";
import type { ObjectHash } from "../../model/object-hash.ts";
import type { RecordedRules } from "../../model/rules.ts";
import type { LookResult, Present } from "../look.ts";
import type { OneLook } from "../one-look.ts";
import { readPending } from "../read-pending.ts";
import { FILE, type FileTable } from "../../scan/file-table.ts";
import { EXCLUDED, hasStat } from "../../scan/stat-columns.ts";
import { LiveChanges } from "./live-changes.ts";
import { LiveLinks, pathsOf } from "./live-links.ts";
import { isIgnoreFile, LiveRules } from "./live-rules.ts";
import { dropsWatches, hasTree, nextState, takesTree, type LiveEvent, type LiveState } from "./live-state.ts";
import { LiveTree } from "./live-tree.ts";
import { keyOf, type RulesReader } from "../../scan/rules-reader.ts";
import { databaseFiles } from "../read-databases.ts";
import { scanNames } from "../../scan/scan.ts";
import { whyOverBudget } from "../../scan/scanner.ts";
import type { NamesToSee, Scan } from "../../scan/scan-request.ts";
import type { CacheFacts, StatCache } from "../../scan/stat-cache.ts";

/** What live capture works with. */
export interface LiveOptions {
  readonly root: AbsolutePath;
  readonly rules: RulesReader;
  readonly commandPath: string;
  readonly cookie: WatchCookie;
  /** At most this many directories are watched. */
  readonly directoryLimit?: number | undefined;
}

/** What a live look saw. */
export interface LiveSeen
  extends
    Pick<Present, "snapshot" | "files" | "bytes" | "gaps" | "doubts" | "changes" | "recordedRules">,
    Pick<LookResult, "read"> {
  readonly keys: Pick<CacheFacts, "gitIndexKey" | "rulesKey">;
  readonly git: { readonly state: GitState | null; readonly key: string };
  /** Files written so recently that they are read once more after the answer. */
  readonly hot: ReadonlyMap<BytePath, ObjectHash>;
}

/** The tree that captures rely on, with its rules and its hard links. */
class KnownTree {
  readonly rules: LiveRules;
  readonly #table: FileTable;
  #tree: LiveTree | undefined;
  #links: LiveLinks | undefined;

  constructor(table: FileTable, rules: LiveRules) {
    this.#table = table;
    this.rules = rules;
  }

  get tree(): LiveTree {
    return (this.#tree ??= new LiveTree(this.#table));
  }

  get links(): LiveLinks {
    return (this.#links ??= new LiveLinks(this.tree.table));
  }

  /** Computes now what the next capture, or the next full scan, will need. */
  makeReady(): void {
    void this.links;
    this.#table.texts();
  }
}

const SCAN_FIRST = "the next capture scans everything";

/** The live side of one working copy: its state, its watches, the names that changed, the known tree. */
export class LiveCapture {
  readonly #options: LiveOptions;
  readonly watches: DirectoryWatches;
  readonly changes = new LiveChanges();
  #state: LiveState = "cold";
  /** Set in the states for which `hasTree` is true. */
  #known: KnownTree | undefined;
  /** Why captures are not live. */
  #reason = SCAN_FIRST;
  /** True during synchronous work that began when the watcher had reported everything. */
  #isCaughtUp = false;
  /** Ignored directories that were too large, and in which something changed since. */
  #touchedOver = new Set<BytePath>();

  constructor(options: LiveOptions) {
    this.#options = options;
    const listener = {
      changed: (directory: BytePath, name: string, replaced: boolean) =>
        this.#changed(directory, name, replaced),
      lost: (reason: string) => this.loseEvents(reason),
    };
    this.watches = new DirectoryWatches(options.root, listener, options.directoryLimit);
  }

  get state(): LiveState {
    return this.#state;
  }

  get tree(): LiveTree | undefined {
    return this.#known?.tree;
  }

  get watching(): { state: "live" | "cold"; reason: string | null; directories: number } {
    const isLive = this.#state === "live";
    return {
      state: isLive ? "live" : "cold",
      reason: isLive ? null : this.#reason,
      directories: this.watches.size,
    };
  }

  /** Watches a directory before it is listed; true when the watch is new. A watch dies with its directory. */
  readonly entering = (path: BytePath): boolean => {
    if (this.#state === "closed") return false;
    if (this.changes.isReplaced(path)) this.watches.remove(path);
    try {
      return this.watches.add(path);
    } catch (error) {
      if (!(error instanceof NoMoreWatches)) throw error;
      this.#on("closed", `not everything can be watched: ${error.message}`);
      return false;
    }
  };

  /** Waits until the watcher has reported everything up to now; false when only a full scan can tell. */
  async caughtUp(): Promise<boolean> {
    if (this.#state !== "live") return false;
    if (!(await this.#options.cookie.arrived())) this.loseEvents("the watcher did not answer");
    return this.#state === "live";
  }

  /** Does synchronous work in which looks may rely on the watcher, if it answers. */
  async whileCaughtUp<Result>(work: () => Result): Promise<Result> {
    this.#isCaughtUp = await this.caughtUp();
    try {
      return work();
    } finally {
      this.#isCaughtUp = false;
    }
  }

  /** True while a look may rely on the watcher. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp && this.#state === "live";
  }

  /** The tree of the last run, from the stat cache; every one of its directories is watched by now. */
  loaded(cache: StatCache, rules: RecordedRules): void {
    if (!takesTree(this.#state, "loaded")) return;
    this.#take(cache, rules);
    // a scan watches only as much of an over-budget directory as proves that it is one; nothing was scanned
    this.#touchedOver = new Set(rules.overBudget.map(({ path }) => path));
    this.#on("loaded", SCAN_FIRST);
  }

  /** Every difference between the tree and the disk is among the changes now. */
  swept(): void {
    this.#on("swept", this.#reason);
  }

  /** What a recorded full scan saw is the known tree from now on. */
  scanned(cache: StatCache, rules: RecordedRules): void {
    if (!takesTree(this.#state, "scanned")) return;
    this.#take(cache, rules);
    this.#touchedOver.clear();
    this.#on("scanned", this.#reason);
  }

  /** The known tree can no longer be trusted; the watches are good. */
  outdate(reason: string): undefined {
    this.#on("outdated", `${reason}; ${SCAN_FIRST}`);
  }

  /** Events are missing: a watch may have died with its directory, so all are created again. */
  loseEvents(reason: string): void {
    this.#on("eventsLost", `${reason}; ${SCAN_FIRST}`);
  }

  close(): void {
    this.#on("closed", "watching has ended");
    this.watches.close();
    this.#options.cookie.close();
  }

  #on(event: LiveEvent, reason: string): void {
    const isClosed = this.#state === "closed";
    this.#state = nextState(this.#state, event);
    if (isClosed) return;
    this.#reason = reason;
    if (!hasTree(this.#state)) this.#known = undefined;
    if (!dropsWatches(event)) return;
    this.changes.clear();
    this.watches.removeAll();
  }

  #take({ table, facts: { gitIndexKey } }: StatCache, rules: RecordedRules): void {
    const last = { rules, gitIndexKey, rulesKey: keyOf({ ...rules, tracked: [] }) };
    const known = new KnownTree(table, new LiveRules(this.#options.rules, this.#options.commandPath, last));
    this.#known = known;
    this.changes.clear();
    // in a big tree that takes a while, and the caller of the scan has no answer yet
    setImmediate(() => this.#makeReady(known)).unref();
  }

  /** Prepares the next capture, and closes the watches of directories that are no longer there. */
  #makeReady(known: KnownTree): void {
    if (this.#known !== known) return;
    known.makeReady();
    for (const path of this.watches.paths())
      if (!known.tree.index.has(path) && known.rules.overRootOf(path) === undefined)
        this.watches.remove(path);
  }

  /**
   * Examines what changed since the last capture, whose facts are in `last`; undefined when a full scan is
   * needed.
   */
  see(look: OneLook, last: CacheFacts): LiveSeen | undefined {
    if (this.#known === undefined) return undefined;
    const { tree, rules } = this.#known;
    const repository = findRepository(this.#options.root);
    const named = rules.update(look.rules, repository);
    if (named === undefined) return this.outdate("the rules changed");
    this.#addNamed(tree, named);
    const scanned = this.scan(look, this.changes);
    if (scanned === undefined) return undefined;
    const { scan, looks } = scanned;
    const hot = new Map<BytePath, ObjectHash>();
    const hotLater = (path: BytePath, first: ObjectHash) => void hot.set(path, first);
    const content = readPending({ ...look.reading(scan), hotLater });
    const dropped = tree.merge(scan, looks);
    for (const path of dropped) this.watches.remove(path);
    if (tree.isOverBudget(look.scanRequest.ignoredLimits))
      return this.outdate("an ignored directory outgrew its budget");
    if (dropped.some((path) => rules.hasIgnoreFileBelow(path))) return this.outdate("the rules changed");
    const snapshot = tree.build(look.destination.sink);
    const git = this.#options.rules.liveGitState(repository, this.changes.paths(), {
      tree,
      statOf: (path) => tree.statOf(path),
      last,
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
    };
  }

  /** Scans names of the tree's directories; undefined when the rules turn out to be different. */
  scan(look: OneLook, changes: LiveChanges): { scan: Scan; looks: NamesToSee[] } | undefined {
    if (this.#known === undefined) return undefined;
    const { tree, rules } = this.#known;
    if (!this.#areStillOver(look, tree, rules)) return this.outdate("an ignored directory fits its budget");
    for (const path of tree.restless) if (this.#hasMoved(tree, path)) changes.addPath(path, false);
    for (const path of [...changes.paths()].flatMap(databaseFiles))
      if (tree.find(path) >= 0 && !changes.has(path)) changes.addPath(path, false);
    for (;;) {
      const looks = this.#looks(changes, tree, rules);
      const scan = scanNames(
        { ...look.scanRequest, previous: tree.table, entering: this.#enteringAnew },
        looks,
        tree.index,
      );
      // there were not enough watches for what was entered
      if (this.#known === undefined) return undefined;
      if (scan.ignoreFiles.length > 0) return this.outdate("the rules changed");
      if (scan.overBudget.length > 0) return this.outdate("an ignored directory is over its budget");
      const others = this.#otherNames(changes, scan).filter((path) => !changes.has(path));
      if (others.length === 0) return { scan, looks };
      for (const path of others) changes.addPath(path, false);
    }
  }

  /** The store has what was last seen. */
  recorded(): void {
    this.#known?.tree.recorded();
    this.changes.clear();
    this.#touchedOver.clear();
  }

  /** Counts an over-budget directory again when something changed in the part that proved it. */
  #areStillOver(look: OneLook, tree: LiveTree, rules: LiveRules): boolean {
    const request = { ...look.scanRequest, previous: tree.table, entering: this.entering };
    return [...this.#touchedOver].every((root) => {
      const inside = rules.inIgnored(root);
      const why = inside && whyOverBudget(request, root, inside);
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

  /** A directory that is entered again may be another one than the watch is on. */
  readonly #enteringAnew = (path: BytePath): boolean => {
    this.watches.remove(path);
    return this.entering(path);
  };

  /** The other names of files that changed, or that were replaced by what changed. */
  #otherNames(changes: LiveChanges, { linked }: Scan): BytePath[] {
    const { tree, links } = this.#known!;
    links.add(linked);
    const inodes = new Set(linked);
    for (const path of changes.paths()) {
      const index = tree.find(path);
      if (index >= 0 && links.has(tree.table.ino[index]!)) inodes.add(tree.table.ino[index]!);
    }
    return pathsOf(tree.table, inodes);
  }

  #changed(directory: BytePath, name: string, replaced: boolean): void {
    if (name === ".git" || isIgnoreFile(name)) this.outdate("the rules changed");
    const over = this.#known?.rules.overRootOf(directory);
    if (over !== undefined) this.#touchedOver.add(over);
    const isSeen = over === undefined || this.#known!.tree.index.has(directory);
    if (isSeen && !this.changes.add(directory, name, replaced)) this.loseEvents("too much changed");
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
}
