/** The events of a workspace in this process. */
import type { Context } from "../capture/context.ts";
import { absolutePath, below, isInside } from "../fs/absolute-path.ts";
import { appendEvent, newestEvent, readEvents, type EventRow } from "../history/events.ts";
import { threadOrigin } from "../history/threads.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { EventOptions, WorkspaceEvent } from "../model/event.ts";
import type { Thread } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import type { AfterRestore } from "../model/plan.ts";
import { describeEvent } from "../queries/describe-event.ts";
import type { AfterForget, Events, Interruptions, Unrecorded } from "./interface/events.ts";

/** How often readers look for events of other processes. */
const POLL_MS = 250;
/** How long an event that was made for one reader is kept for the other readers. */
const SHARED_MS = 100;

/** Reads the store's events for any number of readers, and calls the host after restores and forgetting. */
export class LocalEvents implements Events {
  readonly #context: Context;
  readonly #waiting = new Set<() => void>();
  readonly #described = new Map<number, WorkspaceEvent>();
  #isClosed = false;
  readonly #afterRestore = new Set<AfterRestore>();
  #afterForget: AfterForget | undefined;
  #interruptions: Interruptions | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  read(options: EventOptions = {}): AsyncGenerator<WorkspaceEvent> {
    return this.#follow(options.after ?? newestEvent(this.#context.store.db), options);
  }

  newest(): number {
    return newestEvent(this.#context.store.db);
  }

  /** What happened after an event, as far as it is kept. */
  after(seq: number, thread?: ThreadId): WorkspaceEvent[] {
    const only = thread === undefined ? {} : { thread };
    return readEvents(this.#context.store.db, seq, only).map((row) => describeEvent(this.#context, row));
  }

  afterRestore(work: AfterRestore): () => void {
    this.#afterRestore.add(work);
    return () => void this.#afterRestore.delete(work);
  }

  indexSynced({ checked, reindexed, removed }: Parameters<Events["indexSynced"]>[0]): void {
    const { store, system } = this.#context;
    const data = { checked, reindexed, removed };
    store.db.transaction(() =>
      appendEvent(store.db, { type: "index_synced", thread: null, at: system.now(), data }),
    );
    this.wake();
  }

  afterForget(work: AfterForget): void {
    this.#afterForget = work;
  }

  askInterruptions(ask: Interruptions): void {
    this.#interruptions = ask;
  }

  askUnrecorded(ask: Unrecorded): void {
    const context = this.#context;
    const { root } = context.workingCopy;
    context.unrecorded = () =>
      ask().filter(({ directory }) => {
        const at = absolutePath(directory);
        const inner = () => context.excludedDirectories().map(({ path }) => below(root, path));
        return isInside(at, root) && !inner().some((other) => isInside(at, other));
      });
  }

  /** What the host knows of interruptions. */
  async interruptions(threads: readonly Thread[]): ReturnType<Interruptions> {
    return (await this.#interruptions?.(threads)) ?? [];
  }

  /** Lets the host act on paths that went back; returns what it wants the user to know. */
  async restored(paths: readonly BytePath[]): Promise<readonly string[]> {
    const notices: string[] = [];
    for (const work of this.#afterRestore) notices.push(...(await work(paths)));
    return notices;
  }

  /** Lets the host forget its own copies of a thread's words. */
  async forgotten(thread: ThreadId): Promise<void> {
    await this.#afterForget?.(threadOrigin(this.#context.store.db, thread));
  }

  /** Makes waiting readers look at once. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Ends all reading. */
  close(): void {
    this.#isClosed = true;
    this.wake();
  }

  async *#follow(start: number, options: EventOptions): AsyncGenerator<WorkspaceEvent> {
    const { signal } = options;
    const { db } = this.#context.store;
    let after = start;
    while (signal?.aborted !== true && !this.#isClosed) {
      const newest = newestEvent(db);
      const rows = readEvents(db, after, options);
      for (const row of rows) {
        yield this.#describe(row);
        after = row.seq;
      }
      if (rows.length > 0) continue;
      // what is not for this reader is not looked at again
      after = Math.max(after, newest);
      await this.#somethingNew(signal);
    }
  }

  /** All readers come for an event at the same moment: it is made once for them, and dropped before it is out of date. */
  #describe(row: EventRow): WorkspaceEvent {
    const known = this.#described.get(row.seq);
    if (known !== undefined) return known;
    if (this.#described.size === 0) setTimeout(() => this.#described.clear(), SHARED_MS).unref();
    const event = describeEvent(this.#context, row);
    this.#described.set(row.seq, event);
    return event;
  }

  /** Events of this process wake readers at once; those of other processes are found by polling. */
  async #somethingNew(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, POLL_MS);
      this.#waiting.add(done);
      signal?.addEventListener("abort", done);
    });
  }
}
