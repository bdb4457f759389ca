/**
 * The rows of a workspace as the server has them: pages from the newest on, patched by events, never reloaded. Rows that
 * came while the reader looked elsewhere wait until they are asked for. [R2360] A reader who goes far down gets the rows
 * there and none of those between: one stretch further down is kept, which becomes one with the others where they meet.
 */
import type { BelayEvent, CallOutput } from "@belay/protocol";
import type { Belay } from "./belay.tsx";
import { NoAnswer } from "./client.ts";
import { joined, lowest, meet, merged, type Places, type Stretch } from "./stretches.ts";
import { FIRST_PAGE, historyQuery, takeFirstRows, type HistoryFilter } from "./first-rows.ts";

type Answer = CallOutput<"GET /api/history">;
/** One thing that happened. */
export type HistoryRow = Answer["rows"][number];
/** What lies on the disk now, compared with the rows. */
export type Now = NonNullable<Answer["now"]>;

/** What is known of the history. */
export interface History {
  readonly rows: readonly HistoryRow[];
  /** How many rows follow each other from the newest on; the others are a stretch further down. */
  readonly head: number;
  /** How many rows are not loaded between the two, and below the last one. */
  readonly between: number;
  readonly below: number;
  /** Newer rows that wait behind the pill. */
  readonly waiting: readonly HistoryRow[];
  readonly total: number;
  readonly days: readonly { readonly day: string; readonly count: number }[];
  readonly now: Now | undefined;
  readonly isComplete: boolean;
  readonly isLoading: boolean;
  readonly error: Error | undefined;
}

/** How many rows are asked for where the reader scrolls on, or goes far. */
const PAGE = 100;
/** How many of them are above the place that the reader went to. */
const ABOVE = 30;
/** More rows are not asked for at once, also where old ones changed. */
const MOST_AT_ONCE = 1000;
/** Events of one turn come in bursts: the first is followed at once, those after it together. */
const EVENTS_MS = 100;

const NOTHING: History = {
  rows: [],
  head: 0,
  between: 0,
  below: 0,
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
  #head: Stretch = { rows: [], next: null };
  #far: (Stretch & { readonly at: number }) | undefined;
  #wanted: Places | undefined;
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

  /** Loads what is missing at these places, counted from the newest row, and some around them. */
  need(places: Places): Promise<void> {
    this.#wanted = places;
    this.#loading ??= this.#loadWanted().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Loads the rows around the one with this ref, unless it is there; one that the filter leaves out is not found. */
  async find(ref: string): Promise<void> {
    if (this.#history.rows.some((row) => row.ref === ref)) return;
    try {
      this.#place(await this.#ask({ around: ref, limit: PAGE }));
    } catch {
      // an address may name what is gone: the rows that are there stay
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
    const { waiting } = this.#history;
    if (!this.#mayMove || waiting.length === 0) return;
    this.#head = { ...this.#head, rows: merged(this.#head.rows, waiting) };
    if (this.#far !== undefined) this.#far = { ...this.#far, at: this.#far.at + waiting.length };
    this.#set({ waiting: [] });
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

  #ask(options: { before?: number; skip?: number; around?: string; limit: number }): Promise<Answer> {
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
      this.#head = { rows, next };
      this.#event = event;
      this.#set({
        total: total ?? rows.length,
        days: days ?? [],
        now: now ?? undefined,
        isLoading: false,
        error: undefined,
      });
      if (this.#connectedAt !== undefined && this.#connectedAt > event) this.refresh();
    } catch (error) {
      this.#set({ isLoading: false, error: error as Error });
    }
  }

  async #loadWanted(): Promise<void> {
    for (let places = this.#wanted; places !== undefined; places = this.#wanted) {
      this.#wanted = undefined;
      try {
        await this.#load(places);
      } catch (error) {
        this.#set({ error: error as Error });
        return;
      }
    }
  }

  /** Goes on where the places are near what is there; else asks for a page around them. */
  async #load({ first, last }: Places): Promise<void> {
    const [head, far] = [this.#head, this.#far];
    const limit = Math.min(MOST_AT_ONCE, Math.max(PAGE, last - first + ABOVE));
    if (head.next !== null && first < head.rows.length + PAGE) {
      const { rows, next } = await this.#ask({ before: head.next, limit });
      this.#head = { rows: merged(this.#head.rows, rows), next };
      return this.#set({});
    }
    const farEnd = far === undefined ? 0 : far.at + far.rows.length;
    if (far !== undefined && far.next !== null && first >= farEnd && first < farEnd + PAGE) {
      const { rows, next } = await this.#ask({ before: far.next, limit });
      if (this.#far !== undefined) this.#far = { ...this.#far, rows: merged(this.#far.rows, rows), next };
      return this.#set({});
    }
    if (head.next === null) return;
    const above = this.#history.waiting.length;
    const skip = Math.max(0, Math.min(first, this.#history.total - PAGE) - ABOVE) + above;
    this.#place(await this.#ask({ skip, limit: Math.min(MOST_AT_ONCE, limit + ABOVE) }));
  }

  /** Puts a page from further down where it belongs: to what it meets, or in the place of the stretch that was there. */
  #place({ rows, next, skipped }: Answer): void {
    const [newest] = rows;
    const { rows: known } = this.#head;
    if (newest === undefined || skipped === null) return;
    const page = { rows, next, at: skipped - this.#history.waiting.length };
    if (newest.seq >= (known.at(-1)?.seq ?? 0)) this.#head = joined(this.#head, page);
    else {
      const far = this.#far;
      const [first, second] = far === undefined || page.at <= far.at ? [page, far] : [far, page];
      const areOne = second !== undefined && meet(first, second);
      this.#far = areOne ? { ...joined(first, second), at: first.at } : page;
    }
    this.#set({});
  }

  /** Replaces rows that changed, adds new ones at the top or lets them wait. */
  async #patch(): Promise<void> {
    const loaded = this.#head.rows.length;
    const asksForAll = this.#asksForAll;
    const limit = asksForAll ? Math.min(MOST_AT_ONCE, Math.max(FIRST_PAGE, loaded)) : FIRST_PAGE;
    this.#asksForAll = false;
    try {
      this.#take(await this.#ask({ limit }));
      if (asksForAll) await this.#askFarAgain();
    } catch (error) {
      // what is shown stays; without an answer the connection's state says so
      if (!(error instanceof NoAnswer)) this.#set({ error: error as Error });
    }
  }

  /** The newest rows as the server has them now. */
  #take(answer: Answer): void {
    const { rows, days, now, next, event } = answer;
    this.#event = event;
    // read after the answer: a further page may have come meanwhile
    const { waiting, total: before } = this.#history;
    const total = answer.total ?? before;
    const { rows: known } = this.#head;
    const newest = known[0]?.seq ?? 0;
    const isFresh = (row: HistoryRow) => row.seq > newest;
    const fresh = rows.filter(isFresh);
    const old = rows.filter((row) => !isFresh(row));
    const oldest = rows.at(-1)?.seq ?? 0;
    // a row of this stretch that the server no longer has is gone
    const kept = known.filter(({ seq }) => next !== null && seq < oldest);
    const rest = merged(old, kept);
    const nowWaiting = this.#mayMove ? [] : merged(waiting, fresh);
    this.#head = {
      rows: this.#mayMove ? merged(rest, fresh) : rest,
      next: known.length === 0 || next === null ? next : lowest(this.#head.next, next),
    };
    if (this.#far !== undefined) {
      const moved = total - nowWaiting.length - (before - waiting.length);
      this.#far = { ...this.#far, at: this.#far.at + moved };
    }
    this.#set({
      waiting: nowWaiting,
      total,
      days: days ?? this.#history.days,
      now: now ?? undefined,
      isLoading: false,
      error: undefined,
    });
  }

  /** Old rows changed: those further down are asked for again. */
  async #askFarAgain(): Promise<void> {
    const far = this.#far;
    if (far === undefined) return;
    const above = this.#history.waiting.length;
    const { rows, next, skipped } = await this.#ask({
      skip: far.at + above,
      limit: Math.min(MOST_AT_ONCE, far.rows.length),
    });
    // the reader may have gone elsewhere meanwhile
    if (this.#far !== far || skipped === null || rows.length === 0) return;
    this.#far = { rows, next, at: skipped - above };
    this.#set({});
  }

  /** Tells the listeners what is known now. */
  #set(part: Partial<Omit<History, Counted>>): void {
    if (this.#far !== undefined && meet(this.#head, this.#far)) {
      this.#head = joined(this.#head, this.#far);
      this.#far = undefined;
    }
    const history = { ...this.#history, ...part };
    const shown = history.total - history.waiting.length;
    const [head, far] = [this.#head.rows, this.#far];
    const next = far === undefined ? this.#head.next : far.next;
    const end = far === undefined ? head.length : far.at + far.rows.length;
    this.#history = {
      ...history,
      rows: far === undefined ? head : [...head, ...far.rows],
      head: head.length,
      between: far === undefined ? 0 : Math.max(1, far.at - head.length),
      below: next === null ? 0 : Math.max(1, shown - end),
      isComplete: next === null && !history.isLoading,
    };
    for (const listener of this.#listeners) listener();
  }
}

/** What follows from the rows. */
type Counted = "rows" | "head" | "between" | "below" | "isComplete";
