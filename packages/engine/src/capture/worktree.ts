/**
 * Looks at the working copy. `look` names what it sees and stores nothing; `capture` also puts the content into the
 * store, for a checkpoint to refer to. Either sees only what the watcher named, where there is a watcher to rely on,
 * or everything: the rules, then the scan, then the content of what changed, then git's state.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { readFileClock } from "../fs/file-clock.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { WatchCookie } from "../fs/watch-cookie.ts";
import { encodeRules } from "../model/rules.ts";
import { encodeExcluded } from "../rules/excluded-list.ts";
import { createRules } from "../rules/ignore-rules.ts";
import { beginNativeLook } from "../scan/native-look.ts";
import { RulesReader, type RecordRequest } from "../scan/rules-reader.ts";
import { scanTree } from "../scan/scan.ts";
import type { ScanRequest } from "../scan/scan-request.ts";
import type { CacheFacts } from "../scan/stat-cache.ts";
import { createStoreSink, DISCARD, putBytes } from "../store/content-sink.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { captureTree, type CaptureInput } from "./build-snapshot.ts";
import { LastScan } from "./last-scan.ts";
import { LiveCapture, type LiveLook } from "./live/live.ts";
import { LiveWatch, NOTHING_MISSED, type Missed } from "./live/live-watch.ts";
import type { Look, Present, Sight } from "./look.ts";
import { Overlay } from "./overlay.ts";
import { ParallelRead } from "./parallel-read.ts";
import { ruleSettings, type WorktreeOptions } from "./worktree-options.ts";

/** Files written this recently may be in the middle of being written. */
const HOT_NS = 50_000_000n;

/** A cookie takes a fraction of a millisecond; a busy machine gets a little more. */
const COOKIE_TIMEOUT_MS = 1000;

/** Where a look puts content, and where it can be read afterwards. */
type Destination = Pick<CaptureInput, "sink" | "fileSink" | "parallel"> & Pick<Present, "objects">;

/** The working copy of a workspace, to be looked at. */
export class Worktree {
  readonly root: AbsolutePath;
  readonly #options: WorktreeOptions;
  readonly #rules: RulesReader;
  readonly #last: LastScan;
  #live: LiveWatch | undefined;

  constructor(options: WorktreeOptions) {
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
  capture(look: Look, writer: ObjectWriter): Sight {
    const sink = createStoreSink(writer);
    const parallel = writer.isFirst ? new ParallelRead(this.root, writer, look.progress) : undefined;
    return this.#see(look, { sink, fileSink: sink, objects: this.#options.objects, parallel });
  }

  /** Forgets every stat: the next look reads everything. */
  distrust(): void {
    this.#live?.capture.outdate("the store changed");
    this.#last.forget();
  }

  get live(): LiveWatch | undefined {
    return this.#live;
  }

  /** Watches from now on; a sweep finds what changed since the last scan. */
  async watch(directoryLimit: number | undefined): Promise<void> {
    await this.close();
    const { root, commandPath, watch } = this.#options;
    if (watch === undefined) return;
    const cookie = new WatchCookie(watch.cookies, COOKIE_TIMEOUT_MS);
    const capture = new LiveCapture({ root, rules: this.#rules, commandPath, cookie, directoryLimit });
    const live = new LiveWatch(root, capture, watch.noteDoubts);
    this.#live = live;
    const last = this.#last.usable();
    const rules = last && watch.rulesOf(last.facts.checkpoint);
    if (last !== undefined && rules !== undefined) await live.start(last, rules);
  }

  /** Waits for what the watcher has still to report; looks in `work`, which waits for nothing, may rely on it. */
  async whileCaughtUp<Result>(work: () => Result): Promise<Result> {
    return this.#live === undefined ? work() : this.#live.capture.whileCaughtUp(work);
  }

  /** Looks for what changed without the watcher's knowledge, a little at a time. */
  async reconcile(): Promise<Missed> {
    const { facts } = this.#last;
    if (this.#live === undefined || facts === undefined) return NOTHING_MISSED;
    const nowhere = { sink: DISCARD, fileSink: DISCARD };
    return this.#live.reconcile(() => this.#liveLook({}, nowhere, { facts, startNs: readFileClock() }));
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

  #see(look: Look, to: Destination): Sight {
    return this.#seeChanged(look, to) ?? this.#seeEverything(look, to);
  }

  /** Looks at what the watcher named; undefined when only a full scan can tell. */
  #seeChanged(look: Look, to: Destination): Sight | undefined {
    const live = this.#live;
    if (live?.capture.isCaughtUp !== true) return undefined;
    const last = this.#last.usable();
    if (last === undefined) return undefined;
    const startNs = readFileClock();
    const seen = live.capture.see(this.#liveLook(look, to, { facts: last.facts, startNs }));
    if (seen === undefined) return undefined;
    const { hot, keys, git, read, ...tree } = seen;
    const { table, excluded } = live.capture.tree!;
    const facts = this.#facts(tree, { ...keys, git });
    return {
      present: { ...tree, ...listsOf(tree.recordedRules, excluded, to), git: git.state, objects: to.objects },
      table,
      read,
      remember: (checkpoint) => {
        const now = live.recorded(checkpoint, { hot, startNs, cache: { table, facts } });
        this.#last.keepInMemory({ table: now, facts: { ...facts, checkpoint } });
      },
    };
  }

  /** Looks at everything. */
  #seeEverything(look: Look, to: Destination): Sight {
    const startNs = readFileClock();
    const last = this.#last.usable();
    // another root has other directories, and watches that know nothing of them
    if (last === undefined) this.#live?.capture.loseEvents("nothing is known of the last capture");
    // a path without a size limit may hide in a directory that is as before
    const canTrust = (look.unlimited?.size ?? 0) === 0 && fileSystemKind(this.root).hasExactTimes;
    using native = last && canTrust ? beginNativeLook(this.root, last.table) : undefined;
    const { scan, rules, ...keys } = this.#rules.apply(this.#ruled(look), last?.facts, (input, sameRules) =>
      scanTree({
        ...this.#scanRequest(look, startNs),
        rules: () => createRules(input),
        previous: last?.table,
        trustListings: sameRules && canTrust,
        seenSame: native && ((directory) => native.isAsBefore(directory)),
        ahead: to.parallel,
      }),
    );
    const input = this.#captureInput(look, to, startNs);
    const { read, ...tree } = captureTree({ ...input, scan, previous: last?.table });
    const { table } = scan;
    const git = this.#rules.gitState(table, last?.facts);
    const facts = this.#facts({ ...tree, recordedRules: rules }, { ...keys, git });
    const present = { ...tree, recordedRules: rules, git: git.state, objects: to.objects };
    return {
      present: { ...present, ...listsOf(rules, scan.excluded, to) },
      table,
      read,
      remember: (checkpoint) => {
        const cache = { table, facts: { ...facts, checkpoint } };
        this.#live?.scanned(cache, rules);
        this.#last.keep(cache, scan.pending.length);
      },
    };
  }

  #liveLook(
    look: Look,
    to: Pick<Destination, "sink" | "fileSink">,
    { facts, startNs }: { facts: CacheFacts; startNs: bigint },
  ): LiveLook {
    const scanRequest = this.#scanRequest(look, startNs);
    const input = this.#captureInput(look, to, startNs);
    return {
      request: this.#ruled(look),
      facts,
      scanRequest: (previous) => ({ ...scanRequest, previous }),
      captureInput: (scan) => ({ ...input, scan, previous: undefined }),
    };
  }

  /** The rules' part of a look: what every look includes, and what this one does. */
  #ruled(look: Look): RecordRequest {
    const every = this.#options.everyLook();
    return {
      ...every,
      included: [...(every.included ?? []), ...(look.included ?? [])],
      settings: ruleSettings(this.#options.limits()),
    };
  }

  /** A scan that trusts nothing. */
  #scanRequest(look: Look, startNs: bigint): ScanRequest {
    const { fileBytes, ignored } = this.#options.limits();
    return {
      root: this.root,
      rules: () => createRules({}),
      previous: undefined,
      trustListings: false,
      ahead: undefined,
      fileLimitBytes: fileBytes,
      ignoredLimits: ignored,
      unlimited: look.unlimited ?? new Set(),
      racySinceNs: startNs - fileSystemKind(this.root).granularityNs,
      entering: this.#live?.capture.entering,
    };
  }

  #captureInput(
    look: Look,
    { sink, fileSink, parallel }: Omit<Destination, "objects">,
    startNs: bigint,
  ): Omit<CaptureInput, "scan" | "previous"> {
    return {
      root: this.root,
      sink,
      fileSink,
      parallel,
      hotSinceNs: startNs - HOT_NS,
      limitBytes: this.#options.limits().checkpointBytes,
      unlimited: look.unlimited ?? new Set(),
    };
  }

  /** What the next look may reuse of this one; it has no checkpoint yet. */
  #facts(
    { snapshot, recordedRules }: Pick<Present, "snapshot" | "recordedRules">,
    {
      git,
      ...keys
    }: Pick<CacheFacts, "gitIndexKey" | "rulesKey"> & { git: ReturnType<RulesReader["gitState"]> },
  ): CacheFacts {
    return {
      ...keys,
      checkpoint: "",
      snapshot,
      root: this.#last.rootKey(),
      tracked: recordedRules.tracked,
      gitStateKey: git.key,
      gitState: git.state,
    };
  }
}

/** Puts the rules and what they left out into the store: a checkpoint refers to both. */
function listsOf(
  rules: Present["recordedRules"],
  excludedRoots: Present["excludedRoots"],
  { sink }: Destination,
): Pick<Present, "rules" | "excluded" | "excludedRoots"> {
  return {
    rules: putBytes(sink, encodeRules(rules)),
    excluded: putBytes(sink, encodeExcluded(excludedRoots)),
    excludedRoots,
  };
}
