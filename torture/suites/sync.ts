/**
 * Weeks of pushes, clones, folds, bases and sweeps in virtual time, on a network that loses, delays and stalls, with machines
 * that die: what a push claimed to be stored is there at the end.
 */
import { createSeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import { simulateHandingOn } from "../../packages/remote/test/simulation/hand-on.ts";
import { simulateTakingOver } from "../../packages/remote/test/simulation/take-over.ts";
import { simulate } from "../../packages/remote/test/simulation/simulate.ts";
import type { Suite } from "../suite.ts";

/** Long ones cost most, and find little that short ones do not. */
const DAYS = [8, 8, 8, 8, 10, 10, 10, 24];

export const sync: Suite = {
  name: "sync",
  unit: "simulations",
  goal: 1_000,
  short: 3,
  async round(round) {
    await simulateHandingOn(createSeededRandom(round.random.seed));
    await simulateTakingOver(createSeededRandom(round.random.seed));
    await simulate({ random: round.random, machines: 3, days: round.random.pick(DAYS) });
    round.count("without a loss");
  },
};
