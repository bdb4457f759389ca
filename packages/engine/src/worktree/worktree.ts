/**
 * One look at the working copy from start to snapshot: rules, scan, content, git state. `look` records
 * nothing and writes nothing; `capture` puts content into the store for a checkpoint to refer to.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { readFileClock } from "../fs/file-clock.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { statNode } from "../fs/file-stat.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Doubt, ExcludedRoot, Gap, GitState } from "../model/checkpoint.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { encodeRules, type ExcludedDirectory, type RecordedRules } from "../model/rules.ts";
import { createStoreSink, sinkBytes, type ContentSink } from "../store/content-sink.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { captureTree } from "./capture.ts";
import { encodeExcluded } from "./excluded-list.ts";
import { createRules } from "./ignore-rules.ts";
import { Overlay } from "./overlay.ts";
import { ParallelRead, type ReadProgress } from "./parallel-read.ts";
import { RulesReader } from "./rules-reader.ts";
import { scanTree, type Scan } from "./scan.ts";
import { readStatCache, writeStatCache, type CacheFacts, type StatCache } from "./stat-cache.ts";

export interface WorktreeLimits {
  readonly fileBytes: number;
  readonly checkpointBytes: number;
}

export interface WorktreeOptions {
  readonly root: AbsolutePath;
  /** undefined = keep the cache in memory only */
  readonly cachePath: AbsolutePath | undefined;
  /** Names the store the cache belongs to: another store's cache would claim content that is not there. */
  readonly storeId: string;
  readonly limits: WorktreeLimits;
  readonly commandPath: string;
  /**
   * True when the store has this checkpoint with this snapshot, and so everything the cache names. An older copy
   * of the store, or one from which something was forgotten, has not.
   */
  hasCheckpoint(id: string, snapshot: string): boolean;
}

/** What one capture may treat differently. */
export interface LookRequest {
  readonly named: readonly BytePath[];
  readonly excluded: readonly ExcludedDirectory[];
  /** Paths to which size limits do not apply. */
  readonly unlimited?: ReadonlySet<BytePath>;
  /** Paths to read whatever their stat says. */
  readonly forced?: ReadonlySet<BytePath>;
  readonly progress?: ReadProgress | undefined;
}

/** The working copy as it was a moment ago. */
export interface Present {
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
  readonly recordedRules: RecordedRules;
  readonly excluded: ObjectHash;
  readonly excludedRoots: readonly ExcludedRoot[];
  readonly files: number;
  readonly bytes: number;
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  readonly git: GitState | null;
  /** Where all of it can be read: the store, or the store and the disk. */
  readonly objects: ObjectSource;
  /** What the next scan may reuse, once the content is durable. */
  readonly cache: StatCache;
  /** Entries that had to be read, because the stat cache did not know them as they are. */
  readonly readCount: number;
}

/** Files written this recently may be in the middle of being written. */
const HOT_NS = 50_000_000n;

/** To read this share of the entries once more costs less than to write the cache of all of them. */
const TOLERATED_DRIFT = 1 / 1000;

export class Worktree {
  readonly #options: WorktreeOptions;
  readonly #rules: RulesReader;
  #cache: StatCache | undefined;
  #cacheLoaded = false;
  /** How many entries the cache on disk has missed. */
  #drift = 0;

  constructor(options: WorktreeOptions) {
    this.#options = options;
    this.#rules = new RulesReader(options.root, options.commandPath);
  }

  get root(): AbsolutePath {
    return this.#options.root;
  }

  /** Names everything, stores nothing. */
  look(request: LookRequest, store: ObjectSource): Present {
    const overlay = new Overlay(store, this.root);
    const present = this.#see(request, { sink: overlay, fileSink: DISCARD, objects: overlay });
    for (const [name, path] of present.read) overlay.noteFile(name, path);
    return present;
  }

  /** Puts what is new into the store; durable when the writer commits. */
  capture(request: LookRequest, writer: ObjectWriter, store: ObjectSource): Present {
    const sink = createStoreSink(writer);
    const ahead = writer.isFirst ? new ParallelRead(this.root) : undefined;
    const finishAhead = (scan: Scan) => ahead?.finish(scan, writer, request.progress);
    return this.#see(request, { sink, fileSink: sink, objects: store, ahead, finishAhead });
  }

  /** Keeps what a capture saw for the next one; call it after the commit that made its content durable. */
  remember(present: Present, checkpoint: string): void {
    const { table, facts } = present.cache;
    const last = this.#cache?.facts;
    this.#cache = { table, facts: { ...facts, checkpoint } };
    this.#cacheLoaded = true;
    this.#drift += present.readCount;
    const isGoodEnough =
      last !== undefined && sameFacts(last, facts) && this.#drift <= table.length * TOLERATED_DRIFT;
    if (this.#options.cachePath === undefined || isGoodEnough) return;
    writeStatCache(this.#options.cachePath, this.#cache);
    this.#drift = 0;
  }

  /** Forgets every stat: the next capture reads everything. */
  distrust(): void {
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

  /** A replaced root may reuse inode numbers: nothing seen in the old one counts. */
  #rootKey(): string {
    const stat = statNode(this.root);
    return `${this.#options.storeId} ${stat?.dev} ${stat?.ino} ${stat?.birthtimeNs}`;
  }

  #see(
    request: LookRequest,
    into: {
      sink: ContentSink;
      fileSink: ContentSink;
      objects: ObjectSource;
      ahead?: ParallelRead | undefined;
      finishAhead?: (scan: Scan) => void;
    },
  ): Present & { read: ReadonlyMap<ObjectHash, BytePath> } {
    const startNs = readFileClock();
    const previous = this.#previous();
    const scanWith = (tracked: readonly BytePath[], sameRules: boolean) =>
      this.#scan(request, { tracked, previous, startNs, sameRules, ahead: into.ahead });
    const rulesRequest = { ...request, fileLimitBytes: this.#options.limits.fileBytes };
    const { scan, rules, gitIndexKey, rulesKey } = this.#rules.apply(rulesRequest, previous?.facts, scanWith);
    const tree = captureTree({
      root: this.root,
      scan,
      previous: previous?.table,
      sink: into.sink,
      fileSink: into.fileSink,
      readAhead: () => into.finishAhead?.(scan),
      hotSinceNs: startNs - HOT_NS,
      limitBytes: this.#options.limits.checkpointBytes,
      unlimited: request.unlimited ?? NONE,
    });
    const rulesBytes = encodeRules(rules);
    const excludedBytes = encodeExcluded(scan.excluded);
    const rulesHash = putBytes(into.sink, rulesBytes);
    const git = this.#rules.gitState(scan.table, previous?.facts);
    return {
      ...tree,
      rules: rulesHash,
      recordedRules: rules,
      excluded: putBytes(into.sink, excludedBytes),
      excludedRoots: scan.excluded,
      git: git.state,
      objects: into.objects,
      readCount: scan.pending.length,
      cache: {
        table: scan.table,
        facts: {
          checkpoint: "",
          snapshot: tree.snapshot,
          root: this.#rootKey(),
          gitIndexKey,
          rulesKey,
          tracked: rules.tracked,
          gitStateKey: git.key,
          gitState: git.state,
        },
      },
    };
  }

  #scan(request: LookRequest, using: ScanSituation): Scan {
    const { granularityNs, hasExactTimes } = fileSystemKind(this.root);
    const isOrdinary = (request.unlimited?.size ?? 0) + (request.forced?.size ?? 0) === 0;
    const trustListings = using.sameRules && hasExactTimes && isOrdinary;
    return scanTree({
      root: this.root,
      rules: () => createRules({ ...this.#rules.input(request), tracked: using.tracked }),
      previous: using.previous?.table,
      trustListings,
      ahead: using.ahead,
      fileLimitBytes: this.#options.limits.fileBytes,
      unlimited: request.unlimited ?? NONE,
      forced: request.forced ?? NONE,
      racySinceNs: using.startNs - granularityNs,
    });
  }
}

interface ScanSituation {
  readonly tracked: readonly BytePath[];
  readonly previous: StatCache | undefined;
  readonly startNs: bigint;
  readonly sameRules: boolean;
  readonly ahead: ParallelRead | undefined;
}

const NONE: ReadonlySet<BytePath> = new Set();
const DISCARD: ContentSink = { small() {}, piece() {}, large() {} };

function putBytes(sink: ContentSink, bytes: Buffer): ObjectHash {
  const name = hashBytes(bytes);
  sinkBytes(sink, name, bytes, hashBytes);
  return name;
}

/** Equal but for the checkpoint: an older one does as well, as long as it exists. */
function sameFacts(a: CacheFacts, b: CacheFacts): boolean {
  const blank = { checkpoint: "", snapshot: "" };
  return JSON.stringify({ ...a, ...blank }) === JSON.stringify({ ...b, ...blank });
}
