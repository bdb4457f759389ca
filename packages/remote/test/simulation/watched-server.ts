/** The server of a simulation: it tells what happens on it, and shows every object that is about to go to a judge. */
import type { PutOutcome, StoredObject } from "../../src/stores/remote-store.ts";
import { MemoryRemoteStore } from "../../src/stores/memory-remote-store.ts";

/** Something that happened on the server. */
export interface ServerEvent {
  readonly kind: "stored" | "listed";
  /** A key, or the prefix that was listed. */
  readonly key: string;
}

interface Wait {
  readonly isIt: (event: ServerEvent) => boolean;
  readonly wake: () => void;
}

/** A remote in memory that can be waited for. */
export class WatchedServer extends MemoryRemoteStore {
  #waits: Wait[] = [];
  /** Asked before an object goes. */
  judge: (key: string) => void = () => undefined;

  /** The next time that such a thing happens. */
  next(isIt: Wait["isIt"]): Promise<void> {
    return new Promise((resolve) => {
      this.#waits.push({ isIt, wake: resolve });
    });
  }

  override async put(key: string, bytes: Buffer, how: { readonly createOnly: boolean }): Promise<PutOutcome> {
    const put = await super.put(key, bytes, how);
    if (put.outcome === "stored") this.#tell({ kind: "stored", key });
    return put;
  }

  override async *list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    yield* super.list(prefix, after);
    this.#tell({ kind: "listed", key: prefix });
  }

  override async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) if (this.objects.has(key)) this.judge(key);
    await super.remove(keys);
  }

  #tell(event: ServerEvent): void {
    const due = this.#waits.filter(({ isIt }) => isIt(event));
    this.#waits = this.#waits.filter((wait) => !due.includes(wait));
    for (const { wake } of due) wake();
  }
}
