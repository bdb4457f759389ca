/** What the synchronisation needs of the world: tests and simulations have their own. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** The clock, chance and waiting. */
export interface Surroundings {
  readonly now: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly sleep: (ms: number) => Promise<void>;
  /** Gives memory back now that would be given back some time: called once for tens of megabytes. */
  readonly collectGarbage?: () => void;
}

/** The real ones. */
export const REAL_SURROUNDINGS: Surroundings = {
  now: Date.now,
  random: randomBytes,
  sleep: async (ms) => void (await sleep(ms)),
};
