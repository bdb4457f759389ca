/**
 * Keeps content parcels in a directory, between jobs on one machine. They never change under their names, are encrypted as
 * they are on the server, and are proved again when they are opened; a file that was altered is fetched again.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PutOutcome, RemoteStore, StoredObject } from "./remote-store.ts";

const CONTENT = /\/b\/[0-9a-f]{2}\/([0-9a-f]{32})$/;

/** A remote store whose content parcels are kept in a directory. */
export class CachingRemoteStore implements RemoteStore {
  readonly #store: RemoteStore;
  readonly #directory: string;

  constructor(store: RemoteStore, directory: string) {
    this.#store = store;
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  async get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined> {
    const [, id] = CONTENT.exec(key) ?? [];
    if (id === undefined) return this.#store.get(key, range);
    const kept = this.#read(id);
    const got = kept === undefined ? await this.#store.get(key) : { bytes: kept, date: 0 };
    if (got === undefined) return undefined;
    if (kept === undefined) this.#keep(id, got.bytes);
    return range === undefined
      ? got
      : { ...got, bytes: got.bytes.subarray(range.from, range.from + range.length) };
  }

  #read(id: string): Buffer | undefined {
    for (const name of readdirSync(this.#directory)) {
      if (!name.startsWith(`${id}.`)) continue;
      const bytes = readFileSync(join(this.#directory, name));
      if (name === nameOf(id, bytes)) return bytes;
      rmSync(join(this.#directory, name), { force: true });
    }
    return undefined;
  }

  #keep(id: string, bytes: Buffer): void {
    const draft = join(this.#directory, `draft-${process.pid}-${id}`);
    writeFileSync(draft, bytes, { mode: 0o600 });
    renameSync(draft, join(this.#directory, nameOf(id, bytes)));
  }

  put(key: string, bytes: Buffer, how: { readonly createOnly: boolean }): Promise<PutOutcome> {
    return this.#store.put(key, bytes, how);
  }

  list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    return this.#store.list(prefix, after);
  }

  remove(keys: readonly string[]): Promise<void> {
    return this.#store.remove(keys);
  }
}

function nameOf(id: string, bytes: Buffer): string {
  return `${id}.${createHash("sha256").update(bytes).digest("hex")}`;
}
