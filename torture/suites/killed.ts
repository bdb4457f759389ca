/**
 * Pushes, pulls, synchronisations, fetches, clones, shares and handoffs in processes of their own, each killed at any request,
 * before the server did it or after, and at any change of a file or of the store, in random order.
 */
import { hasCompiler } from "../../packages/engine/test/support/fault-lab.ts";
import { Machine } from "../../packages/remote/test/support/machines.ts";
import { KILLED_WORKS, KillTrials } from "../../packages/remote/test/network/kill-trials.ts";
import { playTrials } from "../play-trials.ts";
import type { Suite } from "../suite.ts";

export const killed: Suite = {
  name: "killed",
  unit: "kills",
  goal: 2_000,
  short: 14,
  leftOut: () =>
    hasCompiler ? undefined : "without a C compiler processes are killed at requests, not at changes",
  async round(round) {
    const endings: (() => unknown)[] = [];
    Machine.atEnd = (work) => void endings.push(work);
    try {
      await using trials = await KillTrials.start();
      // each kind of work in turn: a short form has some of all
      await playTrials({ round, trials, works: KILLED_WORKS }, (n, kinds) => n % kinds);
    } finally {
      for (const end of endings.toReversed()) await end();
    }
  },
};
