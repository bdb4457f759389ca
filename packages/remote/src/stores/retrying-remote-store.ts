/**
 * Asks again. A request whose answer is unknown is repeated with the same bytes, later and later, until the tries or the
 * time are used up. A create-only PUT whose key turns out to be taken is read: if our own bytes are there, an earlier try
 * arrived and its answer was lost [T1]. Also keeps to a limit of bytes per second.
 */
import { RemoteFailure, type PutOutcome, type RemoteStore, type StoredObject } from "./remote-store.ts";

/** What asking again needs; tests and simulations have a clock of their own. */
export interface Patience {
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** No try begins later than this after the first one of its request. */
  readonly patienceMs: number;
  /** 0 means no limit. */
  readonly uploadBytesPerSecond?: number | undefined;
  readonly downloadBytesPerSecond?: number | undefined;
}

const TRIES = 10;
/** A host that does not answer at all is not tried as often as a busy one. */
const TRIES_UNREACHED = 3;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

/** A remote store that asks again. */
export class RetryingRemoteStore implements RemoteStore {
  readonly #store: RemoteStore;
  readonly #patience: Patience;

  /** Where the server can; a subscription that ends is begun again by its reader. */
  readonly watch?: (signal: AbortSignal) => AsyncIterable<string>;
  readonly lock?: (name: string) => Promise<AsyncDisposable | undefined>;

  readonly expectLocks?: (key: string) => Promise<void>;

  /** Only where the store behind it has it. */
  readonly presign?: NonNullable<RemoteStore["presign"]>;

  constructor(store: RemoteStore, patience: Patience) {
    this.#store = store;
    this.#patience = patience;
    if (store.presign !== undefined) this.presign = store.presign.bind(store);
    if (store.expectLocks !== undefined) this.expectLocks = store.expectLocks.bind(store);
    if (store.watch !== undefined) this.watch = store.watch.bind(store);
    if (store.lock !== undefined) this.lock = store.lock.bind(store);
  }

  async put(key: string, bytes: Buffer, how: { readonly createOnly: boolean }): Promise<PutOutcome> {
    await this.#throttle(bytes.length, this.#patience.uploadBytesPerSecond);
    return this.#retry(async (isAgain) => {
      // a server that answered 500 may have stored it: look before sending it again
      if (isAgain && how.createOnly) {
        const there = await this.#sameBytes(key, bytes);
        if (there !== undefined) return there;
      }
      const put = await this.#store.put(key, bytes, how);
      return put.outcome === "exists" ? ((await this.#sameBytes(key, bytes)) ?? put) : put;
    });
  }

  async #sameBytes(key: string, bytes: Buffer): Promise<PutOutcome | undefined> {
    const there = await this.#store.get(key);
    return there?.bytes.equals(bytes) === true
      ? { outcome: "stored", etag: READ_BACK, date: there.date }
      : undefined;
  }

  async get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined> {
    const got = await this.#retry(() => this.#store.get(key, range));
    await this.#throttle(got?.bytes.length ?? 0, this.#patience.downloadBytesPerSecond);
    return got;
  }

  async *list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    let last = after;
    for (;;) {
      const from = last;
      const { listing, first } = await this.#retry(async () => {
        // a listing that failed has ended: asked again it would seem to be empty
        const begun = this.#store.list(prefix, from)[Symbol.asyncIterator]();
        return { listing: begun, first: await begun.next() };
      });
      if (first.done === true) return;
      for (let result = first; ;) {
        last = result.value.key;
        yield result.value;
        const following = await this.#orUndefined(() => listing.next());
        // a page that failed: begin again after the last key
        if (following === undefined) break;
        if (following.done === true) return;
        result = following;
      }
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    return this.#retry(() => this.#store.remove(keys));
  }

  async #orUndefined<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RemoteFailure && error.kind === "unknown") return undefined;
      throw error;
    }
  }

  async #retry<Result>(work: (isAgain: boolean) => Promise<Result>): Promise<Result> {
    const { now, sleep, patienceMs } = this.#patience;
    const start = now();
    for (let tries = 1; ; tries++) {
      try {
        return await work(tries > 1);
      } catch (error) {
        if (!(error instanceof RemoteFailure)) throw error;
        const waitMs = this.#waitFor(error, tries);
        if (waitMs === undefined || now() + waitMs > start + patienceMs) throw error;
        await sleep(waitMs);
      }
    }
  }

  /** How long to wait before the next try; undefined when there is none. */
  #waitFor({ kind, retryAfterMs }: RemoteFailure, tries: number): number | undefined {
    const limit = kind === "unknown" ? TRIES : kind === "unreachable" ? TRIES_UNREACHED : 0;
    if (tries >= limit) return undefined;
    const doubled = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS);
    return Math.max(retryAfterMs ?? 0, doubled * (0.5 + this.#patience.random() / 2));
  }

  async #throttle(bytes: number, bytesPerSecond = 0): Promise<void> {
    if (bytesPerSecond > 0) await this.#patience.sleep((bytes / bytesPerSecond) * 1000);
  }
}

/** In place of an ETag: the object was read back and is equal, which says more. */
export const READ_BACK = "read-back";
