/**
 * The rows of a workspace as the server has them: pages from the newest on, patched by events, never reloaded. Rows that
 * came while the reader looked elsewhere wait until they are asked for.
 */
import type { BelayEvent, CallOutput } from "@belay/protocol";
import type { Belay } from "./belay.tsx";
import { NoAnswer } from "./client.ts";
import { FIRST_PAGE, historyQuery, takeFirstRows, type HistoryFilter } from "./first-rows.ts";

type Answer = CallOutput<"GET /api/history">;
/** One thing that happened. */
export type HistoryRow = Answer["rows"][number];
/** What lies on the disk now, compared with the rows. */
export type Now = NonNullable<Answer["now"]>;

/** What is known of the history. */
export interface History {
  readonly rows: readonly HistoryRow[];
  /** Newer rows that wait behind the pill. */
  readonly waiting: readonly HistoryRow[];
  readonly total: number;
  readonly days: readonly { readonly day: string; readonly count: number }[];
  readonly now: Now | undefined;
  readonly isComplete: boolean;
  readonly isLoading: boolean;
  readonly error: Error | undefined;
}

const PAGE = 1000;
/** Events of one turn come in bursts: the first is followed at once, those after it together. */
const EVENTS_MS = 100;

const NOTHING: History = {
  rows: [],
  waiting: [],
  total: 0,
  days: [],
  now: undefined,
  isComplete: false,
  isLoading: true,
  error: undefined,
};

/** Events after which an old row may look different. */
const CHANGES_OLD_ROWS = new Set([
  "undo",
  "redo",
  "steps_dropped",
  "checkpoint_updated",
  "checkpoint_deleted",
  "session_approved",
  "session_reset",
  "restore_finished",
]);

/** The history of one workspace under one filter. */
export class HistoryStore {
  #history = NOTHING;
  #next: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #askedAt = -EVENTS_MS;
  #asksForAll = false;
  /** The newest event that the rows know of, and the newest before the connection began. */
  #event = 0;
  #connectedAt: number | undefined;
  #isAtTop = true;
  #isHeld = false;
  readonly #belay: Belay;
  readonly #filter: HistoryFilter;
  readonly #listeners = new Set<() => void>();
  #loading: Promise<void> | undefined;

  constructor(belay: Belay, filter: HistoryFilter) {
    this.#belay = belay;
    this.#filter = filter;
  }

  /** Loads the newest rows and begins to listen; returns how to stop. */
  open(): () => void {
    const stop = this.#belay.live.onEvent((event) => this.#onEvent(event));
    if (this.#history.isLoading) void this.#loadFirst();
    return () => {
      stop();
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly get = (): History => this.#history;

  /** Loads rows until `count` are there or all are. */
  async loadUntil(count: number): Promise<void> {
    while (
      this.#history.rows.length < count &&
      !this.#history.isComplete &&
      this.#history.error === undefined
    ) {
      this.#loading ??= this.#loadNext().finally(() => {
        this.#loading = undefined;
      });
      await this.#loading;
    }
  }

  /** Scrolled away from the top, new rows wait; back at it, they are shown. */
  setAtTop(isAtTop: boolean): void {
    this.#isAtTop = isAtTop;
    this.#showWaiting();
  }

  /** While a dialog is open, new rows wait too. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#showWaiting();
  }

  get #mayMove(): boolean {
    return this.#isAtTop && !this.#isHeld;
  }

  #showWaiting(): void {
    const { rows, waiting } = this.#history;
    if (this.#mayMove && waiting.length > 0) this.#set({ rows: merged(rows, waiting), waiting: [] });
  }

  /** Asks for the newest rows again, for example when the connection came back. */
  refresh(): void {
    this.#asksForAll = true;
    this.#later();
  }

  #onEvent(event: BelayEvent): void {
    const { type } = event;
    if (type === "restore_progress" || type === "file_edit") return;
    if (type === "resident_status") return this.#onConnected(event.newest);
    this.#asksForAll ||= CHANGES_OLD_ROWS.has(type);
    this.#later();
  }

  /** [R822] A connection that began after the rows were read may have missed what happened between; others have not. */
  #onConnected(newest: number): void {
    const isAgain = this.#connectedAt !== undefined;
    this.#connectedAt = newest;
    if (isAgain || (!this.#history.isLoading && newest > this.#event)) this.refresh();
  }

  #later(): void {
    const rest = this.#askedAt + EVENTS_MS - performance.now();
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#askedAt = performance.now();
        void this.#patch();
      },
      Math.max(0, rest),
    );
  }

  #ask(options: { before?: number; limit: number }): Promise<Answer> {
    const { client, workspace } = this.#belay;
    return client.call("GET /api/history", { query: historyQuery(workspace, this.#filter, options) });
  }

  /** The newest rows, perhaps on their way already. */
  #askFirst(): Promise<Answer> {
    const options = { limit: FIRST_PAGE };
    return takeFirstRows(historyQuery(this.#belay.workspace, this.#filter, options)) ?? this.#ask(options);
  }

  async #loadFirst(): Promise<void> {
    try {
      const { rows, next, total, days, now, event } = await this.#askFirst();
      this.#next = next;
      this.#event = event;
      this.#set({
        rows,
        total: total ?? rows.length,
        days: days ?? [],
        now: now ?? undefined,
        isComplete: next === null,
        isLoading: false,
        error: undefined,
      });
      if (this.#connectedAt !== undefined && this.#connectedAt > event) this.refresh();
    } catch (error) {
      this.#set({ isLoading: false, error: error as Error });
    }
  }

  async #loadNext(): Promise<void> {
    if (this.#next === null) return;
    try {
      const { rows, next } = await this.#ask({ before: this.#next, limit: PAGE });
      this.#next = next;
      this.#set({ rows: merged(this.#history.rows, rows), isComplete: next === null });
    } catch (error) {
      this.#set({ error: error as Error });
    }
  }

  /** Replaces rows that changed, adds new ones at the top or lets them wait. */
  async #patch(): Promise<void> {
    const loaded = this.#history.rows.length;
    const limit = this.#asksForAll ? Math.min(PAGE, Math.max(FIRST_PAGE, loaded)) : FIRST_PAGE;
    this.#asksForAll = false;
    try {
      const { rows, total, days, now, next, event } = await this.#ask({ limit });
      this.#event = event;
      // read after the answer: a further page may have come meanwhile
      const { rows: known, waiting } = this.#history;
      const newest = known[0]?.seq ?? 0;
      const isFresh = (row: HistoryRow) => row.seq > newest;
      const fresh = rows.filter(isFresh);
      const old = rows.filter((row) => !isFresh(row));
      const oldest = rows.at(-1)?.seq ?? 0;
      // a row of this stretch that the server no longer has is gone
      const kept = known.filter(({ seq }) => next !== null && seq < oldest);
      const rest = merged(old, kept);
      this.#set({
        rows: this.#mayMove ? merged(rest, fresh) : rest,
        waiting: this.#mayMove ? [] : merged(waiting, fresh),
        total: total ?? this.#history.total,
        days: days ?? this.#history.days,
        now: now ?? undefined,
        isLoading: false,
        error: undefined,
        ...(known.length === 0 && { isComplete: next === null }),
      });
      if (known.length === 0) this.#next = next;
    } catch (error) {
      // what is shown stays; without an answer the connection's state says so
      if (!(error instanceof NoAnswer)) this.#set({ error: error as Error });
    }
  }

  #set(part: Partial<History>): void {
    this.#history = { ...this.#history, ...part };
    for (const listener of this.#listeners) listener();
  }
}

/** Both lists, newest first; a row of the second replaces the same row of the first. */
function merged(first: readonly HistoryRow[], second: readonly HistoryRow[]): HistoryRow[] {
  const byRef = new Map(first.map((row) => [row.ref, row]));
  for (const row of second) byRef.set(row.ref, row);
  return [...byRef.values()].sort((a, b) => b.seq - a.seq);
}
