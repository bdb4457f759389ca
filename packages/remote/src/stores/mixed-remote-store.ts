/**
 * Content on one server, everything else on another: large parcels where room is cheap, records where small writes are
 * quick and heads are told of. One store that routes by key.
 */
import type { PutOutcome, RemoteStore, StoredObject } from "./remote-store.ts";

/** Content parcels, and the one object of a probe that shows whether large ones are kept. */
const CONTENT = /^(?:[0-9a-f]{32}\/b\/|probe\/[0-9a-f]+\/large$)/;

/** Two stores as one. A listing shows content only where its prefix says so. */
export class MixedRemoteStore implements RemoteStore {
  readonly #content: RemoteStore;
  readonly #records: RemoteStore;
  readonly watch?: (signal: AbortSignal) => AsyncIterable<string>;
  readonly expectLocks?: (key: string) => Promise<void>;
  readonly lock?: (name: string) => Promise<AsyncDisposable | undefined>;

  constructor({ content, records }: { readonly content: RemoteStore; readonly records: RemoteStore }) {
    this.#content = content;
    this.#records = records;
    if (records.watch !== undefined) this.watch = records.watch.bind(records);
    if (content.expectLocks !== undefined) this.expectLocks = content.expectLocks.bind(content);
    if (records.lock !== undefined) this.lock = records.lock.bind(records);
  }

  put(key: string, bytes: Buffer, how: { readonly createOnly: boolean }): Promise<PutOutcome> {
    return this.#storeOf(key).put(key, bytes, how);
  }

  get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined> {
    return this.#storeOf(key).get(key, range);
  }

  list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    return this.#storeOf(prefix).list(prefix, after);
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const store of [this.#content, this.#records]) {
      const own = keys.filter((key) => this.#storeOf(key) === store);
      if (own.length > 0) await store.remove(own);
    }
  }

  #storeOf(key: string): RemoteStore {
    return CONTENT.test(key) ? this.#content : this.#records;
  }
}
