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

interface Begun {
  readonly cache: StatCache;
  readonly look: DirectoryLook;
}

export class HeadStart {
  readonly #tree: LargeTree;
  readonly #begunMs: number;
  #begun: Begun | undefined;

  private constructor(tree: LargeTree, begun: Begun, begunMs: number) {
    this.#tree = tree;
    this.#begun = begun;
    this.#begunMs = begunMs;
  }

  static begin(tree: LargeTree, nowMs: number): HeadStart | undefined {
    const read = readStatCache(tree.cachePath);
    if (read === undefined) return undefined;
    const { table, facts, texts } = read;
    const look = beginNativeLook(tree.root, table, texts);
    return look && new HeadStart(tree, { cache: { table, facts }, look }, nowMs);
  }

  /** The stat cache it goes by, if it is that of this root. */
  cacheOf(root: AbsolutePath, path: AbsolutePath): StatCache | undefined {
    return this.#tree.root === root && this.#tree.cachePath === path ? this.#begun?.cache : undefined;
  }

  /** The look, once, if it is one at this table and counts; it is the caller's from then on. */
  take({ table }: StatCache, { nowMs, recordedMs }: Times): DirectoryLook | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    const age = nowMs - this.#begunMs;
    const counts = recordedMs < this.#begunMs && age >= 0 && age < GOOD_FOR_MS;
    if (counts && begun?.cache.table === table) return begun.look;
    begun?.look[Symbol.dispose]();
    return undefined;
  }

  /** Nobody will need it. */
  drop(): void {
    this.#begun?.look[Symbol.dispose]();
    this.#begun = undefined;
  }
}
