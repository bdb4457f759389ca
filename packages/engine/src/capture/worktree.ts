/**
 * One look at the working copy from start to snapshot: rules, scan, content, git state. `look` records
 * nothing and writes nothing; `capture` puts content into the store for a checkpoint to refer to.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { readFileClock } from "../fs/file-clock.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { statNode } from "../fs/file-stat.ts";
import { WatchCookie } from "../fs/watch-cookie.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot, GitState } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { encodeRules, type RecordedRules } from "../model/rules.ts";
import { createStoreSink, DISCARD, putBytes, type ContentSink } from "../store/content-sink.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { captureTree, type CapturedTree, type CaptureInput } from "./capture.ts";
import { encodeExcluded } from "../rules/excluded-list.ts";
import type { FileTable } from "../scan/file-table.ts";
import { createRules, type RulesInput } from "../rules/ignore-rules.ts";
import { LiveCapture, type LiveLook } from "./live/live.ts";
import type { LookRequest, Present } from "./look.ts";
import { LiveWatch, NOTHING_MISSED, type Missed } from "./live/live-watch.ts";
import { Overlay } from "./overlay.ts";
import { ParallelRead } from "./parallel-read.ts";
import { beginNativeLook } from "../scan/native-look.ts";
import { RulesReader } from "../scan/rules-reader.ts";
import { scanTree } from "../scan/scan.ts";
import type { Scan, ScanRequest } from "../scan/scan-request.ts";
import {
  readStatCache,
  sameFacts,
  writeStatCache,
  type CacheFacts,
  type StatCache,
} from "../scan/stat-cache.ts";
import { ruleSettings, type WorktreeOptions } from "../scan/worktree-options.ts";

/** Files written this recently may be in the middle of being written. */
const HOT_NS = 50_000_000n;

/** A cookie takes a fraction of a millisecond; a busy machine gets a little more. */
const COOKIE_TIMEOUT_MS = 1000;

/** To read this share of the entries once more costs less than to write the cache of all of them. */
const TOLERATED_DRIFT = 1 / 1000;

export class Worktree {
  readonly #options: WorktreeOptions;
  readonly #rules: RulesReader;
  #cache: StatCache | undefined;
  #cacheLoaded = false;
  /** How many entries the cache on disk has missed. */
  #drift = 0;
  #live: LiveWatch | undefined;

  constructor(options: WorktreeOptions) {
    this.#options = options;
    this.#rules = new RulesReader(options.root, options.commandPath);
  }

  get root(): AbsolutePath {
    return this.#options.root;
  }

  get live(): LiveWatch | undefined {
    return this.#live;
  }

  /** Watches from now on; the tree is that of the last capture, with whatever a sweep finds to be different. */
  async watch(directoryLimit: number | undefined): Promise<void> {
    await this.close();
    const { root, commandPath, watch } = this.#options;
    if (watch === undefined) return;
    const cookie = new WatchCookie(watch.cookies, COOKIE_TIMEOUT_MS);
    const capture = new LiveCapture({ root, rules: this.#rules, commandPath, cookie, directoryLimit });
    const live = new LiveWatch(root, capture, watch.noteDoubts);
    this.#live = live;
    const previous = this.#previous();
    const rules = previous === undefined ? undefined : watch.rulesOf(previous.facts.checkpoint);
    if (previous !== undefined && rules !== undefined) await live.start(previous, rules);
  }

  /** Waits for what the watcher has still to report; captures in `work`, which waits for nothing, may rely on it. */
  async whileCaughtUp<Result>(work: () => Result): Promise<Result> {
    return this.#live === undefined ? work() : this.#live.capture.whileCaughtUp(work);
  }

  /** Looks for what changed without the watcher's knowledge, a little at a time. */
  async reconcile(request: () => LookRequest): Promise<Missed> {
    const facts = this.#cache?.facts;
    if (this.#live === undefined || facts === undefined) return NOTHING_MISSED;
    return this.#live.reconcile(() =>
      this.#lookLive(request(), NOWHERE, { facts, startNs: readFileClock() }),
    );
  }

  async close(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    await live.close();
    this.#live = undefined;
    this.saveCache();
  }

  /** Writes the stat cache, which live captures leave alone. */
  saveCache(): void {
    const { cachePath } = this.#options;
    if (this.#cache !== undefined && cachePath !== undefined) writeStatCache(cachePath, this.#cache);
  }

  /** Names everything, stores nothing. */
  look(request: LookRequest, store: ObjectSource): Present {
    const overlay = new Overlay(store, this.root);
    const into = { sink: overlay, fileSink: DISCARD, objects: overlay };
    const present = this.#seeLive(request, into) ?? this.#see(request, into);
    for (const [name, path] of present.read) overlay.noteFile(name, path);
    return present;
  }

  /** Puts what is new into the store; durable when the writer commits. */
  capture(request: LookRequest, writer: ObjectWriter, store: ObjectSource): Present {
    const sink = createStoreSink(writer);
    const live = this.#seeLive(request, { sink, fileSink: sink, objects: store });
    if (live !== undefined) return live;
    const ahead = writer.isFirst ? new ParallelRead(this.root) : undefined;
    const finishAhead = (scan: Scan) => ahead?.finish(scan, writer, request.progress);
    return this.#see(request, { sink, fileSink: sink, objects: store, ahead, finishAhead });
  }

  /** Keeps what a capture saw for the next one; call it after the commit that made its content durable. */
  remember(present: Present, checkpoint: string): void {
    const { table, facts } = present.cache;
    const last = this.#cache?.facts;
    this.#cacheLoaded = true;
    if (present.hot !== undefined && this.#live !== undefined) {
      // the cache on disk is behind until the watch ends: what changed is read once more if it ends badly
      this.#cache = { table: this.#live.recorded(checkpoint, present), facts: { ...facts, checkpoint } };
      return;
    }
    this.#cache = { table, facts: { ...facts, checkpoint } };
    this.#live?.scanned(this.#cache, present.recordedRules);
    this.#drift += present.readCount;
    const isGoodEnough =
      last !== undefined && sameFacts(last, facts) && this.#drift <= table.length * TOLERATED_DRIFT;
    if (this.#options.cachePath === undefined || isGoodEnough) return;
    writeStatCache(this.#options.cachePath, this.#cache);
    this.#drift = 0;
  }

  /** Forgets every stat: the next capture reads everything. */
  distrust(): void {
    this.#live?.capture.outdate("the store changed");
    this.#cache = undefined;
    this.#cacheLoaded = true;
  }

  #previous(): StatCache | undefined {
    if (!this.#cacheLoaded && this.#options.cachePath !== undefined)
      this.#cache = readStatCache(this.#options.cachePath);
    this.#cacheLoaded = true;
    const facts = this.#cache?.facts;
    return facts?.root === this.#rootKey() && this.#options.hasCheckpoint(facts.checkpoint, facts.snapshot)
      ? this.#cache
      : undefined;
  }

  /** Looks at what the watcher named; undefined when everything has to be looked at. */
  #seeLive(request: LookRequest, into: Into): SeenPresent | undefined {
    const capture = this.#live?.capture;
    if (capture?.isCaughtUp !== true) return undefined;
    const previous = this.#previous();
    if (previous === undefined) return undefined;
    const startNs = readFileClock();
    const seen = capture.see(this.#lookLive(request, into, { facts: previous.facts, startNs }));
    if (seen === undefined) return undefined;
    const { hot, keys, git, ...tree } = seen;
    return {
      ...tree,
      ...this.#putLists(into.sink, tree.recordedRules, capture.tree!.excluded),
      git: git.state,
      objects: into.objects,
      hot,
      startNs,
      cache: {
        table: capture.tree!.table,
        facts: this.#facts({ ...keys, snapshot: tree.snapshot, rules: tree.recordedRules, git }),
      },
    };
  }

  #lookLive(
    request: LookRequest,
    into: Pick<Into, "sink" | "fileSink">,
    { facts, startNs }: { facts: CacheFacts; startNs: bigint },
  ): LiveLook {
    const situation = { rules: {}, previous: undefined, startNs, sameRules: false, ahead: undefined };
    const scanRequest = this.#scanRequest(request, situation);
    return {
      request: { ...request, settings: ruleSettings(this.#options.limits()) },
      facts,
      scanRequest: (previous) => ({ ...scanRequest, previous }),
      captureInput: (scan) => this.#captureInput(request, { ...into, scan, startNs, previous: undefined }),
    };
  }

  /** A replaced root may reuse inode numbers: nothing seen in the old one counts. */
  #rootKey(): string {
    const stat = statNode(this.root);
    return `${this.#options.storeId} ${stat?.dev} ${stat?.ino} ${stat?.birthtimeNs}`;
  }

  #see(request: LookRequest, into: Into): SeenPresent {
    const startNs = readFileClock();
    const previous = this.#previous();
    // another root has other directories, and watches that know nothing of them
    if (previous === undefined) this.#live?.capture.loseEvents("nothing is known of the last capture");
    using look = previous && this.#canTrust(request) ? beginNativeLook(this.root, previous.table) : undefined;
    const seenSame = look && ((directory: number) => look.isAsBefore(directory));
    const scanWith = (rules: RulesInput, sameRules: boolean) =>
      scanTree(
        this.#scanRequest(request, { rules, previous, startNs, sameRules, seenSame, ahead: into.ahead }),
      );
    const rulesRequest = { ...request, settings: ruleSettings(this.#options.limits()) };
    const { scan, rules, ...keys } = this.#rules.apply(rulesRequest, previous?.facts, scanWith);
    const tree = captureTree(
      this.#captureInput(request, { ...into, scan, startNs, previous: previous?.table }),
    );
    const git = this.#rules.gitState(scan.table, previous?.facts);
    return {
      ...tree,
      ...this.#putLists(into.sink, rules, scan.excluded),
      recordedRules: rules,
      git: git.state,
      objects: into.objects,
      readCount: scan.pending.length,
      startNs,
      cache: { table: scan.table, facts: this.#facts({ ...keys, snapshot: tree.snapshot, rules, git }) },
    };
  }

  /** True when what was seen before may stand for what would be seen now. */
  #canTrust({ unlimited }: LookRequest): boolean {
    return (unlimited?.size ?? 0) === 0 && fileSystemKind(this.root).hasExactTimes;
  }

  #captureInput(
    request: LookRequest,
    from: Omit<Into, "objects"> & { scan: Scan; startNs: bigint; previous: FileTable | undefined },
  ): CaptureInput {
    const { scan, previous, sink, fileSink, finishAhead, startNs } = from;
    return {
      root: this.root,
      scan,
      previous,
      sink,
      fileSink,
      readAhead: () => finishAhead?.(scan),
      hotSinceNs: startNs - HOT_NS,
      limitBytes: this.#options.limits().checkpointBytes,
      unlimited: request.unlimited ?? NONE,
    };
  }

  #putLists(
    sink: ContentSink,
    rules: RecordedRules,
    excludedRoots: readonly ExcludedRoot[],
  ): Pick<Present, "rules" | "excluded" | "excludedRoots"> {
    return {
      rules: putBytes(sink, encodeRules(rules)),
      excluded: putBytes(sink, encodeExcluded(excludedRoots)),
      excludedRoots,
    };
  }

  #facts(seen: {
    snapshot: ObjectHash;
    rules: RecordedRules;
    gitIndexKey: string;
    rulesKey: string;
    git: { key: string; state: GitState | null };
  }): CacheFacts {
    return {
      checkpoint: "",
      snapshot: seen.snapshot,
      root: this.#rootKey(),
      gitIndexKey: seen.gitIndexKey,
      rulesKey: seen.rulesKey,
      tracked: seen.rules.tracked,
      gitStateKey: seen.git.key,
      gitState: seen.git.state,
    };
  }

  #scanRequest(request: LookRequest, using: ScanSituation): ScanRequest {
    const { granularityNs } = fileSystemKind(this.root);
    const trustListings = using.sameRules && this.#canTrust(request);
    return {
      root: this.root,
      rules: () => createRules(using.rules),
      previous: using.previous?.table,
      trustListings,
      seenSame: using.seenSame,
      ahead: using.ahead,
      fileLimitBytes: this.#options.limits().fileBytes,
      ignoredLimits: this.#options.limits().ignored,
      unlimited: request.unlimited ?? NONE,
      forced: NONE,
      racySinceNs: using.startNs - granularityNs,
      entering: this.#live?.capture.entering,
    };
  }
}

interface ScanSituation {
  readonly rules: RulesInput;
  readonly previous: StatCache | undefined;
  readonly startNs: bigint;
  readonly sameRules: boolean;
  readonly seenSame?: ((directory: number) => boolean) | undefined;
  readonly ahead: ParallelRead | undefined;
}

/** Where what is seen goes. */
interface Into {
  readonly sink: ContentSink;
  readonly fileSink: ContentSink;
  readonly objects: ObjectSource;
  readonly ahead?: ParallelRead | undefined;
  readonly finishAhead?: ((scan: Scan) => void) | undefined;
}

type SeenPresent = Present & Pick<CapturedTree, "read">;

const NONE: ReadonlySet<BytePath> = new Set();
const NOWHERE = { sink: DISCARD, fileSink: DISCARD };
