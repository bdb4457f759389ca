/**
 * Machines, admins, collectors and a server, for weeks of virtual time: the real push, fold, base, adoption, encrypting again,
 * sweep and reading, on a network that loses, delays and stalls, with machines that die or are lost for good. Nothing may be
 * deleted that a line needs, and at the end every line must be readable, and hold all that a push claimed to be stored and
 * retention keeps.
 */
import assert from "node:assert/strict";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { spanIn } from "../../src/line/keys-of-space.ts";
import { isAdopted } from "../../src/space/adoptions.ts";
import { askToForget, removeMember, rotateSecret, takeOver } from "../../src/space/change-roster.ts";
import { openSpace, type Space } from "../../src/space/space.ts";
import { restateAdopted } from "../../src/sync/adopted-lines.ts";
import { obeyForgets } from "../../src/sync/obey-forgets.ts";
import { DamageError } from "../../src/parcel/damage.ts";
import { RemoteFailure } from "../../src/stores/remote-store.ts";
import { push, pushBase } from "../../src/sync/push.ts";
import { LineDamage } from "../../src/sync/read-line.ts";
import { sweepSpace } from "../../src/sync/sweep.ts";
import { MachineDied, type Weather } from "./network.ts";
import type { ServerEvent } from "./watched-server.ts";
import { CALM, DAY_MS, FILES, HOUR_MS, NAME, START, World, type Hold, type Machine } from "./world.ts";

/** What is read within this time is still there. */
const GRACE_MS = 72 * HOUR_MS;
/** So old may be what a push knows of the members. */
const ROSTER_MS = 600_000;
/** Another collector or admin was quicker, or this machine was removed meanwhile. */
const EXPECTED = new Set(["STORE_BUSY", "REMOTE_UNREACHABLE", "SPACE_KEY_MISSING"]);

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
  adopted: number;
  rewritten: number;
  removed: number;
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
    adopted: 0,
    rewritten: 0,
    removed: 0,
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
    await this.#world.run(this.#retention.allDays, () => this.#play());
    this.report.checked = this.#world.checked;
  }

  async #play(): Promise<void> {
    const { machines, networks, lost } = this.#world;
    machines.push(this.#world.create(null));
    while (machines.length < this.#scenario.machines)
      machines.push(this.#world.create(null, await this.#world.admit(this.#role())));
    const collectors = this.#random.pick([[0], [0, 1]]).map((n) => this.#collect(n));
    const admins = this.#random.pick([[], [0], [0, 1]]).map(() => this.#administer());
    const working = machines.map((machine) => this.#work(machine));
    await Promise.all([...working, ...collectors, ...admins, this.#cloners()]);
    // what was sent long ago arrives now, old heads among it
    await Promise.all(networks.flatMap(({ late }) => late));
    assert.deepEqual(lost, []);
    for (const machine of machines) await this.#world.check(machine, this.#retention.allDays * DAY_MS);
    await this.#expectReadable();
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

  #role(): "admin" | "member" {
    return this.#random.pick(["admin", "member", "member"] as const);
  }

  async #work(machine: Machine): Promise<void> {
    const world = this.#world;
    while (!this.#isOver && !machine.isGone) {
      await world.clock.sleep(this.#random.below(30 * HOUR_MS));
      if (machine.isGone) return;
      world.checkpoint(machine);
      if (this.#random.below(4) === 0) this.#withhold(machine);
      await this.#tryTo(async () => {
        await this.#push(machine, world.connect(this.#weather(), this.#holdFirstSegment(machine)));
        if (machine.isGone || this.#random.below(2) > 0) return;
        if (this.#random.below(3) === 0) return void (await this.#forget(machine));
        const target = world.target(machine, world.connect(this.#weather()));
        if (isAdopted(target.space, machine.history.entry.line)) return;
        if (await pushBase(target, NAME, { ...this.#retention, isForgetting: false })) this.report.bases++;
      });
    }
    // the last word: whatever still waits is sent
    while (machine.history.isQueued && !machine.isGone) await this.#tryTo(() => this.#push(machine));
  }

  /** As the command does: the members are looked at some minutes before. */
  async #push(machine: Machine, store = this.#world.connect(CALM)): Promise<void> {
    const world = this.#world;
    try {
      await world.refresh(machine, store);
    } catch (error) {
      if ((error as { code?: string }).code !== "SPACE_KEY_MISSING") throw error;
      // it was removed
      machine.isGone = true;
      return;
    }
    await world.clock.sleep(this.#random.below(2) * this.#random.below(ROSTER_MS));
    const target = world.target(machine, store);
    obeyForgets(target.exchange, target.space, NAME);
    const { rewritten } = await push(target, NAME);
    this.report.pushes++;
    if (rewritten !== null) this.report.rewritten++;
    const { history } = machine;
    await restateAdopted({ ...target, remote: history.entry, receiveStore: world.receiveStore });
  }

  /** One more content stays at home, or one goes now. */
  #withhold({ history, state }: Machine): void {
    const here = [...history.withheld].filter((name) => history.contents.has(name));
    if (here.length > 0 && this.#random.below(2) === 0) history.withhold(this.#random.pick(here), false);
    else if (history.contents.has(state.at(-1) ?? "")) history.withhold(state.at(-1)!, true);
  }

  /** A content goes from every checkpoint of a machine, and its records are sent again. */
  async #forget(machine: Machine): Promise<void> {
    const { history, state } = machine;
    const all = [...history.contents.keys()];
    if (all.length <= FILES) return;
    const name = this.#random.pick(all);
    history.forget(name);
    state.splice(0, Infinity, ...state.filter((one) => one !== name));
    this.report.forgotten++;
    await this.#push(machine, this.#world.connect(this.#weather()));
  }

  /** An admin takes members out, adopts lines, changes the secret, and asks every machine to forget something. */
  async #administer(): Promise<void> {
    const world = this.#world;
    while (!this.#isOver) {
      await world.clock.sleep(this.#random.below(4 * DAY_MS));
      const isAdmin = ({ keys, isGone }: Machine) =>
        !isGone && world.space.members.get(keys.id)?.role === "admin";
      const admin = this.#random.pick(world.machines.filter(isAdmin).concat(world.machines[0]!));
      const other = this.#random.pick(world.machines);
      await this.#tryTo(async () => {
        const store = world.connect(this.#weather());
        const space = await openSpace(store, world.space.id, admin.keys, admin.space);
        const isTheirs = other.keys.id !== admin.keys.id && other.keys.id !== world.keys.id;
        const changes = [() => this.#rotate(space, admin), () => this.#forgetEverywhere(space, admin)];
        if (isTheirs)
          changes.push(
            () => this.#adopt(space, admin, other),
            () => this.#adopt(space, admin, other),
          );
        if (isTheirs) changes.push(() => this.#remove(space, admin, other));
        await this.#random.pick(changes)();
      });
      await world.look();
    }
  }

  async #rotate(space: Space, { keys: admin }: Machine): Promise<void> {
    await rotateSecret(space, { admin, random: this.#world.bytes }, this.#random.below(3) > 0);
  }

  async #forgetEverywhere(space: Space, { keys: admin }: Machine): Promise<void> {
    const { machines, forgotten, bytes } = this.#world;
    const { history } = this.#random.pick(machines);
    const all = [...history.contents.keys()];
    if (all.length <= FILES) return;
    const name = this.#random.pick(all);
    // from the moment that it may be known
    forgotten.add(name);
    this.report.forgotten++;
    const request = { contents: [name], checkpoint: null, always: false };
    await askToForget(space, request, { admin, random: bytes });
  }

  /** Its machine is lost, or comes back, or is in the middle of a push and knows nothing. */
  async #adopt(space: Space, { keys: admin }: Machine, lost: Machine): Promise<void> {
    const { line, segment } = lost.history.entry;
    if (segment === 0 || isAdopted(space, line)) return;
    this.#world.taken.add(line);
    lost.isGone ||= this.#random.below(2) === 0;
    await takeOver(space, line, { admin, random: this.#world.bytes });
    this.report.adopted++;
  }

  async #remove(space: Space, admin: Machine, { keys, history }: Machine): Promise<void> {
    if (!space.roster.roster.members.some(({ id }) => id === keys.id)) return;
    const changing = { admin: admin.keys, random: this.#world.bytes };
    for (const line of [history.entry.line, ...history.lines]) this.#world.taken.add(line);
    const next = await removeMember(space, keys.id, changing);
    this.report.removed++;
    const { line, segment } = history.entry;
    if (this.#random.below(2) === 0 && segment > 0 && !isAdopted(space, line))
      await takeOver(next, line, changing);
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
      const isUnknown =
        error instanceof DamageError ||
        (error instanceof LineDamage && (error.kind === "forged" || error.cause instanceof DamageError));
      // what it knew of the members and secrets is older than what it read; so may be what the world knows
      const isBehind = isUnknown && ((await this.#world.look()).rosters.at(-1)?.at ?? 0) >= start - ROSTER_MS;
      const isExpected = EXPECTED.has(String((error as { code?: string }).code));
      if (!isWeather && !isStale && !isBehind && !isExpected) throw error;
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
        const store = world.connect(this.#weather(), this.#holdSweep());
        const space = await openSpace(store, world.space.id, world.keys, world.space);
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
        // it costs most of the time
        if (deleted > 0 && this.#random.below(4) === 0) await this.#expectReadable();
      });
    }
  }

  /** [T5] What is another's by now is looked at from outside: no store knows what such a line needs. */
  async #expectReadable(): Promise<void> {
    const { machines, taken } = this.#world;
    await this.#world.look();
    const written = machines.flatMap(({ history }) => [
      ...(history.hasClaimed ? [history.entry.line] : []),
      ...history.lines,
    ]);
    for (const line of new Set(written)) if (taken.has(line)) await this.#world.expectWhole(line);
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
        const keys = await world.admit(this.#role());
        const machine = await world.clone(line, world.connect(this.#weather()), keys);
        this.report.clones++;
        // some are put to sleep before their first push
        const asleepMs = this.#random.pick([0, 0, 60, 250]) * HOUR_MS;
        const work = world.clock.sleep(asleepMs).then(() => this.#work(machine));
        // its failure is thrown at the end
        work.catch(() => undefined);
        working.push(work);
      });
    }
    await Promise.all(working);
  }
}
