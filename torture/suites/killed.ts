/**
 * Pushes, pulls, synchronisations, fetches, clones, shares and handoffs in processes of their own, each killed at any request,
 * before the server did it or after, and at any change of a file or of the store, in random order.
 */
import { hasCompiler } from "../../packages/engine/test/support/fault-lab.ts";
import { Machine } from "../../packages/remote/test/support/machines.ts";
import { KILLED_WORKS, KillTrials, type KillTrial } from "../../packages/remote/test/network/kill-trials.ts";
import type { Suite } from "../suite.ts";

/** The whole space is read, and cloned, after so many tries. */
const BETWEEN_LOOKS = 50;

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
      const waiting: KillTrial[][] = [];
      for (const work of KILLED_WORKS) waiting.push(await trials.trialsOf(work));
      // each kind of work in turn: a short form has some of all
      for (let n = 1; !round.isOver && waiting.length > 0; n += 1) {
        const which = n % waiting.length;
        const [trial] = waiting[which]!.splice(round.random.below(waiting[which]!.length), 1);
        if (waiting[which]!.length === 0) waiting.splice(which, 1);
        try {
          round.count(`${trial!.work} ${await trials.run(trial!)}`);
        } catch (cause) {
          throw new Error(`after ${JSON.stringify(trial)}`, { cause });
        }
        if (n % BETWEEN_LOOKS === 0) await trials.finish();
      }
      await trials.finish();
    } finally {
      for (const end of endings.toReversed()) await end();
    }
  },
};
