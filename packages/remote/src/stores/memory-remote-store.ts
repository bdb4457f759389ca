/** A remote in memory, for tests and simulations: every object, with a clock of its own. */
import { createHash } from "node:crypto";
import type { PutOutcome, RemoteStore, StoredObject } from "./remote-store.ts";

interface Kept {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly modified: number;
}

/** A remote that lives as long as the process. */
export class MemoryRemoteStore implements RemoteStore {
  readonly objects = new Map<string, Kept>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async put(
    key: string,
    bytes: Buffer,
    { createOnly }: { readonly createOnly: boolean },
  ): Promise<PutOutcome> {
    const date = this.#now();
    const known = this.objects.get(key);
    if (createOnly && known !== undefined) return { outcome: "exists", etag: known.etag, date };
    const etag = createHash("md5").update(bytes).digest("hex");
    this.objects.set(key, { bytes: Buffer.from(bytes), etag, modified: date });
    return { outcome: "stored", etag, date };
  }

  async get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined> {
    const kept = this.objects.get(key);
    if (kept === undefined) return undefined;
    const { from, length } = range ?? { from: 0, length: kept.bytes.length };
    return { bytes: Buffer.from(kept.bytes.subarray(from, from + length)), date: this.#now() };
  }

  async *list(prefix: string, after = ""): AsyncIterable<StoredObject> {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    for (const key of keys) {
      const kept = this.objects.get(key);
      if (kept !== undefined)
        yield { key, size: kept.bytes.length, etag: kept.etag, modified: kept.modified };
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key);
  }
}
