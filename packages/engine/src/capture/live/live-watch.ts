/**
 * What surrounds live captures: the start, the second reading of hot files after the answer, and the sweep
 * for changes that no watcher reports. All of it yields to the event loop every few milliseconds.
 */
import { setImmediate as turnOfTheLoop, setTimeout as delay } from "node:timers/promises";
import { below, type AbsolutePath } from "../../fs/absolute-path.ts";
import { createNameStat, statNode } from "../../fs/file-stat.ts";
import { listDirectory } from "../../fs/list-directory.ts";
import { baseName, joinPath, parentPath, type BytePath } from "../../model/byte-path.ts";
import type { Doubt } from "../../model/checkpoint.ts";
import { sameEntry } from "../../model/entry.ts";
import { EngineError } from "../../model/errors.ts";
import type { ObjectHash } from "../../model/object-hash.ts";
import type { RecordedRules } from "../../model/rules.ts";
import { DISCARD } from "../../store/content-sink.ts";
import type { OneLook } from "../one-look.ts";
import { readPending, SETTLE_MS } from "../read-pending.ts";
import { DIRECTORY, type FileTable } from "../../scan/file-table.ts";
import { EXCLUDED, hasStat, RACY } from "../../scan/stat-columns.ts";
import type { LiveCapture } from "./live.ts";
import { LiveChanges } from "./live-changes.ts";
import type { LiveTree } from "./live-tree.ts";
import { readFileContent } from "../read-content.ts";
import type { Scan } from "../../scan/scan-request.ts";
import type { StatCache } from "../../scan/stat-cache.ts";

/** Paths that changed without an event, and the checkpoints that lack the change. */
export interface Missed {
  readonly paths: readonly BytePath[];
  readonly checkpoints: readonly string[];
}

/** No path changed in silence. */
export const NOTHING_MISSED: Missed = { paths: [], checkpoints: [] };

interface Recorded {
  readonly checkpoint: string;
  readonly startNs: bigint;
}

/** Takes a name that is not as the tree has it. */
type NoteName = (directory: BytePath, name: string, replaced: boolean) => void;

/** Directories between two turns of the event loop. */
const STRIDE = 64;

/** Live capture with what happens around it: the start of watching, second readings, `reconcile`. */
export class LiveWatch {
  readonly capture: LiveCapture;
  readonly #root: AbsolutePath;
  readonly #noteDoubts: (checkpoint: string, doubts: readonly Doubt[]) => void;
  readonly #rereading = new Set<Promise<void>>();
  /** Doubts from second readings that are not in the store yet. */
  readonly #unnoted: { readonly checkpoint: string; readonly doubts: readonly Doubt[] }[] = [];
  /** Live captures since the last sweep. */
  #sinceSweep: Recorded[] = [];

  constructor(
    root: AbsolutePath,
    capture: LiveCapture,
    noteDoubts: (checkpoint: string, doubts: readonly Doubt[]) => void,
  ) {
    this.#root = root;
    this.capture = capture;
    this.#noteDoubts = noteDoubts;
  }

  /** Watches what the last capture saw; the next capture examines what differs by now. */
  async start({ table, facts }: StatCache, rules: RecordedRules): Promise<void> {
    // something was looked at and never recorded: only a full scan tells what has changed since the last checkpoint
    if (!table.isWhole) return;
    for (const [at, path] of table.directories.entries()) {
      this.capture.entering(path);
      if (at % STRIDE === 0) await turnOfTheLoop();
    }
    this.capture.loaded({ table, facts }, rules);
    // a capture in the meantime may have scanned everything
    if (this.capture.state !== "unproven") return;
    const { changes } = this.capture;
    if (await this.#sweep((directory, name, replaced) => changes.add(directory, name, replaced)))
      this.capture.swept();
  }

  /** A full scan is recorded: everything was looked at. */
  scanned(cache: StatCache, rules: RecordedRules): void {
    this.#sinceSweep = [];
    this.capture.scanned(cache, rules);
  }

  /** A live capture is recorded; returns the table as it is now. */
  recorded(
    checkpoint: string,
    seen: { hot?: ReadonlyMap<BytePath, ObjectHash>; startNs: bigint; cache: StatCache },
  ): FileTable {
    this.capture.recorded();
    this.#sinceSweep.push({ checkpoint, startNs: seen.startNs });
    if (seen.hot !== undefined && seen.hot.size > 0) this.#readAgainLater(checkpoint, seen.hot);
    return this.capture.tree?.table ?? seen.cache.table;
  }

  /** Sweeps everything; changes that were not reported are marked in the captures that lack them. */
  async reconcile(look: () => OneLook): Promise<Missed> {
    const captures = this.#sinceSweep;
    const suspects = new LiveChanges();
    if (!(await this.capture.caughtUp())) return NOTHING_MISSED;
    const isDone = await this.#sweep((directory, name, replaced) => suspects.add(directory, name, replaced));
    if (!isDone || !(await this.capture.caughtUp())) return NOTHING_MISSED;
    const different = await this.#different(suspects, look);
    if (!(await this.capture.caughtUp())) return NOTHING_MISSED;
    const paths = different.filter((path) => !this.capture.changes.has(path));
    for (const path of different) this.capture.changes.addPath(path, true);
    if (this.#sinceSweep === captures) this.#sinceSweep = [];
    return this.#mark(paths, captures);
  }

  async close(): Promise<void> {
    await Promise.all(this.#rereading);
    this.#noteUnnoted();
    this.capture.close();
  }

  /** Compares every name with the tree, directory by directory; false when the tree was given up meanwhile. */
  async #sweep(note: NoteName): Promise<boolean> {
    const { tree } = this.capture;
    if (tree === undefined) return false;
    for (const [at, path] of [...tree.index.keys()].entries()) {
      if (at % STRIDE === STRIDE - 1) await turnOfTheLoop();
      if (this.capture.tree !== tree) return false;
      if (tree.index.has(path)) this.#sweepDirectory(tree, path, note);
    }
    return true;
  }

  #sweepDirectory({ table, index }: LiveTree, path: BytePath, note: NoteName): void {
    const directory = index.get(path)!;
    const absolute = below(this.#root, path);
    const statOf = createNameStat(absolute);
    for (const entry of table.entriesOf(directory)) {
      if (table.kind[entry] === EXCLUDED && table.flags[entry] !== RACY) continue;
      const isSame = table.flags[entry] !== RACY && hasStat(table, entry, statOf);
      if (!isSame) note(path, table.names[entry]!, false);
    }
    for (const name of namesIn(absolute)) if (!table.hasName(directory, name)) note(path, name, true);
  }

  /** Those of the suspects that are really other than the tree has them. */
  async #different(suspects: LiveChanges, look: () => OneLook): Promise<BytePath[]> {
    const different: BytePath[] = [];
    for (const [path, names] of suspects.directories()) {
      await turnOfTheLoop();
      const { tree } = this.capture;
      if (tree === undefined) return [];
      const part = new LiveChanges();
      for (const [name, replaced] of names) part.add(path, name, replaced);
      const using = look();
      const scanned = this.capture.scan(using, part);
      if (scanned === undefined) return different;
      readPending({ ...using.reading(scanned.scan), hotLater: () => undefined });
      for (const name of names.keys()) {
        const at = joinPath(path, name);
        if (isDifferent(tree, at, scanned.scan)) different.push(at);
      }
    }
    return different;
  }

  #mark(paths: readonly BytePath[], captures: readonly Recorded[]): Missed {
    const marked: string[] = [];
    const changedNs = new Map(paths.map((path) => [path, statNode(below(this.#root, path))?.ctimeNs ?? 0n]));
    for (const { checkpoint, startNs } of captures) {
      const lacking = paths.filter((path) => changedNs.get(path)! < startNs);
      if (lacking.length === 0) continue;
      this.#noteDoubts(
        checkpoint,
        lacking.map((path) => ({ path, reason: "missed" })),
      );
      marked.push(checkpoint);
    }
    return { paths, checkpoints: marked };
  }

  /** [R8] The second reading of files that were hot; the answer did not wait for it. */
  #readAgainLater(checkpoint: string, hot: ReadonlyMap<BytePath, ObjectHash>): void {
    const reading = delay(SETTLE_MS).then(() => {
      const changed = [...hot].filter(([path, first]) => this.#hashNow(path) !== first);
      this.#rereading.delete(reading);
      if (changed.length > 0)
        this.#unnoted.push({ checkpoint, doubts: changed.map(([path]) => ({ path, reason: "unstable" })) });
      this.#noteUnnoted();
    });
    this.#rereading.add(reading);
  }

  /** Not urgent: if the store cannot be written, the next time will do. */
  #noteUnnoted(): void {
    try {
      for (let next = this.#unnoted[0]; next !== undefined; next = this.#unnoted[0]) {
        this.#noteDoubts(next.checkpoint, next.doubts);
        this.#unnoted.shift();
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  #hashNow(path: BytePath): ObjectHash | undefined {
    try {
      return readFileContent(below(this.#root, path), DISCARD).hash;
    } catch {
      // gone or inaccessible: not what it was
      return undefined;
    }
  }
}

function namesIn(directory: AbsolutePath): string[] {
  try {
    return listDirectory(directory);
  } catch {
    return [];
  }
}

function isDifferent(tree: LiveTree, path: BytePath, { table, parent }: Scan): boolean {
  const before = tree.find(path);
  const looked = table.directories.findIndex((each, at) => parent[at] === -1 && each === parentPath(path));
  const now = looked < 0 ? -1 : table.find(looked, baseName(path));
  const isThere = now >= 0 && table.kind[now]! < EXCLUDED;
  const wasThere = before >= 0 && tree.table.kind[before]! < EXCLUDED;
  if (!isThere || !wasThere) return isThere !== wasThere;
  if (table.kind[now] === DIRECTORY && tree.table.kind[before] === DIRECTORY)
    return table.mode[now] !== tree.table.mode[before] || table.directories.includes(path);
  return !sameEntry(table.entryAt(now), tree.table.entryAt(before));
}
