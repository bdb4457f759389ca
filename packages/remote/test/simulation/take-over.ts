/**
 * Lines that an admin adopts and lines that are encrypted again, each at the worst moment: the writer is in the middle of a push, the
 * adopter sleeps before its base arrives, two bases restate the same segments, sweeps look in between. Weather brings these about
 * once in many weeks; here it is all that happens.
 */
import assert from "node:assert/strict";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { DamageError } from "../../src/parcel/damage.ts";
import { removeMember, rotateSecret, takeOver } from "../../src/space/change-roster.ts";
import { restateAdopted } from "../../src/sync/adopted-lines.ts";
import { Mirror } from "../../src/sync/mirror.ts";
import { push, pushBase, rewriteLine } from "../../src/sync/push.ts";
import { Gate, sweep } from "./gate.ts";
import { CALM, DAY_MS, FILES, HOUR_MS, NAME, World, type Hold, type Machine } from "./world.ts";

/** As old as a line must be before it lets something go by itself. */
const WEEK_MS = 8 * DAY_MS;

/** Takes lines over and encrypts them again a few times; throws when something is lost. */
export async function simulateTakingOver(random: SeededRandom): Promise<void> {
  const world = new World(random);
  await world.run(1, async () => {
    const admin = world.create(null);
    world.machines.push(admin);
    await send(world, admin);
    const scenes = [writeLate, askLate, restateTwice, restateLate, comeBack, encryptLate, leave];
    for (const scene of scenes) {
      const machine = world.create(null, await world.admit("member"));
      world.machines.push(machine);
      for (let n = 2 + random.below(3); n > 0; n--) await send(world, machine);
      await scene(world, admin, machine);
      assert.deepEqual(world.lost, []);
      await world.look();
      for (const line of world.taken) await world.expectWhole(line);
      for (const one of [admin, machine]) await world.check(one, DAY_MS);
    }
  });
}

/** A checkpoint that changes some files, or all, and its push. */
async function send(world: World, machine: Machine, hold?: Hold): Promise<void> {
  world.checkpoint(machine, world.random.pick([1, 2, FILES]));
  const store = world.connect(CALM, hold);
  await world.refresh(machine, store);
  await push({ ...world.target(machine, store), inlineBytes: world.random.below(2) * 1_000_000 }, NAME);
}

function oldest({ history }: Machine): readonly string[] {
  return [...history.checkpointsById.values()][0]!.objects;
}

async function adopt(world: World, admin: Machine, { history }: Machine): Promise<void> {
  world.taken.add(history.entry.line);
  const changing = { admin: admin.keys, random: world.bytes };
  await takeOver(await world.refresh(admin, world.server), history.entry.line, changing);
  await world.look();
}

/** The adopter looks at what it adopted, and restates it. */
async function restate(world: World, admin: Machine, hold?: Hold): Promise<void> {
  const store = world.connect(CALM, hold);
  await world.refresh(admin, store);
  const target = { ...world.target(admin, store), inlineBytes: world.random.below(2) * 1_000_000 };
  await restateAdopted({ ...target, remote: admin.history.entry, receiveStore: world.receiveStore });
}

async function sweeps(world: World, most: number): Promise<void> {
  for (let looks = world.random.below(most + 1); looks > 0; looks--) {
    await world.clock.sleep((74 + world.random.below(10)) * HOUR_MS);
    await sweep(world);
  }
}

/** The writer slept in the middle of a push: its segment comes when the line was adopted, and maybe restated and swept. */
async function writeLate(world: World, admin: Machine, machine: Machine): Promise<void> {
  const { line, segment: number } = machine.history.entry;
  if (world.random.below(3) > 0) await world.clock.sleep(WEEK_MS);
  const segment = new Gate(world.space.names.segment(line, number + 1));
  // its user went back to what an adopter lets go
  if (world.random.below(2) === 0) machine.state.splice(0, Infinity, ...oldest(machine));
  const pushing = send(world, machine, segment.hold);
  await segment.reached;
  await world.clock.sleep(world.random.below(90) * 60_000);
  await adopt(world, admin, machine);
  // within the time that it may not know, or long after
  await world.clock.sleep(
    world.random.pick([0, 30 * 60_000, 55 * 60_000, 61 * 60_000, 3 * HOUR_MS, WEEK_MS]),
  );
  await restate(world, admin);
  await sweeps(world, 2);
  segment.open();
  await pushing;
  await world.clock.sleep(WEEK_MS);
  await restate(world, admin);
  await sweeps(world, 3);
}

/** The writer slept between its question who the members are and its push: what it knows is older than the adoption. */
async function askLate(world: World, admin: Machine, machine: Machine): Promise<void> {
  if (world.random.below(3) > 0) await world.clock.sleep(WEEK_MS);
  const store = world.connect(CALM);
  await world.refresh(machine, store);
  await world.clock.sleep(world.random.below(90) * 60_000);
  await adopt(world, admin, machine);
  await world.clock.sleep(world.random.pick([0, 61 * 60_000, 3 * HOUR_MS, WEEK_MS]));
  await restate(world, admin);
  await sweeps(world, 2);
  world.checkpoint(machine);
  await push(world.target(machine, store), NAME);
  await world.clock.sleep(WEEK_MS);
  await restate(world, admin);
  await sweeps(world, 2);
}

/** Two processes of the adopter restate the same segments; the older base comes late, when the newer one may be all there is. */
async function restateTwice(world: World, admin: Machine, machine: Machine): Promise<void> {
  await world.clock.sleep(WEEK_MS);
  await adopt(world, admin, machine);
  await world.clock.sleep(3 * HOUR_MS);
  const { names } = world.space;
  const base = new Gate(names.fold(machine.history.entry.line, { from: 1, to: 0 }).slice(0, -12));
  const late = restate(world, admin, base.hold);
  await Promise.race([base.reached, late]);
  await restate(world, admin);
  await sweeps(world, 3);
  base.open();
  await late;
  await sweeps(world, 3);
}

/** The adopter slept before its base came: what that names may have been swept meanwhile. */
async function restateLate(world: World, admin: Machine, machine: Machine): Promise<void> {
  await world.clock.sleep(WEEK_MS);
  await adopt(world, admin, machine);
  await world.clock.sleep(3 * HOUR_MS);
  const { names } = world.space;
  const base = new Gate(names.fold(machine.history.entry.line, { from: 1, to: 0 }).slice(0, -12));
  const store = world.connect(CALM, base.hold);
  await world.refresh(admin, store);
  const target = { ...world.target(admin, store), inlineBytes: 0 };
  const late = restateAdopted({ ...target, remote: admin.history.entry, receiveStore: world.receiveStore });
  await Promise.race([base.reached, late]);
  await sweeps(world, 4);
  base.open();
  await late;
  await world.look();
  await world.expectWhole(machine.history.entry.line);
  await sweeps(world, 3);
  await world.clock.sleep(WEEK_MS);
  await restate(world, admin);
  await sweeps(world, 3);
}

/** The lost machine comes back, before or after its line was restated and swept, with something in its journal or not. */
async function comeBack(world: World, admin: Machine, machine: Machine): Promise<void> {
  const { line, segment: number } = machine.history.entry;
  if (world.random.below(2) === 0) {
    const segment = new Gate(world.space.names.segment(line, number + 1));
    void send(world, machine, segment.hold);
    await segment.reached;
  }
  await adopt(world, admin, machine);
  await world.clock.sleep(world.random.pick([5 * 60_000, 3 * HOUR_MS, WEEK_MS]));
  await restate(world, admin);
  await sweeps(world, 3);
  await send(world, machine);
  assert.notEqual(machine.history.entry.line, line, "[R2241] it went on with a line that it lost");
  await sweeps(world, 3);
}

/** A line is encrypted again, and the base of that comes when sweeps have looked; or its machine dies before, and begins again. */
async function encryptLate(world: World, admin: Machine, machine: Machine): Promise<void> {
  const { names } = world.space;
  const { line } = machine.history.entry;
  // something of the line is in a base by now
  if (world.random.below(2) === 0) {
    await world.clock.sleep(2 * DAY_MS);
    await pushBase(world.target(machine, world.connect(CALM)), NAME, {
      allDays: 1,
      turnDays: 1,
      isForgetting: false,
    });
    await send(world, machine);
  }
  const space = await world.refresh(admin, world.server);
  await rotateSecret(space, { admin: admin.keys, random: world.bytes }, true);
  await world.look();
  const base = new Gate(names.fold(line, { from: 1, to: 0 }).slice(0, -12));
  const store = world.connect(CALM, base.hold);
  await world.refresh(machine, store);
  const target = { ...world.target(machine, store), inlineBytes: 0 };
  const rewriting = rewriteLine(target, NAME);
  await Promise.race([base.reached, rewriting]);
  await sweeps(world, 4);
  base.open();
  await rewriting;
  await sweeps(world, 3);
  await world.check(machine, DAY_MS);
  await send(world, machine);
  const retention = { allDays: 1, turnDays: 1, isForgetting: false };
  // a fold of the same segments may be there
  while (!(await pushBase(world.target(machine, world.connect(CALM)), NAME, retention)))
    await send(world, machine);
  await sweeps(world, 3);
  // [R2245] what was lost meanwhile was sent again, under the new secret: a reader needs no older one
  const { secrets, ...now } = await world.look();
  const later = new Map([...secrets].filter(([generation]) => generation >= now.roster.roster.generation));
  await world.receive({ ...now, secrets: later }, line, new Mirror(":memory:", ""));
}

/** A member is taken out in the middle of a push, and its line adopted. */
async function leave(world: World, admin: Machine, machine: Machine): Promise<void> {
  const { line, segment: number } = machine.history.entry;
  const { names } = world.space;
  const late = world.random.pick([
    names.segment(line, number + 1),
    names.fold(line, { from: 1, to: number }),
  ]);
  const gate = new Gate(late);
  await world.clock.sleep(2 * DAY_MS);
  const target = world.target(machine, world.connect(CALM, gate.hold));
  const retention = { allDays: 1, turnDays: 1, isForgetting: false };
  const working = late.includes("-") ? pushBase(target, NAME, retention) : send(world, machine, gate.hold);
  const ended = working.then(
    () => undefined,
    (error: unknown) => {
      // it is told so, or meets what it has no secret for
      const isOut = (error as { code?: string }).code === "SPACE_KEY_MISSING" || error instanceof DamageError;
      if (!isOut) throw error;
    },
  );
  await Promise.race([gate.reached, ended]);
  world.taken.add(line);
  const changing = { admin: admin.keys, random: world.bytes };
  await removeMember(await world.refresh(admin, world.server), machine.keys.id, changing);
  await adopt(world, admin, machine);
  machine.isGone = true;
  await world.clock.sleep(world.random.pick([5 * 60_000, 3 * HOUR_MS, WEEK_MS]));
  await restate(world, admin);
  await sweeps(world, 3);
  gate.open();
  await ended;
  await world.clock.sleep(WEEK_MS);
  await restate(world, admin);
  await sweeps(world, 3);
}
