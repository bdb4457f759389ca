/**
 * Two machines and a newcomer on a real S3 server, behind a proxy that does one thing wrong to one request: every fault at
 * every request of a push, a pull, a fetch, a synchronisation, a clone and two pushes at once, in random order.
 */
import { missingCeph, startCeph } from "../../packages/remote/test/support/ceph-server.ts";
import { createBucket } from "../../packages/remote/test/support/create-bucket.ts";
import { Machine } from "../../packages/remote/test/support/machines.ts";
import { NetworkTrials, WORKS } from "../../packages/remote/test/network/trials.ts";
import { playTrials } from "../play-trials.ts";
import type { Suite } from "../suite.ts";

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
      await playTrials({ round, trials, works: WORKS }, (_, kinds) => round.random.below(kinds));
    } finally {
      for (const end of endings.toReversed()) await end();
      await server.stop();
    }
  },
};
