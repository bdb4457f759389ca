/**
 * How many rows the timeline has, and on which days. Counting walks through the whole history, about 10 ms for 10,000
 * checkpoints; a page of it costs less. The counts are kept until anything is written to the store.
 */
import type { Happening } from "../history/happenings.ts";
import type { System } from "../model/system.ts";
import type { TimelineDay } from "../model/timeline.ts";
import type { Database } from "../store/database.ts";

/** The counts of one question. */
export interface Counts {
  readonly total: number;
  readonly days: readonly TimelineDay[];
}

const REMEMBERED = 100;

/** The counts of questions that were asked since the store changed. */
export class Census {
  readonly #db: Database;
  readonly #known = new Map<string, Counts>();
  #version = "";

  constructor(db: Database) {
    this.#db = db;
  }

  /** The counts for a question, if it was asked before; `keep` is for what is counted now. */
  find(question: string): { readonly counts: Counts | undefined; readonly keep: (counts: Counts) => void } {
    // taken before counting: what is written meanwhile makes the counts old
    const version = this.#db.version();
    if (version !== this.#version || this.#known.size >= REMEMBERED) this.#known.clear();
    this.#version = version;
    return { counts: this.#known.get(question), keep: (counts) => this.#known.set(question, counts) };
  }
}

/** Counts what it is shown. */
export class DayCounter {
  readonly #system: System;
  readonly #days = new Map<string, number>();
  #total = 0;

  constructor(system: System) {
    this.#system = system;
  }

  add({ at }: Happening): void {
    const { year, month, day } = this.#system.toLocal(at);
    const two = (number: number) => String(number).padStart(2, "0");
    const name = `${year}-${two(month)}-${two(day)}`;
    this.#days.set(name, (this.#days.get(name) ?? 0) + 1);
    this.#total += 1;
  }

  counts(): Counts {
    return { total: this.#total, days: [...this.#days].map(([day, count]) => ({ day, count })) };
  }
}
