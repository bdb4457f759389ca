/**
 * Looks at the working copy. `look` names what it sees and stores nothing; `capture` also puts the content
 * into the store, for a checkpoint to refer to. With a reliable watcher, either examines only what it named;
 * otherwise everything: the rules, then the scan, then the content of what changed, then git's state.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { WatchCookie } from "../fs/watch-cookie.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import { encodeRules, type RecordedRules } from "../model/rules.ts";
import { encodeExcluded } from "../rules/excluded-list.ts";
import { createNamedRules, createRules } from "../rules/ignore-rules.ts";
import { childNames } from "../rules/listed-paths.ts";
import { beginNativeLook } from "../scan/native-look.ts";
import { RulesReader } from "../scan/rules-reader.ts";
import { scanTree } from "../scan/scan.ts";
import type { CacheFacts, StatCache } from "../scan/stat-cache.ts";
import { createFileSink, createStoreSink, DISCARD, putSmallContent } from "../store/content-sink.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { buildSnapshot } from "./build-snapshot.ts";
import { LastScan } from "./last-scan.ts";
import { LiveCapture } from "./live/live.ts";
import { LiveWatch, NOTHING_MISSED, type Missed } from "./live/live-watch.ts";
import type { Look, Present, LookResult } from "./look.ts";
import { OneLook, type Destination } from "./one-look.ts";
import { Overlay } from "./overlay.ts";
import { ParallelRead } from "./parallel-read.ts";
import type { WorkingCopyOptions } from "./working-copy-options.ts";

/** A cookie takes a fraction of a millisecond; a busy machine gets a little more. */
const COOKIE_TIMEOUT_MS = 1000;

/** The working copy of a workspace. */
export class WorkingCopy {
  readonly root: AbsolutePath;
  readonly #options: WorkingCopyOptions;
  readonly #rules: RulesReader;
  readonly #last: LastScan;
  #live: LiveWatch | undefined;

  constructor(options: WorkingCopyOptions) {
    this.root = options.root;
    this.#options = options;
    this.#rules = new RulesReader(options.root, options.commandPath);
    this.#last = new LastScan(options);
  }

  /** Names what is there; stores nothing. */
  look(look: Look): Present {
    const overlay = new Overlay(this.#options.objects, this.root);
    const { present, read } = this.#see(look, { sink: overlay, fileSink: DISCARD, objects: overlay });
    for (const [name, path] of read) overlay.noteFile(name, path);
    return present;
  }

  /** Names what is there and puts what is new into the store; durable when the writer commits. */
  capture(look: Look, writer: ObjectWriter): LookResult {
    const sink = createStoreSink(writer);
    const parallel = writer.isFirst ? new ParallelRead(this.root, writer, look.progress) : undefined;
    const fileSink = createFileSink(writer);
    return this.#see(look, { sink, fileSink, objects: this.#options.objects, parallel });
  }

  /** Forgets every stat: the next look reads everything. */
  distrust(): void {
    this.#live?.capture.outdate("the store changed");
    this.#last.forget();
  }

  /** The last recorded scan; undefined when there is none that counts. */
  get lastScan(): StatCache | undefined {
    return this.#last.usable();
  }

  get live(): LiveWatch | undefined {
    return this.#live;
  }

  /** Watches from now on; a sweep finds what changed since the last scan. */
  async watch(directoryLimit: number | undefined): Promise<void> {
    await this.close();
    const { root, commandPath, watch } = this.#options;
    if (watch === undefined || this.#options.everyLook().onlyNamed === true) return;
    const cookie = new WatchCookie(watch.cookies, COOKIE_TIMEOUT_MS);
    const capture = new LiveCapture({ root, rules: this.#rules, commandPath, cookie, directoryLimit });
    const live = new LiveWatch(root, capture, watch.noteDoubts);
    this.#live = live;
    const last = this.#last.usable();
    const rules = last && watch.rulesOf(last.facts.checkpoint);
    if (last !== undefined && rules !== undefined) await live.start(last, rules);
  }

  /** Waits for pending events of the watcher; looks inside the synchronous `work` may rely on it. */
  async whileCaughtUp<Result>(work: () => Result): Promise<Result> {
    return this.#live === undefined ? work() : this.#live.capture.whileCaughtUp(work);
  }

  /** Looks for changes without events, a little at a time. */
  async reconcile(): Promise<Missed> {
    const nowhere = { sink: DISCARD, fileSink: DISCARD, objects: this.#options.objects };
    return this.#live?.reconcile(() => new OneLook(this.#options, {}, nowhere)) ?? NOTHING_MISSED;
  }

  /** Writes the stat cache, which live captures leave alone. */
  saveCache(): void {
    this.#last.save();
  }

  async close(): Promise<void> {
    if (this.#live === undefined) return;
    await this.#live.close();
    this.#live = undefined;
    this.saveCache();
  }

  #see(look: Look, destination: Destination): LookResult {
    const one = new OneLook(this.#options, look, destination);
    if (one.rules.onlyNamed === true) return this.#seeNamed(one);
    return this.#seeChanged(one) ?? this.#seeEverything(one);
  }

  /** Looks at what was named and at nothing else, so it costs what that costs. */
  #seeNamed(look: OneLook): LookResult {
    const last = this.#last.usable();
    const { scan, rules, ...keys } = this.#rules.applyNamed(look.rules, (input, paths) =>
      scanTree({
        ...look.scanRequest,
        rules: () => createNamedRules(input),
        previous: last?.table,
        namesIn: childNames(paths),
      }),
    );
    const { read, ...tree } = buildSnapshot(look.reading(scan), last?.table);
    const { table } = scan;
    const git = { state: null, key: "" };
    const facts = this.#facts({ ...tree, ...keys, recordedRules: rules, git });
    return {
      present: { ...tree, ...putLists(look, rules, scan.excluded), git: null },
      table,
      read,
      remember: ({ id, snapshot }) =>
        this.#last.keep({ table, facts: { ...facts, checkpoint: id, snapshot } }, scan.pending.length),
    };
  }

  /** Looks at what the watcher named; undefined when only a full scan can tell. */
  #seeChanged(look: OneLook): LookResult | undefined {
    const live = this.#live;
    if (live?.capture.isCaughtUp !== true) return undefined;
    const last = this.#last.usable();
    const seen = last && live.capture.see(look, last.facts);
    if (seen === undefined) return undefined;
    const { hot, keys, git, read, ...tree } = seen;
    const { table, excluded } = live.capture.tree!;
    const facts = this.#facts({ ...tree, ...keys, git });
    return {
      present: { ...tree, ...putLists(look, tree.recordedRules, excluded), git: git.state },
      table,
      read,
      remember: ({ id, snapshot }) => {
        const cache = { table, facts: { ...facts, checkpoint: id, snapshot } };
        const now = live.recorded(id, { hot, startNs: look.startNs, cache });
        this.#last.keepInMemory({ ...cache, table: now });
      },
    };
  }

  /** Scans everything. */
  #seeEverything(look: OneLook): LookResult {
    const last = this.#last.usable();
    // another root has other directories, and watches that know nothing of them
    if (last === undefined) this.#live?.capture.loseEvents("nothing is known of the last capture");
    using native = last && look.trustsStats ? beginNativeLook(this.root, last.table) : undefined;
    const { scan, rules, ...keys } = this.#rules.apply(look.rules, last?.facts, (input, sameRules) =>
      scanTree({
        ...look.scanRequest,
        rules: () => createRules(input),
        previous: last?.table,
        trustListings: sameRules && look.trustsStats,
        seenSame: native && ((directory) => native.isAsBefore(directory)),
        ahead: look.destination.parallel,
        entering: this.#live?.capture.entering,
      }),
    );
    const { read, ...tree } = buildSnapshot(look.reading(scan), last?.table);
    const { table } = scan;
    const git = this.#rules.gitState(table, last?.facts);
    const facts = this.#facts({ ...tree, ...keys, recordedRules: rules, git });
    return {
      present: { ...tree, ...putLists(look, rules, scan.excluded), git: git.state },
      table,
      read,
      remember: ({ id, snapshot }) => {
        const cache = { table, facts: { ...facts, checkpoint: id, snapshot } };
        this.#live?.scanned(cache, rules);
        this.#last.keep(cache, scan.pending.length);
      },
    };
  }

  /** What the next look may reuse of this one; it has no checkpoint yet. */
  #facts(
    seen: Pick<Present, "snapshot" | "recordedRules"> &
      Pick<CacheFacts, "gitIndexKey" | "rulesKey"> & { git: ReturnType<RulesReader["gitState"]> },
  ): CacheFacts {
    return {
      checkpoint: "",
      snapshot: seen.snapshot,
      root: this.#last.rootKey(),
      gitIndexKey: seen.gitIndexKey,
      rulesKey: seen.rulesKey,
      tracked: seen.recordedRules.tracked,
      gitStateKey: seen.git.key,
      gitState: seen.git.state,
    };
  }
}

/** Puts the rules, and what they left out, where the look puts its content: a checkpoint refers to both. */
function putLists(
  { destination: { sink, objects } }: OneLook,
  recordedRules: RecordedRules,
  excludedRoots: readonly ExcludedRoot[],
): Pick<Present, "rules" | "recordedRules" | "excluded" | "excludedRoots" | "objects"> {
  return {
    rules: putSmallContent(sink, encodeRules(recordedRules)),
    recordedRules,
    excluded: putSmallContent(sink, encodeExcluded(excludedRoots)),
    excludedRoots,
    objects,
  };
}
