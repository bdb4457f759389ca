/**
 * Machines, a collector and a server, for weeks of virtual time: the real push, fold, base, sweep and reading, on a network
 * that loses, delays and stalls, with machines that die. At the end every line must be readable, and hold all that a
 * push claimed to be stored and retention keeps.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import type { Receiver, RemoteEntry } from "@belay/engine";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { memberKeys, type MemberKeys } from "../../src/keys/key-pairs.ts";
import { newLineId } from "../../src/line/line-id.ts";
import { createHead, sealSegment } from "../../src/line/segment.ts";
import { createSpace, presentSecret, type Space } from "../../src/space/space.ts";
import { MemoryRemoteStore } from "../../src/stores/memory-remote-store.ts";
import { RetryingRemoteStore } from "../../src/stores/retrying-remote-store.ts";
import { RemoteFailure, type RemoteStore } from "../../src/stores/remote-store.ts";
import { Mirror } from "../../src/sync/mirror.ts";
import { push, pushBase, type PushTarget } from "../../src/sync/push.ts";
import { LineDamage } from "../../src/sync/read-line.ts";
import { receiveLine } from "../../src/sync/receive-line.ts";
import { sweepSpace } from "../../src/sync/sweep.ts";
import { HistoryInMemory } from "./history-in-memory.ts";
import { MachineDied, Network, type Weather } from "./network.ts";
import { VirtualClock } from "./virtual-clock.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What is read within this time is still there. */
const GRACE_MS = 72 * HOUR_MS;
const START = Date.UTC(2026, 0, 1);
const CALM: Weather = { lostRequest: 0, lostAnswer: 0, late: 0, stall: 0, death: 0 };
const NAME = "team";
/** As many objects are in a state of the simulated files. */
const FILES = 6;

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
    deleted: 0,
    hurried: 0,
    forgotten: 0,
    checked: 0,
  };
  readonly #random: SeededRandom;
  readonly #clock = new VirtualClock(START);
  readonly #server = new MemoryRemoteStore(this.#clock.now);
  readonly #scenario: Scenario;
  readonly #machines: Machine[] = [];
  readonly #networks: Network[] = [];
  readonly #retention: { allDays: number; turnDays: number };
  #space!: Space;
  #keys!: MemberKeys;
  #ids = 0;
  /** Whether the next sweep deletes something that was forgotten, and when one last did. */
  #isHurrying = false;
  #hurriedAt = 0;
  #drawn = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#random = scenario.random;
    const days = 1 + this.#random.below(3);
    this.#retention = { allDays: days, turnDays: days };
  }

  readonly bytes = (count: number): Buffer =>
    createHash("shake256", { outputLength: count })
      .update(`${this.#scenario.random.seed} ${this.#drawn++}`)
      .digest();

  get #end(): number {
    return START + this.#scenario.days * DAY_MS;
  }

  async run(): Promise<void> {
    this.#keys = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const recovery = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    this.#space = await createSpace(this.#server, { own: this.#keys, name: "ana", recovery }, this.bytes);
    await this.#clock.run(this.#play());
  }

  async #play(): Promise<void> {
    for (let n = 0; n < this.#scenario.machines; n++) this.#machines.push(this.#create(null));
    const collectors = [0, 1].map((n) => this.#collect(n));
    await Promise.all([
      ...this.#machines.map((machine) => this.#work(machine)),
      ...collectors,
      this.#cloners(),
    ]);
    // what was sent long ago arrives now, old heads among it
    await Promise.all(this.#networks.flatMap(({ late }) => late));
    for (const machine of this.#machines) await this.#check(machine);
    await this.#forge();
  }

  #create(began: RemoteEntry["began"]): Machine {
    const entry = {
      name: NAME,
      line: newLineId(this.#keys.id, this.bytes),
      began,
      segment: 0,
      segmentHash: null,
      pushedAt: null,
    } as unknown as RemoteEntry;
    return {
      history: new HistoryInMemory(entry),
      mirror: new Mirror(":memory:", ""),
      state: [],
      createdAt: new Map(),
    };
  }

  /** A machine's way to the server, through the network that it has today. */
  #connect(weather: Weather): RemoteStore {
    const network = new Network(this.#server, { clock: this.#clock, random: this.#random, weather });
    this.#networks.push(network);
    return new RetryingRemoteStore(network, {
      sleep: this.#clock.sleep,
      now: this.#clock.now,
      random: () => this.#random.below(1000) / 1000,
      patienceMs: 600_000,
    });
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

  #target(machine: Machine, store: RemoteStore): PushTarget {
    return {
      exchange: machine.history.exchange,
      space: { ...this.#space, store },
      mirror: machine.mirror,
      keys: this.#keys,
      device: "device",
      abilities: { createOnly: true, etagIsMd5: true, deleteAllowed: true, skewMs: 0 },
      around: { now: this.#clock.now, random: this.bytes, sleep: this.#clock.sleep },
      inlineBytes: this.#random.below(2) * 1_000_000,
      foldSegments: 4,
    };
  }

  async #work(machine: Machine): Promise<void> {
    while (this.#clock.now() < this.#end) {
      await this.#clock.sleep(this.#random.below(30 * HOUR_MS));
      this.#checkpoint(machine);
      await this.#tryTo(async () => {
        const target = this.#target(machine, this.#connect(this.#weather()));
        await push(target, NAME);
        this.report.pushes++;
        if (this.#random.below(2) > 0) return;
        const isForgetting = this.#random.below(3) === 0;
        if (isForgetting) await this.#forget(machine, target);
        if (await pushBase(target, NAME, { ...this.#retention, isForgetting })) this.report.bases++;
      });
    }
    // the last word: whatever still waits is sent
    const target = this.#target(machine, this.#connect(CALM));
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

  #checkpoint({ history, state, createdAt }: Machine): void {
    const id = `checkpoint-${this.#ids++}`;
    const contents = Array.from({ length: 1 + this.#random.below(3) }, () => this.bytes(40));
    state.splice(0, Math.max(0, state.length + contents.length - FILES));
    const { objects } = history.add(id, contents, state);
    state.splice(0, Infinity, ...objects.slice(contents.length), ...objects.slice(0, contents.length));
    createdAt.set(id, this.#clock.now());
  }

  /** What happens to machines is no failure of the simulation; damage is. A reader that slept is told to read again. */
  async #tryTo(work: () => Promise<void>): Promise<void> {
    const start = this.#clock.now();
    try {
      await work();
    } catch (error) {
      const isWeather = error instanceof MachineDied || error instanceof RemoteFailure;
      const isLate = this.#clock.now() - start > GRACE_MS;
      // [R1812] what was forgotten goes sooner: who reads it meanwhile reads again
      const isStale =
        (isLate || this.#hurriedAt >= start) && error instanceof LineDamage && error.kind === "missing";
      if (!isWeather && !isStale && (error as { code?: string }).code !== "STORE_BUSY") throw error;
    }
  }

  /** Two of them, which do not know of each other. */
  async #collect(n: number): Promise<void> {
    await this.#clock.sleep(n * this.#random.below(12 * HOUR_MS));
    while (this.#clock.now() < this.#end) {
      await this.#clock.sleep(this.#random.below(20 * HOUR_MS));
      await this.#tryTo(async () => {
        const space = { ...this.#space, store: this.#connect(this.#weather()) };
        const sweeping = { keys: this.#keys, random: this.bytes, isDryRun: false };
        const wasHurrying = this.#isHurrying;
        // a sweep that dies may have got so far
        this.#isHurrying = true;
        const { deleted, hurried } = await sweepSpace(space, sweeping).finally(() => {
          if (wasHurrying) this.#hurriedAt = this.#clock.now();
        });
        this.#isHurrying = hurried > 0;
        this.report.sweeps++;
        this.report.deleted += deleted;
        this.report.hurried += hurried;
      });
    }
  }

  /** New machines come with a clone of a line, and go on as a line of their own that borrows its content. */
  async #cloners(): Promise<void> {
    const working: Promise<void>[] = [];
    while (this.#clock.now() < this.#end - 2 * DAY_MS) {
      await this.#clock.sleep(this.#random.below(40 * HOUR_MS));
      const source = this.#random.pick(this.#machines);
      const { line, segment } = source.history.entry;
      if (segment === 0) continue;
      await this.#tryTo(async () => {
        const machine = this.#create(null);
        const received = await this.#receive(
          { ...this.#space, store: this.#connect(this.#weather()) },
          line,
          machine.mirror,
        );
        machine.history.entry = {
          ...machine.history.entry,
          began: JSON.stringify({ line, number: received.number }),
        };
        for (const [id, objects] of received.checkpoints) {
          const there = objects.filter((name) => received.objects.has(name));
          assert.equal(there.length, objects.length, `${id} of ${line} was received without all its objects`);
          for (const name of objects) machine.history.contents.set(name, received.objects.get(name)!);
          machine.history.add(id, [], objects);
          machine.createdAt.set(id, this.#createdAt(id));
        }
        machine.state.push(...([...received.checkpoints.values()].at(-1) ?? []));
        this.#machines.push(machine);
        this.report.clones++;
        // some are put to sleep before their first push
        const asleepMs = this.#random.pick([0, 0, 60, 250]) * HOUR_MS;
        working.push(this.#clock.sleep(asleepMs).then(() => this.#work(machine)));
      });
    }
    await Promise.all(working);
  }

  #createdAt(id: string): number {
    return this.#machines.map(({ createdAt }) => createdAt.get(id)).find((at) => at !== undefined)!;
  }

  /** What a fresh machine gets of a line. */
  async #receive(space: Space, line: string, mirror: Mirror): Promise<Received> {
    const objects = new Map<string, Buffer>();
    const ids = new Set<string>();
    const receiver: Receiver = {
      putRecords: (records) => {
        for (const { kind, id } of records) if (kind === "checkpoint") ids.add(id);
      },
      withhold: () => undefined,
      putPack: (pack) => {
        const raw = zstdDecompressSync(pack.data);
        for (const { hash, offset, size } of pack.objects)
          objects.set(hash, raw.subarray(offset, offset + size));
      },
    };
    const { last } = await receiveLine(space, line, { receiver, mirror });
    const checkpoints = new Map([...ids].map((id) => [id, this.#objectsOf(id, line)]));
    return { checkpoints, objects, number: last.number };
  }

  /** As the machine of the line knows them, or the first that has it; records of a simulation do not say. */
  #objectsOf(id: string, line: string): readonly string[] {
    const isOwner = ({ history }: Machine) => history.entry.line === line;
    for (const { history } of [...this.#machines.filter(isOwner), ...this.#machines]) {
      const found = history.checkpointsById.get(id);
      if (found !== undefined) return found.objects;
    }
    throw new Error(`${id} was never made: it was forged`);
  }

  async #check({ history, createdAt }: Machine): Promise<void> {
    const { line, segment } = history.entry;
    if (segment === 0) return;
    const { checkpoints, objects } = await this.#receive(this.#space, line, new Mirror(":memory:", ""));
    const oldest = this.#clock.now() - this.#retention.allDays * DAY_MS;
    const all = [...history.checkpointsById.values()].filter(({ claimedAt }) => claimedAt !== undefined);
    for (const { id } of all) {
      const isKept = createdAt.get(id)! > oldest || id === all.at(-1)!.id;
      if (isKept) assert.ok(checkpoints.has(id), `[T1] ${id} was claimed, and line ${line} lacks it`);
    }
    for (const [id, names] of checkpoints) {
      const missing = names.filter((name) => !objects.has(name));
      assert.deepEqual(missing, [], `[T5] line ${line} has ${id} without all its objects`);
      this.report.checked++;
    }
  }

  /** A stranger who knows the secret of the space, and is no member, adds to a line. */
  async #forge(): Promise<void> {
    const { history } = this.#machines.find((machine) => machine.history.entry.segment > 0)!;
    const { line, segment, segmentHash } = history.entry;
    const stranger = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const key = this.#space.names.segment(line, segment + 1);
    const head = createHead({
      line,
      number: segment + 1,
      previous: segmentHash,
      member: this.#keys.id,
      device: "stranger",
      at: 0,
      from: null,
      seen: {},
      sweep: 0,
    });
    const content = { head, records: [], index: new Map(), content: [], uses: [] };
    const sealing = { key, secret: presentSecret(this.#space), salt: this.bytes(32), signer: stranger.sign };
    await this.#server.put(key, sealSegment(content, sealing), { createOnly: false });
    const refused = await this.#receive(this.#space, line, new Mirror(":memory:", "")).catch(
      (error: unknown) => error,
    );
    assert.ok(
      refused instanceof LineDamage && refused.kind === "forged",
      "[T9] a forged segment was believed",
    );
  }
}

interface Machine {
  readonly history: HistoryInMemory;
  readonly mirror: Mirror;
  /** The objects of the present files. */
  readonly state: string[];
  readonly createdAt: Map<string, number>;
}

interface Received {
  readonly checkpoints: ReadonlyMap<string, readonly string[]>;
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly number: number;
}
