/**
 * Killed at any call that changes a file: the next command finds the state before or after, and all
 * checkpoints are whole.
 */
import { EIO, FaultScenes, missingShim, type Point } from "./faults.ts";
import type { Suite } from "../suite.ts";

/** One in this many is really killed: a process for each takes most of the time. */
const KILLED_IN_TRUTH = 100;

export const crash: Suite = {
  name: "crash",
  unit: "kill points",
  goal: 10_000,
  short: 150,
  underShim: true,
  missing: missingShim,
  async round(round) {
    const scenes = new FaultScenes();
    await scenes.build(round);
    for (const [index, point] of scenes.points(round).entries()) {
      if (round.isOver) break;
      await kill(scenes, point, index % KILLED_IN_TRUTH === 0);
      round.count(point.scene.title);
      if (!/^p?write/.test(point.call)) continue;
      const torn = [
        { at: point.at, how: "half" as const },
        { at: point.at + 1, how: EIO, lasting: true },
      ];
      await scenes.strike(point, torn, "here");
      round.count("in the middle of a write");
    }
    scenes.assertNoFailure();
  },
};

async function kill(scenes: FaultScenes, point: Point, inTruth: boolean): Promise<void> {
  if (inTruth) return scenes.strike(point, [{ at: point.at, how: "kill" }], "apart");
  return scenes.strike(point, [{ at: point.at, how: EIO, lasting: true }], "here");
}
