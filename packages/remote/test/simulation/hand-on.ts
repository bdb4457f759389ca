/**
 * The same content, handed on from line to line while it is being swept: each new line borrows it and names it at the very
 * moment that its lender has given it up and a sweep has looked. Then a segment is on its way for so long that what it names
 * is swept. Weather brings this about once in many weeks; here it is all that happens.
 */
import assert from "node:assert/strict";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { push, pushBase } from "../../src/sync/push.ts";
import { sweepSpace } from "../../src/sync/sweep.ts";
import { CALM, DAY_MS, FILES, HOUR_MS, NAME, World, type Machine } from "./world.ts";

const TIMES = 5;

/** Hands content on a few times; throws when something is lost. */
export async function simulateHandingOn(random: SeededRandom): Promise<void> {
  const world = new World(random);
  await world.run(async () => {
    const { names } = world.space;
    const first = world.create(null);
    world.machines.push(first);
    world.checkpoint(first, FILES);
    await push({ ...world.target(first, world.connect(CALM)), inlineBytes: 0 }, NAME);
    let lender = first;
    for (let n = 0; n < TIMES; n++) {
      await world.clock.sleep((74 + random.below(40)) * HOUR_MS);
      const borrower = await world.clone(lender.history.entry.line, world.connect(CALM));
      const segment = new Gate(names.segment(borrower.history.entry.line, 1));
      const pushing = push(world.target(borrower, world.connect(CALM, segment.hold)), NAME);
      await segment.reached;
      await giveUp(world, lender, random.below(2) === 0);
      if (random.below(3) > 0) {
        // what a sweep saw is older than what it says
        const saying = new Gate(names.sweeps);
        const sweeping = sweep(world, saying);
        await saying.reached;
        segment.open();
        await pushing;
        saying.open();
        await sweeping;
      } else {
        for (let looks = random.below(3); looks >= 0; looks--) await sweep(world);
        segment.open();
        await pushing;
      }
      for (let looks = random.below(3); looks >= 0; looks--) {
        await world.clock.sleep(random.pick([1, 74]) * HOUR_MS);
        await sweep(world);
      }
      assert.deepEqual(world.lost, []);
      for (const machine of [lender, borrower]) await world.check(machine, DAY_MS);
      lender = borrower;
    }
    await commitLate(world, lender);
  });
}

/** A segment comes when sweeps have taken its parcels for the rest of a push that never ended. */
async function commitLate(world: World, machine: Machine): Promise<void> {
  const { line, segment: number } = machine.history.entry;
  const segment = new Gate(world.space.names.segment(line, number + 1));
  world.checkpoint(machine, FILES);
  const target = { ...world.target(machine, world.connect(CALM, segment.hold)), inlineBytes: 0 };
  const pushing = push(target, NAME);
  await segment.reached;
  for (let looks = 1 + world.random.below(3); looks > 0; looks--) {
    await world.clock.sleep((74 + world.random.below(10)) * HOUR_MS);
    await sweep(world);
  }
  segment.open();
  await pushing;
  await world.clock.sleep(74 * HOUR_MS);
  await sweep(world);
  assert.deepEqual(world.lost, []);
  await world.check(machine, DAY_MS);
}

/** Other files take the place of all that the line of a machine has, and its base lets those go. */
async function giveUp(world: World, machine: Machine, isForgetting: boolean): Promise<void> {
  const target = world.target(machine, world.connect(CALM));
  const { history, state } = machine;
  if (isForgetting) {
    const name = world.random.pick(state);
    history.forget(name);
    state.splice(0, Infinity, ...state.filter((one) => one !== name));
  }
  world.checkpoint(machine, FILES);
  await push(target, NAME);
  await pushBase(target, NAME, { allDays: 1, turnDays: 1, isForgetting });
}

async function sweep(world: World, gate?: Gate): Promise<void> {
  const space = { ...world.space, store: world.connect(CALM, gate?.hold) };
  await sweepSpace(space, { keys: world.keys, random: world.bytes, isDryRun: false });
}

/** Holds the PUT of a key, or of one that begins so, until it is opened. */
class Gate {
  readonly reached: Promise<void>;
  readonly hold: (key: string) => Promise<void>;
  open!: () => void;

  constructor(key: string) {
    const opened = new Promise<void>((resolve) => (this.open = resolve));
    let reach!: () => void;
    this.reached = new Promise((resolve) => (reach = resolve));
    this.hold = async (asked) => {
      if (!asked.startsWith(key)) return;
      reach();
      await opened;
    };
  }
}
