/**
 * A file that is created for the watcher to report. Once it is reported, everything that happened before it
 * has been reported too. On Linux all watches of a process share one queue, so a cookie may be anywhere;
 * elsewhere it must be in the root.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmdirSync,
  unlinkSync,
  watch,
  type FSWatcher,
} from "node:fs";
import { platform, tmpdir } from "node:os";
import { randomId } from "../model/ids.ts";
import { absolutePath, below, forSystem, type AbsolutePath } from "./absolute-path.ts";

/**
 * Where cookies go: into the store if the queue is shared (without a store anywhere), otherwise into the
 * root.
 */
export function cookiePlace(store: AbsolutePath | undefined, inRoot: AbsolutePath): AbsolutePath {
  if (platform() !== "linux") return inRoot;
  return store === undefined
    ? below(absolutePath(tmpdir()), `belay-cookies-${randomId()}`)
    : below(store, "cookies");
}

/** Creates cookies and waits for the watcher to report them. */
export class WatchCookie {
  readonly #directory: AbsolutePath;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<string, (answer: boolean) => void>();
  /** Other processes put their cookies in the same place. */
  readonly #prefix = randomId();
  #made = 0;
  #watcher: FSWatcher | undefined;

  constructor(directory: AbsolutePath, timeoutMs: number) {
    this.#directory = directory;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves to true when everything up to now has been reported, to false when no event arrived in time. */
  async arrived(): Promise<boolean> {
    const name = `${this.#prefix}-${(this.#made += 1)}`;
    const seen = this.#seen(name);
    // another process may have removed the directory: the second attempt creates it again
    if (!this.#make(name) && !this.#make(name)) this.#waiting.get(name)?.(false);
    if (await seen) return true;
    this.close();
    return false;
  }

  #make(name: string): boolean {
    try {
      this.#watcher ??= this.#open();
      const path = forSystem(below(this.#directory, name));
      closeSync(openSync(path, "wx", 0o600));
      unlinkSync(path);
      return true;
    } catch {
      this.close();
      return false;
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      rmdirSync(forSystem(this.#directory));
    } catch {
      // in use by another process, or gone
    }
  }

  #open(): FSWatcher {
    // [R116] only the last name: a store that was moved away must not get a directory in its place
    if (!existsSync(forSystem(this.#directory))) mkdirSync(forSystem(this.#directory), { mode: 0o700 });
    const watcher = watch(forSystem(this.#directory), { persistent: false }, (_, name) => {
      if (name !== null) this.#waiting.get(name)?.(true);
    });
    watcher.on("error", () => this.close());
    return watcher;
  }

  /**
   * The timer keeps the process alive while a capture waits. A busy process polls its events once more before
   * giving up.
   */
  #seen(name: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const done = (answer: boolean) => {
      this.#waiting.delete(name);
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => done(false))), this.#timeoutMs);
    this.#waiting.set(name, done);
    return promise;
  }
}
