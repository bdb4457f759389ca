/**
 * A look at the files that began with the process. It is as good as one that begins later: nothing that happened
 * before the process is missed. But what another process of ours did to the files meanwhile must not be: a capture
 * that lacks it would take it for the doing of whoever comes next. So it does not count once a checkpoint was recorded
 * since, nor when it has become old.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { LargeTree } from "./large-trees.ts";
import { beginNativeLook, type DirectoryLook } from "./native-look.ts";
import { readStatCache, type StatCache } from "./stat-cache.ts";

/** Far more than it takes to open a store, far less than it takes to answer a question. */
const GOOD_FOR_MS = 500;

export interface Times {
  readonly nowMs: number;
  /** When the newest checkpoint was recorded. */
  readonly recordedMs: number;
}

export class HeadStart {
  readonly cachePath: AbsolutePath;
  readonly cache: StatCache;
  readonly #begunMs: number;
  #look: DirectoryLook | undefined;

  private constructor(cachePath: AbsolutePath, cache: StatCache, look: DirectoryLook, begunMs: number) {
    this.cachePath = cachePath;
    this.cache = cache;
    this.#look = look;
    this.#begunMs = begunMs;
  }

  static begin({ root, cachePath }: LargeTree, nowMs: number): HeadStart | undefined {
    const read = readStatCache(cachePath);
    if (read === undefined) return undefined;
    const { table, facts, texts } = read;
    const look = beginNativeLook(root, table, texts);
    return look && new HeadStart(cachePath, { table, facts }, look, nowMs);
  }

  /** The look, if it is one at this table and counts; it is the caller's from then on. */
  take(cache: StatCache, { nowMs, recordedMs }: Times): DirectoryLook | undefined {
    const look = this.#look;
    this.#look = undefined;
    const age = nowMs - this.#begunMs;
    const counts = recordedMs < this.#begunMs && age >= 0 && age < GOOD_FOR_MS;
    if (counts && cache.table === this.cache.table) return look;
    look?.[Symbol.dispose]();
    return undefined;
  }
}
