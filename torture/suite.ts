/**
 * What a suite is and how it runs: in rounds, each made from one seed. `npm run torture <suite> -- --seed
 * <its seed>` repeats a failed round.
 */
import { createSeededRandom, type SeededRandom } from "../packages/engine/test/support/seeded-random.ts";

/** True in a process that runs with a planted bug. */
export const isPlanted = process.env["BELAY_PLANTED_BUG"] !== undefined;

export interface Suite {
  readonly name: string;
  /** What is counted, in the plural. */
  readonly unit: string;
  /** How many tries count as proof. */
  readonly goal: number;
  /** How many tries are part of the ordinary tests. */
  readonly short: number;
  /** True when it needs a process whose file calls can be made to fail. */
  readonly underShim?: boolean;
  /** Why it cannot run on this machine. */
  readonly missing?: () => string | undefined;
  /** What it leaves out on this machine, and why. */
  readonly leftOut?: () => string | undefined;
  /** Tries as many things as time allows; all randomness comes from the round. */
  round(round: Round): Promise<void>;
}

export interface Round {
  readonly random: SeededRandom;
  /** True when no more tries are needed. */
  readonly isOver: boolean;
  /** How many tries are left; Infinity when the time decides. */
  readonly left: number;
  /** Counts a try that passed. */
  count(kind: string, number?: number): void;
}

export interface Limits {
  readonly seed: number;
  readonly runs: number;
  readonly seconds: number;
}

export interface Result {
  readonly count: number;
  readonly kinds: ReadonlyMap<string, number>;
  readonly seconds: number;
  readonly rounds: number;
  readonly failure?: { readonly seed: number; readonly error: unknown };
}

/** Runs rounds until enough was tried, the time is up or something is wrong. */
export async function runSuite(
  suite: Suite,
  limits: Limits,
  progress: (result: Result) => void,
): Promise<Result> {
  const started = performance.now();
  const kinds = new Map<string, number>();
  let count = 0;
  let rounds = 0;
  let shownAt = 0;
  const seconds = () => (performance.now() - started) / 1000;
  const state = (): Result => ({ count, kinds, seconds: seconds(), rounds });
  const isOver = () => count >= limits.runs || seconds() >= limits.seconds;
  while (!isOver()) {
    const seed = limits.seed + rounds;
    rounds += 1;
    const round: Round = {
      random: createSeededRandom(seed),
      get isOver() {
        return isOver();
      },
      get left() {
        return limits.runs - count;
      },
      count(kind, number = 1) {
        count += number;
        kinds.set(kind, (kinds.get(kind) ?? 0) + number);
        if (seconds() - shownAt < PROGRESS_SECONDS) return;
        shownAt = seconds();
        progress(state());
      },
    };
    try {
      await suite.round(round);
    } catch (error) {
      return { ...state(), failure: { seed, error } };
    }
  }
  return state();
}

const PROGRESS_SECONDS = 5;
