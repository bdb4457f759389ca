/**
 * Weeks of pushes, clones, folds, bases and sweeps in virtual time, on a network that loses, delays and stalls, with machines
 * that die: what a push claimed to be stored is there at the end.
 */
import { simulate } from "../../packages/remote/test/simulation/simulate.ts";
import type { Suite } from "../suite.ts";

export const sync: Suite = {
  name: "sync",
  unit: "simulations",
  goal: 1_000,
  short: 3,
  async round(round) {
    await simulate({ random: round.random, machines: 3, days: 24 });
    round.count("without a loss");
  },
};
