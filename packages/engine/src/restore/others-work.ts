/** Other threads' work: a restore takes it out with the rest, or leaves it alone. */
import { authorsSince, type Authors } from "../history/authors.ts";
import type { Unrecorded } from "../capture/unrecorded.ts";
import type { Context } from "../capture/context.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { isLeaf } from "../model/entry.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Edit, ThreadPaths } from "../model/plan.ts";

/** Whose work stays: that of these threads, or of every thread but the one that goes back. */
export type ExceptThreads = "others" | readonly ThreadId[];

/** What decides whose work a restore touches. */
export interface OthersWorkInput {
  readonly target: Checkpoint;
  readonly thread: ThreadId | null;
  /** undefined: nothing is left alone. */
  readonly except: ExceptThreads | undefined;
  /** Files chosen by their own name: they go back, no matter which thread changed them. */
  readonly named: readonly BytePath[];
  readonly unrecorded: Unrecorded;
}

/** Who changed what since the target of a restore. */
export class OthersWork {
  readonly #authors: ReadonlyMap<BytePath, Authors>;
  readonly #own: ThreadId | null;
  readonly #except: ExceptThreads;
  readonly #named: ReadonlySet<BytePath>;

  constructor({ store }: Context, { target, thread, except = [], named, unrecorded }: OthersWorkInput) {
    // what came from elsewhere is older than anything that was done here
    this.#authors = authorsSince(store.db, target.origin === null ? target.seq : 0, unrecorded);
    this.#own = thread ?? target.thread;
    this.#except = except;
    this.#named = new Set(named);
  }

  /**
   * Whether an edit is left alone: only threads that are excepted changed its path. What a person deleted since is no
   * thread's work any more.
   */
  isLeftAlone({ path, from }: Edit): boolean {
    const authors = this.#authors.get(path);
    if (authors === undefined || authors.threads.size === 0 || this.#named.has(path)) return false;
    if (![...authors.threads].every((thread) => this.#isExcepted(thread))) return false;
    return from !== undefined || authors.last.length > 0;
  }

  /** The given edits by the threads that left them alone, each once: under the thread that changed it last. */
  byLastAuthor(edits: readonly Edit[]): ThreadPaths[] {
    return group(
      edits
        .filter(({ from, to }) => isLeaf(from) || isLeaf(to))
        .map(({ path }) => {
          const { threads, last } = this.#authors.get(path) ?? { threads: [], last: [] };
          return [last.at(-1) ?? [...threads].at(-1)!, path] as const;
        })
        .filter(([thread]) => thread !== undefined),
    );
  }

  /** Whose work the edits would take out, apart from that of the thread that goes back. */
  takenOut(edits: readonly Edit[]): ThreadPaths[] {
    return group(
      edits.flatMap(({ path }) =>
        [...(this.#authors.get(path)?.threads ?? [])]
          .filter((thread) => thread !== this.#own)
          .map((thread) => [thread, path] as const),
      ),
    );
  }

  /** Where no thread goes back, no thread is another. */
  #isExcepted(thread: ThreadId): boolean {
    if (this.#except !== "others") return this.#except.includes(thread);
    return this.#own !== null && thread !== this.#own;
  }
}

function group(pairs: readonly (readonly [ThreadId, BytePath])[]): ThreadPaths[] {
  const byThread = Map.groupBy(pairs, ([thread]) => thread);
  return [...byThread].map(([thread, list]) => ({ thread, paths: list.map(([, path]) => path) }));
}
