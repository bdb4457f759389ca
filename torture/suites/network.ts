/**
 * Two machines and a newcomer on a real S3 server, behind a proxy that does one thing wrong to one request: every fault at
 * every request of a push, a pull, a fetch, a synchronisation, a clone and two pushes at once, in random order.
 */
import { missingCeph, startCeph } from "../../packages/remote/test/support/ceph-server.ts";
import { createBucket } from "../../packages/remote/test/support/create-bucket.ts";
import { Machine } from "../../packages/remote/test/support/machines.ts";
import { NetworkTrials, WORKS, type Trial } from "../../packages/remote/test/network/trials.ts";
import type { Suite } from "../suite.ts";

/** The whole space is read, and cloned, after so many tries. */
const BETWEEN_LOOKS = 50;

export const network: Suite = {
  name: "network",
  unit: "faults",
  goal: 1_500,
  short: 12,
  missing: missingCeph,
  async round(round) {
    const endings: (() => unknown)[] = [];
    Machine.atEnd = (work) => void endings.push(work);
    const server = await startCeph();
    try {
      await createBucket(server, "belay");
      await using trials = await NetworkTrials.start(server);
      const waiting: Trial[][] = [];
      for (const work of WORKS) waiting.push(await trials.trialsOf(work));
      for (let n = 1; !round.isOver && waiting.length > 0; n += 1) {
        const which = round.random.below(waiting.length);
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
      await server.stop();
    }
  },
};
