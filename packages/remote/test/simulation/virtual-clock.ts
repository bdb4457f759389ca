/** Time that passes only while all machines wait: hours of a simulation take no time at all. */
import { setImmediate as nextTurn } from "node:timers/promises";

interface Wait {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

/** A clock, and sleep by it. */
export class VirtualClock {
  #now: number;
  #order = 0;
  #waits: Wait[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      this.#waits.push({ at: this.#now + Math.max(0, ms), order: this.#order++, wake: resolve });
    });

  /** Runs until the work is done; whatever waits longer stays waiting. */
  async run(work: Promise<void>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // its failure is thrown at the end
    done.catch(() => undefined);
    await nextTurn();
    while (!isDone) {
      const next = this.#earliest();
      if (next === undefined) throw new Error("everything waits, and nothing will happen");
      this.#waits = this.#waits.filter((wait) => wait !== next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await nextTurn();
    }
    await done;
  }

  #earliest(): Wait | undefined {
    let earliest: Wait | undefined;
    for (const wait of this.#waits)
      if (
        earliest === undefined ||
        wait.at < earliest.at ||
        (wait.at === earliest.at && wait.order < earliest.order)
      )
        earliest = wait;
    return earliest;
  }
}
