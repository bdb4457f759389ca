/**
 * The same content, handed on from line to line while it is being swept: each new line borrows it and names it at the very
 * moment that its lender has given it up and a sweep has looked. Then a segment is on its way for so long that what it names
 * is swept. Weather brings this about once in many weeks; here it is all that happens.
 */
import assert from "node:assert/strict";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { push, pushBase } from "../../src/sync/push.ts";
import { Gate, sweep } from "./gate.ts";
import { CALM, DAY_MS, FILES, HOUR_MS, NAME, World, type Machine } from "./world.ts";

const TIMES = 5;

/** Hands content on a few times; throws when something is lost. */
export async function simulateHandingOn(random: SeededRandom): Promise<void> {
  const world = new World(random);
  await world.run(1, async () => {
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
    await uploadLate(world, lender);
    await restateLate(world, lender);
    await raceCollectors(world, lender);
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
  // [R2220] or it was switched off for longer than sweeps remember
  if (world.random.below(3) === 0) {
    await world.clock.sleep(100 * DAY_MS);
    await sweep(world);
  }
  segment.open();
  await pushing;
  await world.clock.sleep(74 * HOUR_MS);
  await sweep(world);
  assert.deepEqual(world.lost, []);
  await world.check(machine, DAY_MS);
}

/** A parcel is stored, but the answer is lost; when it is sent again and answered, sweeps have condemned it, or deleted it. */
async function uploadLate(world: World, machine: Machine): Promise<void> {
  // no base is due for a week
  await giveUp(world, machine, false);
  world.checkpoint(machine, FILES);
  const { names } = world.space;
  const tried = new Gate(names.parcels);
  const store = world.connect(CALM);
  const put = store.put.bind(store);
  store.put = async (key, bytes, how) => {
    if (key.startsWith(names.parcels)) await world.server.put(key, bytes, how);
    await tried.hold(key);
    return put(key, bytes, how);
  };
  const pushing = push({ ...world.target(machine, store), inlineBytes: 0 }, NAME);
  await Promise.race([tried.reached, pushing]);
  for (let looks = 1 + world.random.below(2); looks > 0; looks--) {
    await world.clock.sleep((74 + world.random.below(10)) * HOUR_MS);
    await sweep(world);
  }
  tried.open();
  await pushing;
  await world.clock.sleep(74 * HOUR_MS);
  await sweep(world);
  assert.deepEqual(world.lost, []);
  await world.check(machine, DAY_MS);
}

/**
 * A base comes when sweeps have said that its parcels are deleted, and its machine stays away before it repairs that. Some
 * collectors die before they delete anything.
 */
async function restateLate(world: World, machine: Machine): Promise<void> {
  const { line } = machine.history.entry;
  world.checkpoint(machine, FILES);
  await push({ ...world.target(machine, world.connect(CALM)), inlineBytes: 1_000_000 }, NAME);
  const { segment: number } = machine.history.entry;
  const { names } = world.space;
  const base = new Gate(names.fold(line, { from: 1, to: number }));
  const repair = new Gate(names.segment(line, number + 1));
  const hold = async (key: string) => {
    await base.hold(key);
    await repair.hold(key);
  };
  const target = { ...world.target(machine, world.connect(CALM, hold)), inlineBytes: 0 };
  const retention = { allDays: 1, turnDays: 1, isForgetting: false };
  const restating = pushBase(target, NAME, retention);
  await Promise.race([base.reached, restating]);
  const isDying = world.random.below(2) === 0;
  const wait = async () => {
    await world.clock.sleep((74 + world.random.below(10)) * HOUR_MS);
    await sweep(world, undefined, isDying);
  };
  for (let looks = 3; looks > 0; looks--) await wait();
  base.open();
  await Promise.race([repair.reached, restating]);
  for (let looks = 3; looks > 0; looks--) await wait();
  await sweep(world);
  repair.open();
  await restating;
  assert.deepEqual(world.lost, []);
  await world.check(machine, DAY_MS);
}

/**
 * Two collectors. The first has looked, or said what it will delete, and then sleeps. Meanwhile a new line names some of that, and the
 * second pardons it before the new line looks. The sleeper must not delete it.
 */
async function raceCollectors(world: World, lender: Machine): Promise<void> {
  const { names } = world.space;
  await world.clock.sleep(74 * HOUR_MS);
  const borrower = await world.clone(lender.history.entry.line, world.connect(CALM));
  const { line } = borrower.history.entry;
  const segment = new Gate(names.segment(line, 1));
  const look = new Gate(names.head(line));
  const hold = async (key: string) => {
    await segment.hold(key);
    await look.hold(key);
  };
  const pushing = push(world.target(borrower, world.connect(CALM, hold)), NAME);
  await Promise.race([segment.reached, pushing]);
  await giveUp(world, lender, false);
  await sweep(world);
  await world.clock.sleep(74 * HOUR_MS);
  const [saying, removing] = [new Gate(names.sweeps), new Gate("remove")];
  const isSaid = world.random.below(2) === 0;
  const sleeper = isSaid ? sweep(world, undefined, removing) : sweep(world, saying);
  await Promise.race([isSaid ? removing.reached : saying.reached, sleeper]);
  segment.open();
  await Promise.race([look.reached, pushing]);
  await sweep(world);
  look.open();
  await pushing;
  for (const gate of [saying, removing]) gate.open();
  await sleeper;
  assert.deepEqual(world.lost, []);
  for (const machine of [lender, borrower]) await world.check(machine, DAY_MS);
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
