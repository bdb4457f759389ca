/**
 * The rows of the timeline, newest first, loaded page by page. Events make it ask again, at most every 100 ms; rows that
 * are known keep their place, so a screen that remembers a row by its `ref` never loses it.
 */
import type { BelayEvent } from "@belay/protocol";
import type { HistoryRow, Now, UncapturedTurn } from "./history-row.ts";
import type { Source } from "./source.tsx";

/** Which rows are wanted. */
export interface HistoryFilter {
  readonly thread?: string | undefined;
  readonly q?: string | undefined;
  /** Also safety checkpoints and turns without changes. */
  readonly all?: boolean | undefined;
}

/** Why a request failed. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** What is known; every change makes a new one. */
export interface HistoryState {
  readonly rows: readonly HistoryRow[];
  /** How many there are; null before the first answer. */
  readonly total: number | null;
  readonly isComplete: boolean;
  readonly now: Now | null;
  /** Turns that were not captured, newest first, as far down as the rows go. */
  readonly uncaptured: readonly UncapturedTurn[];
  /** Why the last request failed. */
  readonly problem: Problem | undefined;
}

const PAGE = 100;
const MOST = 1000;
const REFRESH_MS = 100;
/** Without events the disk may still change: `now` has to stay true. */
const IDLE_MS = 5000;

/** Rows, kept up to date while there are listeners. */
export class History {
  readonly #source: Source;
  readonly #filter: HistoryFilter;
  readonly #watchers = new Set<() => void>();
  #state: HistoryState = {
    rows: [],
    total: null,
    isComplete: false,
    now: null,
    uncaptured: [],
    problem: undefined,
  };
  #next: number | null = null;
  #loading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #stopListening: (() => void)[] = [];
  /** An event may have changed rows beyond the first page. */
  #isWide = false;

  constructor(source: Source, filter: HistoryFilter = {}) {
    this.#source = source;
    this.#filter = filter;
  }

  get state(): HistoryState {
    return this.#state;
  }

  /** Begins with the first watcher and ends with the last. */
  watch = (watcher: () => void): (() => void) => {
    if (this.#watchers.size === 0) this.#begin();
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#end();
    };
  };

  /** Loads rows until there are this many, or all. */
  async reach(count: number): Promise<void> {
    while (this.#state.rows.length < count && !this.#state.isComplete) {
      const before = this.#state.rows.length;
      await this.#inTurn(() => this.#loadMore(Math.min(MOST, Math.max(PAGE, count - before))));
      if (this.#state.rows.length === before) return;
    }
  }

  /** Asks again soon. */
  refresh(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#inTurn(() => this.#reload());
    }, REFRESH_MS);
  }

  #begin(): void {
    void this.#inTurn(() => this.#reload());
    this.#stopListening = [
      this.#source.listen((event) => this.#happened(event)),
      this.#source.watch(() => this.refresh()),
    ];
    this.#idle = setInterval(() => this.refresh(), IDLE_MS);
    this.#idle.unref();
  }

  #end(): void {
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#timer);
    clearInterval(this.#idle);
    this.#timer = undefined;
  }

  #happened({ type }: BelayEvent): void {
    if (type === "file_edit" || type === "restore_progress") return;
    this.#isWide ||= type !== "checkpoint_created";
    this.refresh();
  }

  /** One request at a time: an older answer never replaces a newer one. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const earlier = this.#loading ?? Promise.resolve();
    const done = earlier.then(work).catch((error: unknown) => this.#fail(error));
    this.#loading = done;
    return done;
  }

  async #reload(): Promise<void> {
    const known = this.#state.rows;
    const limit = this.#isWide ? Math.min(MOST, Math.max(PAGE, known.length)) : PAGE;
    this.#isWide = false;
    const answer = await this.#ask({ limit });
    const last = answer.rows.at(-1);
    const at = last === undefined ? -1 : known.findIndex(({ ref }) => ref === last.ref);
    const rest = at < 0 ? [] : known.slice(at + 1);
    if (rest.length === 0) this.#next = answer.next;
    this.#become({
      rows: [...answer.rows, ...rest],
      total: answer.total ?? this.#state.total,
      isComplete: this.#next === null,
      now: answer.now,
      uncaptured: [
        ...answer.uncaptured,
        ...(rest.length === 0 ? [] : this.#state.uncaptured.filter(({ after }) => after < answer.next!)),
      ],
      problem: undefined,
    });
  }

  async #loadMore(limit: number): Promise<void> {
    if (this.#next === null) return;
    const answer = await this.#ask({ limit, before: this.#next });
    this.#next = answer.next;
    const known = new Set(this.#state.rows.map(({ ref }) => ref));
    this.#become({
      ...this.#state,
      rows: [...this.#state.rows, ...answer.rows.filter(({ ref }) => !known.has(ref))],
      uncaptured: [...this.#state.uncaptured, ...answer.uncaptured],
      isComplete: answer.next === null,
    });
  }

  async #ask(page: { limit: number; before?: number }) {
    const { thread, q, all } = this.#filter;
    return this.#source.call("GET /api/history", {
      query: {
        workspace: this.#source.place.workspace,
        ...page,
        ...(thread !== undefined && { thread }),
        ...(q !== undefined && q !== "" && { q }),
        ...(all === true && { all: "1" }),
      },
    });
  }

  #fail(error: unknown): void {
    const { code = "", message, hint = "" } = error as Partial<Problem> & Error;
    this.#become({ ...this.#state, problem: { code, message, hint } });
  }

  #become(state: HistoryState): void {
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}
