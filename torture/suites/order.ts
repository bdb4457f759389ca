/**
 * Random orders of what agents, a person and Belay's own commands do, through the real command and the real
 * hook, against a plain model of undo: after each undo, redo and restore the files are the model's.
 */
import { rmSync } from "node:fs";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import { describeAction, randomActions, type Action } from "../order/actions.ts";
import { FIRST_FILES, Play } from "../order/play.ts";
import { Home, Stage } from "../order/stage.ts";
import { isPlanted, type Round, type Suite } from "../suite.ts";

const SEQUENCES_A_ROUND = 25;
/** This many are played at a time: they mostly wait for processes. */
const LANES = 3;
const TRIES = 4;

export const order: Suite = {
  name: "order",
  unit: "sequences",
  goal: 500,
  short: 24,
  async round(round) {
    const base = makeDirectory("belay-order-");
    try {
      const each = Math.min(SEQUENCES_A_ROUND, Math.ceil(round.left / 2));
      for (const isResident of [true, false]) {
        if (round.isOver) return;
        await using home = new Home(base, isResident);
        await home.start();
        const sequences = Array.from({ length: Math.min(each, round.left) }, () =>
          randomActions(round.random),
        );
        const failed: Failed[] = [];
        await Promise.all(Array.from({ length: LANES }, () => playLane(home, { sequences, round, failed })));
        // for a planted bug it is enough that it was noticed
        if (failed.length > 0) throw isPlanted ? failed[0]!.error : await explain(home, failed[0]!);
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
};

interface Failed {
  readonly actions: readonly Action[];
  readonly error: unknown;
}

let number = 0;

async function playLane(
  home: Home,
  { sequences, round, failed }: { sequences: Action[][]; round: Round; failed: Failed[] },
): Promise<void> {
  for (let actions = sequences.shift(); actions !== undefined; actions = sequences.shift()) {
    if (round.isOver || failed.length > 0) return;
    const result = await attempt(home, actions);
    if (result === undefined) continue;
    if (result.error !== undefined) failed.push({ actions: result.done, error: result.error });
    else round.count(home.isResident ? "with the resident process" : "without");
  }
}

/**
 * What went wrong, and what was done until then; undefined when a hook released its agent before it was done each time:
 * such a run proves nothing, and does not count.
 */
async function attempt(
  home: Home,
  actions: readonly Action[],
): Promise<{ error?: unknown; done: Action[] } | undefined> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const result = await playOnce(home, actions);
    if (result.error === undefined || !result.wasLate) return result;
  }
  return undefined;
}

async function playOnce(
  home: Home,
  actions: readonly Action[],
): Promise<{ error?: unknown; done: Action[]; wasLate: boolean }> {
  const done: Action[] = [];
  const lateBefore = home.lateHooks();
  await using stage = await Stage.open(home, `stage-${++number}`, FIRST_FILES);
  const play = new Play(stage);
  try {
    for (const action of actions) {
      done.push(action);
      if (!(await play.act(action))) done.pop();
    }
    await stage.verify();
    return { done, wasLate: false };
  } catch (error) {
    return { error, done, wasLate: home.lateHooks() > lateBefore };
  } finally {
    await play.end();
  }
}

/** Removes what the failure does not need: halves, quarters … single actions. */
async function explain(home: Home, { actions, error }: Failed): Promise<Error> {
  let [shortest, cause] = [actions, error];
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length;) {
      const fewer = shortest.toSpliced(at, size);
      const failure = await attempt(home, fewer);
      if (failure?.error === undefined) at += size;
      else [shortest, cause] = [failure.done, failure.error];
    }
  }
  const how = home.isResident ? "with the resident process" : "without the resident process";
  return new Error(`This sequence fails, ${how}:\n${shortest.map(describeAction).join("\n")}`, { cause });
}
