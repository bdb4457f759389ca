/**
 * Watches directories, each by itself, and tells which names in them may have changed. A hint, never a proof:
 * the kernel drops events when its queue is full and libuv passes that over in silence, memory maps and other
 * machines write without an event, and a watch dies with its directory. What can be noticed of that is told.
 * Watches keep no process alive.
 */
import { readFileSync, watch, type FSWatcher } from "node:fs";
import type { BytePath } from "../model/byte-path.ts";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { isErrno } from "./file-stat.ts";

export interface WatchListener {
  /** `replaced`: made, removed or moved, or any change of a directory; otherwise content or metadata. */
  changed(directory: BytePath, name: string, replaced: boolean): void;
  /** Events may be missing from now on. */
  lost(reason: string): void;
}

/** There are no more watches to be had. */
export class NoMoreWatches extends Error {}

const OPTIONS = { persistent: false, encoding: "latin1" } as const;

/** What is watched below one root, by path. */
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

  /** Watches a directory; false when it is watched already, or is gone or out of reach. */
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
    // the kernel says farewell with an event that nobody receives
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
 * All watches of a process share one queue in the kernel. It is emptied in one go, so a queue that was full
 * shows as that many events between two turns of the event loop.
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

/** Half of the queue: events of watches that are not ours, or that are closed, take room in it too. */
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
