/**
 * A file that is changed for the watcher to report. Once the change is reported, everything that happened before it has
 * been reported too. On Linux all watches of a process share one queue, so a cookie may be anywhere; elsewhere it must be
 * in the root.
 *
 * To create a file takes up to a millisecond, to write into one takes microseconds. So on Linux a cookie is kept open and
 * written again. It has lost its name by then, so that a crash leaves none; inotify reports it under that name all the
 * same, even after its directory was removed.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  unlinkSync,
  watch,
  writeSync,
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

interface Cookie {
  readonly name: string;
  /** Open for as long as it is reused; undefined for a cookie that counts once, by its creation. */
  readonly file: number | undefined;
}

/** One watch of the directory, and the cookies that it reports. */
interface Tray {
  readonly watcher: FSWatcher;
  /** Those that were reported and may be written again. */
  readonly spare: Cookie[];
}

/** Changes cookies and waits for the watcher to report them. */
export class WatchCookie {
  readonly #directory: AbsolutePath;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<string, { isOnce: boolean; done(answer: boolean): void }>();
  /** Other processes put their cookies in the same place. */
  readonly #prefix = randomId();
  #made = 0;
  #tray: Tray | undefined;

  constructor(directory: AbsolutePath, timeoutMs: number) {
    this.#directory = directory;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves to true when everything up to now has been reported, to false when no event arrived in time. */
  async arrived(): Promise<boolean> {
    // another process may have removed the directory: the second attempt creates it again
    const changed = this.#change() ?? this.#change();
    if (changed === undefined) return false;
    const { tray, cookie } = changed;
    const isSeen = await this.#seen(cookie);
    if (isSeen && cookie.file !== undefined && tray === this.#tray) tray.spare.push(cookie);
    else closeCookie(cookie);
    if (!isSeen) this.close();
    return isSeen;
  }

  #change(): { tray: Tray; cookie: Cookie } | undefined {
    let cookie: Cookie | undefined;
    try {
      const tray = (this.#tray ??= this.#open());
      cookie = tray.spare.pop() ?? this.#make();
      if (cookie.file !== undefined) writeSync(cookie.file, "\0", 0);
      return { tray, cookie };
    } catch {
      if (cookie !== undefined) closeCookie(cookie);
      this.close();
      return undefined;
    }
  }

  #make(): Cookie {
    const name = `${this.#prefix}-${(this.#made += 1)}`;
    const path = forSystem(below(this.#directory, name));
    const file = openSync(path, "wx", 0o600);
    try {
      unlinkSync(path);
      // a network file system gives it another name instead, and would report that one
      if (platform() === "linux" && fstatSync(file).nlink === 0) return { name, file };
    } catch (error) {
      closeSync(file);
      throw error;
    }
    closeSync(file);
    return { name, file: undefined };
  }

  close(): void {
    this.#tray?.watcher.close();
    this.#tray?.spare.forEach(closeCookie);
    this.#tray = undefined;
    try {
      rmdirSync(forSystem(this.#directory));
    } catch {
      // in use by another process, or gone
    }
  }

  #open(): Tray {
    // [R116] only the last name: a store that was moved away must not get a directory in its place
    if (!existsSync(forSystem(this.#directory))) mkdirSync(forSystem(this.#directory), { mode: 0o700 });
    const watcher = watch(forSystem(this.#directory), { persistent: false }, (type, name) => {
      const waiting = name === null ? undefined : this.#waiting.get(name);
      // the creation of a cookie is reported as "rename", each time that it is written as "change"
      if (waiting !== undefined && (waiting.isOnce || type === "change")) waiting.done(true);
    });
    watcher.on("error", () => this.close());
    return { watcher, spare: [] };
  }

  /**
   * The timer keeps the process alive while a capture waits. A busy process polls its events once more before
   * giving up.
   */
  #seen({ name, file }: Cookie): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const done = (answer: boolean) => {
      this.#waiting.delete(name);
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => done(false))), this.#timeoutMs);
    this.#waiting.set(name, { isOnce: file === undefined, done });
    return promise;
  }
}

function closeCookie({ file }: Cookie): void {
  if (file !== undefined) closeSync(file);
}
