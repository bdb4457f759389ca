/**
 * Watches directories one by one and reports names that may have changed. Events are hints, never proof: the
 * kernel drops them when its queue is full and libuv hides that, memory maps and other machines write without
 * events, and a watch dies with its directory. Detectable losses are reported.
 * Watches keep no process alive.
 */
import { readFileSync, watch, type FSWatcher } from "node:fs";
import type { BytePath } from "../model/byte-path.ts";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { isErrno } from "./file-stat.ts";

/** Receives the events of watched directories. */
export interface WatchListener {
  /**
   * `replaced`: the name was created, removed or moved, or it is a directory. Otherwise content or metadata
   * changed.
   */
  changed(directory: BytePath, name: string, replaced: boolean): void;
  /** Events may be missing from now on. */
  lost(reason: string): void;
}

/** The system has no free watches. */
export class NoMoreWatches extends Error {}

const OPTIONS = { persistent: false, encoding: "latin1" } as const;

/** The watched directories below one root, by path. */
export class DirectoryWatches {
  readonly #root: AbsolutePath;
  readonly #listener: WatchListener;
  readonly #limit: number;
  readonly #watchers = new Map<BytePath, FSWatcher>();

  constructor(root: AbsolutePath, listener: WatchListener, limit = Infinity) {
    this.#root = root;
    this.#listener = listener;
    this.#limit = limit;
    listeners.add(listener);
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Watches a directory; false when it is watched already, gone or inaccessible. */
  add(path: BytePath): boolean {
    if (this.#watchers.has(path)) return false;
    if (this.#watchers.size >= this.#limit) throw new NoMoreWatches(`more than ${this.#limit} directories`);
    const watcher = openWatcher(below(this.#root, path));
    if (watcher === undefined) return false;
    watcher.on("change", (type, name) => {
      countEvents(1);
      if (name !== null) this.#listener.changed(path, String(name), type === "rename");
    });
    watcher.on("error", (error) => this.#listener.lost(error.message));
    this.#watchers.set(path, watcher);
    return true;
  }

  remove(path: BytePath): void {
    const watcher = this.#watchers.get(path);
    if (watcher === undefined) return;
    this.#watchers.delete(path);
    // closing queues IN_IGNORED, which we never see but which takes a slot
    countEvents(1);
    watcher.close();
  }

  paths(): BytePath[] {
    return [...this.#watchers.keys()];
  }

  removeAll(): void {
    for (const path of this.paths()) this.remove(path);
  }

  close(): void {
    this.removeAll();
    listeners.delete(this.#listener);
  }
}

function openWatcher(path: AbsolutePath): FSWatcher | undefined {
  try {
    return watch(forSystem(path), OPTIONS);
  } catch (error) {
    if (isErrno(error, "ENOSPC", "EMFILE", "ENFILE"))
      throw new NoMoreWatches((error as Error).message, { cause: error });
    return undefined;
  }
}

/**
 * All watches of a process share one kernel queue, which is drained at once. A full queue therefore shows as
 * that many events between two turns of the event loop.
 */
const listeners = new Set<WatchListener>();
let burst = 0;
let isToldLost = false;

function countEvents(count: number): void {
  if (burst === 0) {
    setImmediate(() => {
      burst = 0;
      isToldLost = false;
    });
  }
  burst += count;
  if (burst < burstLimit() || isToldLost) return;
  isToldLost = true;
  for (const listener of listeners) listener.lost("too much changed at once");
}

let knownLimit: number | undefined;

/** Half of the queue: events of closed watches and of other libraries take slots too. */
function burstLimit(): number {
  return (knownLimit ??= readQueueLength() / 2);
}

function readQueueLength(): number {
  try {
    return Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8")) || 16_384;
  } catch {
    return 16_384;
  }
}
