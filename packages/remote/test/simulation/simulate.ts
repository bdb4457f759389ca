/**
 * Machines, collectors and a server, for weeks of virtual time: the real push, fold, base, sweep and reading, on a network
 * that loses, delays and stalls, with machines that die. Nothing may be deleted that a line needs, and at the end every line must
 * be readable, and hold all that a push claimed to be stored and retention keeps.
 */
import assert from "node:assert/strict";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { spanIn } from "../../src/line/keys-of-space.ts";
import { RemoteFailure } from "../../src/stores/remote-store.ts";
import { push, pushBase, type PushTarget } from "../../src/sync/push.ts";
import { LineDamage } from "../../src/sync/read-line.ts";
import { sweepSpace } from "../../src/sync/sweep.ts";
import { MachineDied, type Weather } from "./network.ts";
import type { ServerEvent } from "./watched-server.ts";
import { CALM, DAY_MS, FILES, HOUR_MS, NAME, START, World, type Hold, type Machine } from "./world.ts";

/** What is read within this time is still there. */
const GRACE_MS = 72 * HOUR_MS;

/** What to simulate. */
export interface Scenario {
  readonly random: SeededRandom;
  readonly machines: number;
  readonly days: number;
}

/** What happened, for people. */
export interface SimulationReport {
  pushes: number;
  bases: number;
  clones: number;
  sweeps: number;
  pardoned: number;
  deleted: number;
  hurried: number;
  forgotten: number;
  checked: number;
}

/** Runs one simulation; throws when something is lost. */
export async function simulate(scenario: Scenario): Promise<SimulationReport> {
  const simulation = new Simulation(scenario);
  await simulation.run();
  return simulation.report;
}

class Simulation {
  readonly report: SimulationReport = {
    pushes: 0,
    bases: 0,
    clones: 0,
    sweeps: 0,
    pardoned: 0,
    deleted: 0,
    hurried: 0,
    forgotten: 0,
    checked: 0,
  };
  readonly #world: World;
  readonly #random: SeededRandom;
  readonly #scenario: Scenario;
  readonly #retention: { allDays: number; turnDays: number };
  /** Whether the next sweep deletes something that was forgotten, and when one last did. */
  #isHurrying = false;
  #hurriedAt = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#random = scenario.random;
    this.#world = new World(scenario.random);
    const days = 1 + this.#random.below(3);
    this.#retention = { allDays: days, turnDays: days };
  }

  get #isOver(): boolean {
    return this.#world.lost.length > 0 || this.#now >= this.#end;
  }

  get #now(): number {
    return this.#world.clock.now();
  }

  get #end(): number {
    return START + this.#scenario.days * DAY_MS;
  }

  async run(): Promise<void> {
    await this.#world.run(() => this.#play());
    this.report.checked = this.#world.checked;
  }

  async #play(): Promise<void> {
    const { machines, networks, lost } = this.#world;
    for (let n = 0; n < this.#scenario.machines; n++) machines.push(this.#world.create(null));
    const collectors = this.#random.pick([[0], [0, 1]]).map((n) => this.#collect(n));
    await Promise.all([...machines.map((machine) => this.#work(machine)), ...collectors, this.#cloners()]);
    // what was sent long ago arrives now, old heads among it
    await Promise.all(networks.flatMap(({ late }) => late));
    assert.deepEqual(lost, []);
    for (const machine of machines) await this.#world.check(machine, this.#retention.allDays * DAY_MS);
    await this.#world.forge();
  }

  #weather(): Weather {
    const storm = this.#random.below(3);
    return {
      lostRequest: 15 * storm,
      lostAnswer: 15 * storm,
      late: 10 * storm,
      stall: 12 * storm,
      death: 12 * storm,
    };
  }

  /** Until all this happened, one after the other, and a while longer; some time at most. */
  async #lurk(events: readonly ((event: ServerEvent) => boolean)[], limitMs: number): Promise<void> {
    const { clock, server } = this.#world;
    const happen = async () => {
      for (const isIt of events) await server.next(isIt);
    };
    await Promise.race([happen(), clock.sleep(limitMs)]);
    await clock.sleep(this.#random.below(3) * this.#random.below(4 * HOUR_MS));
  }

  /** A new line names what it borrows at the worst moment: when its lender has given it up, and sweeps have looked. */
  #holdFirstSegment({ history: { entry } }: Machine): Hold | undefined {
    if (entry.began === null || entry.segment > 0 || this.#random.below(3) === 0) return undefined;
    const { names } = this.#world.space;
    const { line } = JSON.parse(entry.began) as { line: string };
    const bases = names.fold(line, { from: 1, to: 0 }).slice(0, -12);
    const isBase = ({ kind, key }: ServerEvent) => kind === "stored" && key.startsWith(bases);
    const isSweep = ({ kind, key }: ServerEvent) => kind === "listed" && key === names.lines;
    const events = [isBase, ...Array.from({ length: 1 + this.#random.below(3) }, () => isSweep)];
    const limitMs = this.#random.pick([20, 34, 60, 200]) * HOUR_MS;
    const first = names.segment(entry.line, 1);
    return async (key) => {
      if (key === first) await this.#lurk(events, limitMs);
    };
  }

  /** A sweep says what it saw after a new line has come. */
  #holdSweep(): Hold | undefined {
    if (this.#random.below(2) === 0) return undefined;
    const { names } = this.#world.space;
    const limitMs = this.#random.below(30 * HOUR_MS);
    const isNewLine = ({ kind, key }: ServerEvent) =>
      kind === "stored" && key.startsWith(names.lines) && spanIn(key)?.to === 1;
    return async (key) => {
      if (key.startsWith(names.sweeps)) await this.#lurk([isNewLine], limitMs);
    };
  }

  async #work(machine: Machine): Promise<void> {
    const world = this.#world;
    while (!this.#isOver) {
      await world.clock.sleep(this.#random.below(30 * HOUR_MS));
      world.checkpoint(machine);
      await this.#tryTo(async () => {
        const store = world.connect(this.#weather(), this.#holdFirstSegment(machine));
        const target = world.target(machine, store);
        await push(target, NAME);
        this.report.pushes++;
        if (this.#random.below(2) > 0) return;
        const isForgetting = this.#random.below(3) === 0;
        if (isForgetting) await this.#forget(machine, target);
        if (await pushBase(target, NAME, { ...this.#retention, isForgetting })) this.report.bases++;
      });
    }
    // the last word: whatever still waits is sent
    const target = world.target(machine, world.connect(CALM));
    while (machine.history.isQueued) await push(target, NAME);
  }

  /** A content goes from every checkpoint of a machine, and its records are sent again. */
  async #forget({ history, state }: Machine, target: PushTarget): Promise<void> {
    const all = [...history.contents.keys()];
    if (all.length <= FILES) return;
    const name = this.#random.pick(all);
    history.forget(name);
    state.splice(0, Infinity, ...state.filter((one) => one !== name));
    this.report.forgotten++;
    await push(target, NAME);
  }

  /** What happens to machines is no failure of the simulation; damage is. A reader that slept is told to read again. */
  async #tryTo(work: () => Promise<void>): Promise<void> {
    const start = this.#now;
    try {
      await work();
    } catch (error) {
      const isWeather = error instanceof MachineDied || error instanceof RemoteFailure;
      const isLate = this.#now - start > GRACE_MS;
      // [R1812] what was forgotten goes sooner: who reads it meanwhile reads again
      const isStale =
        (isLate || this.#hurriedAt >= start) && error instanceof LineDamage && error.kind === "missing";
      if (!isWeather && !isStale && (error as { code?: string }).code !== "STORE_BUSY") throw error;
    }
  }

  /** One or two of them, which do not know of each other. */
  async #collect(n: number): Promise<void> {
    const world = this.#world;
    await world.clock.sleep(n * this.#random.below(12 * HOUR_MS));
    const mostMs = this.#random.pick([20, 20, 48]) * HOUR_MS;
    while (!this.#isOver) {
      await world.clock.sleep(this.#random.below(mostMs));
      await this.#tryTo(async () => {
        const space = { ...world.space, store: world.connect(this.#weather(), this.#holdSweep()) };
        const sweeping = { keys: world.keys, random: world.bytes, isDryRun: false };
        const wasHurrying = this.#isHurrying;
        // a sweep that dies may have got so far
        this.#isHurrying = true;
        const { pardoned, deleted, hurried } = await sweepSpace(space, sweeping).finally(() => {
          if (wasHurrying) this.#hurriedAt = this.#now;
        });
        this.#isHurrying = hurried > 0;
        this.report.sweeps++;
        this.report.pardoned += pardoned;
        this.report.deleted += deleted;
        this.report.hurried += hurried;
      });
    }
  }

  /** New machines come with a clone of a line, and go on as a line of their own that borrows its content. */
  async #cloners(): Promise<void> {
    const world = this.#world;
    const working: Promise<void>[] = [];
    while (!this.#isOver && this.#now < this.#end - 2 * DAY_MS) {
      await world.clock.sleep(this.#random.below(40 * HOUR_MS));
      const { history } = this.#random.pick(world.machines);
      const { line } = history.entry;
      if (!history.hasClaimed) continue;
      await this.#tryTo(async () => {
        const machine = await world.clone(line, world.connect(this.#weather()));
        this.report.clones++;
        // some are put to sleep before their first push
        const asleepMs = this.#random.pick([0, 0, 60, 250]) * HOUR_MS;
        working.push(world.clock.sleep(asleepMs).then(() => this.#work(machine)));
      });
    }
    await Promise.all(working);
  }
}
