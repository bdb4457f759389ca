/**
 * The last recorded scan, for the next look to compare with: kept in memory, and in the stat cache for the next
 * process. It counts only for the root it was made of, and only while the store has the checkpoint it became:
 * an older copy of the store, or one from which something was forgotten, lacks content that the scan names.
 */
import { statNode } from "../fs/file-stat.ts";
import { readStatCache, sameFacts, writeStatCache, type StatCache } from "../scan/stat-cache.ts";
import type { WorkingCopyOptions } from "./working-copy-options.ts";

/** Reading this share of the entries once more costs less than writing the stat cache of all of them. */
const TOLERATED_DRIFT = 1 / 1000;

/** What the next look may reuse. */
export class LastScan {
  readonly #options: WorkingCopyOptions;
  #cache: StatCache | undefined;
  #isLoaded = false;
  /** How many entries changed since the stat cache was written. */
  #drift = 0;

  constructor(options: WorkingCopyOptions) {
    this.#options = options;
  }

  /** The last scan, if it counts. */
  usable(): StatCache | undefined {
    const { cachePath, hasCheckpoint } = this.#options;
    if (!this.#isLoaded && cachePath !== undefined) this.#cache = readStatCache(cachePath);
    this.#isLoaded = true;
    const facts = this.#cache?.facts;
    return facts?.root === this.rootKey() && hasCheckpoint(facts.checkpoint, facts.snapshot)
      ? this.#cache
      : undefined;
  }

  /** A replaced root may reuse inode numbers: nothing that was seen in the old one counts. */
  rootKey(): string {
    const stat = statNode(this.#options.root);
    return `${this.#options.storeId} ${stat?.dev} ${stat?.ino} ${stat?.birthtimeNs}`;
  }

  /** Keeps a full scan that is recorded; `changed` entries of it were other than in the scan before. */
  keep(cache: StatCache, changed: number): void {
    const last = this.#cache?.facts;
    this.keepInMemory(cache);
    this.#drift += changed;
    const isGoodEnough =
      last !== undefined &&
      sameFacts(last, cache.facts) &&
      this.#drift <= cache.table.length * TOLERATED_DRIFT;
    if (isGoodEnough) return;
    this.save();
    this.#drift = 0;
  }

  /** Keeps a live capture; until `save`, what it changed is read once more by the next process. */
  keepInMemory(cache: StatCache): void {
    this.#cache = cache;
    this.#isLoaded = true;
  }

  /** Writes the stat cache. */
  save(): void {
    const { cachePath } = this.#options;
    if (this.#cache !== undefined && cachePath !== undefined) writeStatCache(cachePath, this.#cache);
  }

  /** Forgets every stat: the next look reads everything. */
  forget(): void {
    this.#cache = undefined;
    this.#isLoaded = true;
  }
}
