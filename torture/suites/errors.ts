/**
 * Any call that changes a file fails, once or permanently: the operation is done, or refused with the reason,
 * and says which.
 */
import { constants } from "node:os";
import { FaultScenes, missingShim, type Point } from "./faults.ts";
import type { Round, Suite } from "../suite.ts";

const { ENOSPC, EIO, EACCES, EMFILE, EDQUOT, EROFS } = constants.errno;
const ERRORS = { ENOSPC, EIO, EACCES, EMFILE, EDQUOT, EROFS };

export const errors: Suite = {
  name: "errors",
  unit: "failing calls",
  goal: 20_000,
  short: 150,
  underShim: true,
  missing: missingShim,
  async round(round) {
    const scenes = new FaultScenes();
    await scenes.build(round);
    for (const point of scenes.points(round)) {
      if (round.isOver) break;
      await failEachWay(scenes, point, round);
    }
    scenes.assertNoFailure();
  },
};

async function failEachWay(scenes: FaultScenes, point: Point, round: Round): Promise<void> {
  for (const [name, how] of Object.entries(ERRORS)) {
    if (round.isOver) return;
    const lasting = round.random.below(2) === 0;
    await scenes.strike(point, [{ at: point.at, how, lasting }], "judge");
    round.count(/sync/.test(point.call) ? "failing sync" : name);
  }
  if (!/^p?write/.test(point.call)) return;
  await scenes.strike(point, [{ at: point.at, how: "half", lasting: round.random.below(2) === 0 }], "judge");
  round.count("short write");
}
