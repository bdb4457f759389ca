/**
 * Many devices in one space, in virtual time: the real push, fold, base, sweep and reading, on a network that loses, delays and
 * stalls. It counts what the server is asked, from which costs are computed; at the end every line is read as a fresh machine
 * reads it. Here many lines meet in one listing; scenes in which steps matter are elsewhere.
 */
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { openSpace } from "../../src/space/space.ts";
import { RemoteFailure, type RemoteStore } from "../../src/stores/remote-store.ts";
import { Mirror } from "../../src/sync/mirror.ts";
import { push, pushBase } from "../../src/sync/push.ts";
import { sweepSpace } from "../../src/sync/sweep.ts";
import { MachineDied, type Weather } from "./network.ts";
import { CALM, DAY_MS, HOUR_MS, NAME, START, World, type Machine } from "./world.ts";

/** As many members share the devices. */
const MEMBERS = 20;
/** A listing answers so many keys at once. */
const PAGE = 1_000;
const KEPT_DAYS = 2;
const WEATHER: Weather = { lostRequest: 5, lostAnswer: 5, late: 3, stall: 1, death: 5 };

/** What the server was asked for one kind of work. */
export interface Asked {
  count: number;
  puts: number;
  gets: number;
  lists: number;
  deletes: number;
  bytesUp: number;
  bytesDown: number;
}

/** What came of it. */
export interface DevicesReport {
  readonly devices: number;
  readonly days: number;
  readonly pushes: Asked;
  readonly bases: Asked;
  readonly sweeps: Asked;
  /** Each line read as a fresh machine reads it. */
  readonly clones: Asked;
  readonly checkpoints: number;
  readonly objects: number;
  readonly bytes: number;
}

const nothing = (): Asked => ({ count: 0, puts: 0, gets: 0, lists: 0, deletes: 0, bytesUp: 0, bytesDown: 0 });

/** Runs so many devices for some days; throws when something is lost. */
export async function simulateDevices(
  random: SeededRandom,
  { devices, days }: { readonly devices: number; readonly days: number },
): Promise<DevicesReport> {
  const world = new World(random);
  const run = new Devices(world, START + days * DAY_MS);
  await world.run(KEPT_DAYS, () => run.play(devices));
  const { objects } = world.server;
  const bytes = [...objects.values()].reduce((sum, one) => sum + one.bytes.length, 0);
  const { pushes, bases, sweeps, clones } = run;
  return {
    devices,
    days,
    pushes,
    bases,
    sweeps,
    clones,
    checkpoints: world.checked,
    objects: objects.size,
    bytes,
  };
}

class Devices {
  readonly pushes = nothing();
  readonly bases = nothing();
  readonly sweeps = nothing();
  readonly clones = nothing();
  readonly #world: World;
  readonly #end: number;

  constructor(world: World, end: number) {
    this.#world = world;
    this.#end = end;
  }

  async play(devices: number): Promise<void> {
    const world = this.#world;
    const members = [];
    while (members.length < Math.min(MEMBERS, devices)) members.push(await world.admit("member"));
    // judging each deletion would ask every device: at the end every line is read instead
    world.server.judge = () => undefined;
    for (let n = 0; n < devices; n++) world.machines.push(world.create(null, members[n % members.length]));
    await Promise.all([...world.machines.map((machine) => this.#work(machine)), this.#collect()]);
    await Promise.all(world.networks.flatMap(({ late }) => late));
    for (const machine of world.machines) {
      await world.check(machine, KEPT_DAYS * DAY_MS);
      // without the network's waits: nothing else happens any more
      const store = counted(world.server, this.clones);
      await world.receive({ ...world.space, store }, machine.history.entry.line, new Mirror(":memory:", ""));
      this.clones.count++;
    }
  }

  async #work(machine: Machine): Promise<void> {
    const { clock, random } = this.#world;
    while (clock.now() < this.#end) {
      await clock.sleep(random.below(30 * HOUR_MS));
      this.#world.checkpoint(machine);
      await this.#push(machine, WEATHER);
      if (random.below(4) === 0) await this.#restate(machine);
    }
    while (machine.history.isQueued) await this.#push(machine, CALM);
  }

  async #push(machine: Machine, weather: Weather): Promise<void> {
    await survived(() =>
      this.#counting(this.pushes, async (store) => {
        const target = { ...this.#world.target(machine, store(weather)), foldSegments: 64 };
        return push(target, NAME);
      }),
    );
  }

  async #restate(machine: Machine): Promise<void> {
    const retention = { allDays: KEPT_DAYS, turnDays: KEPT_DAYS, isForgetting: false };
    await survived(() =>
      this.#counting(this.bases, (store) =>
        pushBase(this.#world.target(machine, store(WEATHER)), NAME, retention),
      ),
    );
  }

  async #collect(): Promise<void> {
    const { clock, keys, bytes } = this.#world;
    while (clock.now() < this.#end) {
      await clock.sleep(DAY_MS);
      await survived(() =>
        this.#counting(this.sweeps, async (store) => {
          // of thousands of requests one would always end it
          const space = await openSpace(store(CALM), this.#world.space.id, keys, this.#world.space);
          return sweepSpace(space, { keys, random: bytes, isDryRun: false });
        }),
      );
    }
  }

  /** Requests of other machines are not counted: each has a way of its own to the server. */
  async #counting(
    asked: Asked,
    work: (store: (weather: Weather) => RemoteStore) => Promise<unknown>,
  ): Promise<void> {
    await work((weather) => counted(this.#world.connect(weather), asked));
    asked.count++;
  }
}

/** A store whose requests are counted, as a provider bills them. */
function counted(store: RemoteStore, asked: Asked): RemoteStore {
  return {
    put: (key, bytes, how) => {
      asked.puts++;
      asked.bytesUp += bytes.length;
      return store.put(key, bytes, how);
    },
    get: async (key, range) => {
      asked.gets++;
      const got = await store.get(key, range);
      asked.bytesDown += got?.bytes.length ?? 0;
      return got;
    },
    list: async function* (prefix, after) {
      let keys = 0;
      asked.lists++;
      for await (const object of store.list(prefix, after)) {
        if (++keys % PAGE === 0) asked.lists++;
        yield object;
      }
    },
    remove: (keys) => {
      asked.deletes += keys.length;
      return store.remove(keys);
    },
  };
}

/** What a network does is no failure of the simulation: the next push goes on. */
async function survived(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isBusy = (error as { code?: string }).code === "STORE_BUSY";
    if (!(error instanceof MachineDied) && !(error instanceof RemoteFailure) && !isBusy) throw error;
  }
}
