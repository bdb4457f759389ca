/**
 * What simulations share: a virtual clock, a server in memory, machines with the real push, fold, base and reading, and the
 * judges of what must hold. A judge sees everything at once, which no machine can.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import type { Receiver, RemoteEntry } from "@belay/engine";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { memberKeys, type MemberKeys } from "../../src/keys/key-pairs.ts";
import { spanIn, type Span } from "../../src/line/keys-of-space.ts";
import { newLineId } from "../../src/line/line-id.ts";
import { createHead, openSegment, sealSegment } from "../../src/line/segment.ts";
import { createSpace, presentSecret, secretFor, type Space } from "../../src/space/space.ts";
import { RetryingRemoteStore } from "../../src/stores/retrying-remote-store.ts";
import type { RemoteStore } from "../../src/stores/remote-store.ts";
import { Mirror } from "../../src/sync/mirror.ts";
import type { PushTarget } from "../../src/sync/push.ts";
import { LineDamage } from "../../src/sync/read-line.ts";
import { receiveLine } from "../../src/sync/receive-line.ts";
import { HistoryInMemory } from "./history-in-memory.ts";
import { Network, type Weather } from "./network.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { WatchedServer } from "./watched-server.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const START = Date.UTC(2026, 0, 1);
export const CALM: Weather = { lostRequest: 0, lostAnswer: 0, late: 0, stall: 0, death: 0 };
/** The remote, as every machine calls it. */
export const NAME = "team";
/** As many objects are in a state of the simulated files. */
export const FILES = 6;

/** Keeps a PUT of this key back. */
export type Hold = (key: string) => Promise<void>;

/** One machine: its store, and what its home knows. Both survive its death. */
export interface Machine {
  readonly history: HistoryInMemory;
  readonly mirror: Mirror;
  /** The objects of the present files. */
  readonly state: string[];
  readonly createdAt: Map<string, number>;
  /** How wrong its clock is. */
  readonly skewMs: number;
}

interface Received {
  readonly checkpoints: ReadonlyMap<string, readonly string[]>;
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly number: number;
}

/** A space and all that use it. */
export class World {
  readonly random: SeededRandom;
  readonly clock = new VirtualClock(START);
  readonly server = new WatchedServer(this.clock.now);
  readonly machines: Machine[] = [];
  readonly networks: Network[] = [];
  /** What was deleted and should not have been. */
  readonly lost: string[] = [];
  /** How many checkpoints were found whole. */
  checked = 0;
  space!: Space;
  keys!: MemberKeys;
  #ids = 0;
  #drawn = 0;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  readonly bytes = (count: number): Buffer =>
    createHash("shake256", { outputLength: count })
      .update(`${this.random.seed} ${this.#drawn++}`)
      .digest();

  /** Makes the space, and runs until the work is done. */
  async run(work: () => Promise<void>): Promise<void> {
    this.keys = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const recovery = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    this.space = await createSpace(this.server, { own: this.keys, name: "ana", recovery }, this.bytes);
    this.server.judge = (key) => {
      const isParcel = key.startsWith(this.space.names.parcels);
      const problem = isParcel ? this.#needsParcel(key) : this.#needsSegment(key);
      if (problem !== undefined) this.lost.push(problem);
    };
    await this.clock.run(work());
  }

  create(began: RemoteEntry["began"]): Machine {
    const entry = {
      name: NAME,
      line: newLineId(this.keys.id, this.bytes),
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
      skewMs: this.random.pick([0, 0, 3, -200]) * DAY_MS,
    };
  }

  /** A machine's way to the server, through the network that it has today. */
  connect(weather: Weather, hold?: Hold): RemoteStore {
    const network = new Network(this.server, { clock: this.clock, random: this.random, weather, hold });
    this.networks.push(network);
    return new RetryingRemoteStore(network, {
      sleep: this.clock.sleep,
      now: this.clock.now,
      random: () => this.random.below(1000) / 1000,
      patienceMs: 600_000,
    });
  }

  target({ history, mirror, skewMs }: Machine, store: RemoteStore): PushTarget {
    return {
      exchange: history.exchange,
      space: { ...this.space, store },
      mirror,
      keys: this.keys,
      device: "device",
      abilities: { createOnly: true, etagIsMd5: true, deleteAllowed: true, skewMs: 0 },
      around: { now: () => this.clock.now() + skewMs, random: this.bytes, sleep: this.clock.sleep },
      inlineBytes: this.random.below(2) * 1_000_000,
      foldSegments: 4,
    };
  }

  /** A checkpoint with some new contents in the place of the oldest ones. */
  checkpoint({ history, state, createdAt }: Machine, changed = 1 + this.random.below(3)): void {
    const id = `checkpoint-${this.#ids++}`;
    const contents = Array.from({ length: changed }, () => this.bytes(40));
    state.splice(0, Math.max(0, state.length + contents.length - FILES));
    const { objects } = history.add(id, contents, state);
    state.splice(0, Infinity, ...objects.slice(contents.length), ...objects.slice(0, contents.length));
    createdAt.set(id, this.clock.now());
  }

  /** A machine with a clone of a line, which will go on as a line of its own that borrows its content. */
  async clone(line: string, store: RemoteStore): Promise<Machine> {
    const machine = this.create(null);
    const received = await this.receive({ ...this.space, store }, line, machine.mirror);
    const began = JSON.stringify({ line, number: received.number });
    machine.history.entry = { ...machine.history.entry, began };
    for (const [id, objects] of received.checkpoints) {
      const there = objects.filter((name) => received.objects.has(name));
      assert.equal(there.length, objects.length, `${id} of ${line} was received without all its objects`);
      for (const name of objects) machine.history.contents.set(name, received.objects.get(name)!);
      machine.history.add(id, [], objects);
      machine.createdAt.set(id, this.#createdAt(id));
    }
    machine.state.push(...([...received.checkpoints.values()].at(-1) ?? []));
    this.machines.push(machine);
    return machine;
  }

  #createdAt(id: string): number {
    return this.machines.map(({ createdAt }) => createdAt.get(id)).find((at) => at !== undefined)!;
  }

  /** What a fresh machine gets of a line. */
  async receive(space: Space, line: string, mirror: Mirror): Promise<Received> {
    const objects = new Map<string, Buffer>();
    const ids = new Set<string>();
    const receiver: Omit<Receiver, "addRemote"> = {
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
    for (const { history } of [...this.machines.filter(isOwner), ...this.machines]) {
      const found = history.checkpointsById.get(id);
      if (found !== undefined) return found.objects;
    }
    throw new Error(`${id} was never made: it was forged`);
  }

  /** [T1, T5] The line of a machine is whole, and has what its pushes claimed and `keptMs` does not let go. */
  async check({ history, createdAt }: Machine, keptMs: number): Promise<void> {
    const { line, segment } = history.entry;
    if (segment === 0) return;
    const { checkpoints, objects } = await this.receive(this.space, line, new Mirror(":memory:", ""));
    const oldest = this.clock.now() - keptMs;
    const all = [...history.checkpointsById.values()].filter(({ claimedAt }) => claimedAt !== undefined);
    for (const { id } of all) {
      const isKept = createdAt.get(id)! > oldest || id === all.at(-1)!.id;
      if (isKept) assert.ok(checkpoints.has(id), `[T1] ${id} was claimed, and line ${line} lacks it`);
    }
    for (const [id, names] of checkpoints) {
      const missing = names.filter((name) => !objects.has(name));
      assert.deepEqual(missing, [], `[T5] line ${line} has ${id} without all its objects`);
      this.checked++;
    }
  }

  /** A stranger who knows the secret of the space, and is no member, adds to a line. */
  async forge(): Promise<void> {
    const { history } = this.machines.find((machine) => machine.history.entry.segment > 0)!;
    const { line, segment, segmentHash } = history.entry;
    const stranger = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const key = this.space.names.segment(line, segment + 1);
    const head = createHead({
      line,
      number: segment + 1,
      previous: segmentHash,
      member: this.keys.id,
      device: "stranger",
      at: 0,
      from: null,
      seen: {},
      sweep: 0,
    });
    const content = { head, records: [], index: new Map(), content: [], uses: [] };
    const sealing = { key, secret: presentSecret(this.space), salt: this.bytes(32), signer: stranger.sign };
    await this.server.put(key, sealSegment(content, sealing), { createOnly: false });
    const refused = await this.receive(this.space, line, new Mirror(":memory:", "")).catch(
      (error: unknown) => error,
    );
    assert.ok(
      refused instanceof LineDamage && refused.kind === "forged",
      "[T9] a forged segment was believed",
    );
  }

  /** [T6] A parcel that the line of a machine names, and that its pushes rely on. */
  #needsParcel(key: string): string | undefined {
    const id = key.slice(key.lastIndexOf("/") + 1);
    for (const { history, mirror } of this.machines) {
      // the server has the base of a machine that does not know it yet: that base counts
      const isBehind = history.journal().some((one) => this.server.objects.has(one.key) && isFold(one.key));
      if (!isBehind && mirror.parcels(history.entry.line).includes(id))
        return `[T6] ${key} was deleted, and line ${history.entry.line} names it`;
    }
    return undefined;
  }

  /** [T16] A segment or fold that nothing else restates whose content is there. */
  #needsSegment(key: string): string | undefined {
    const span = spanIn(key);
    if (span === undefined || !key.startsWith(this.space.names.lines)) return undefined;
    const line = key.slice(0, key.lastIndexOf("/") + 1);
    const isWhole = (other: string, bytes: Buffer) =>
      openSegment(bytes, { key: other, secret: secretFor(this.space, bytes) }).uses.every((id) =>
        this.server.objects.has(this.space.names.parcel(id)),
      );
    const isRestated = [...this.server.objects].some(
      ([other, { bytes }]) =>
        other.startsWith(line) && isWithin(span, spanIn(other)!) && isWhole(other, bytes),
    );
    return isRestated ? undefined : `[T16] ${key} was deleted, and nothing restates it`;
  }
}

function isFold(key: string): boolean {
  const span = spanIn(key);
  return span !== undefined && span.to > span.from;
}

function isWithin(one: Span, fold: Span): boolean {
  return fold.from <= one.from && fold.to >= one.to && fold.to - fold.from > one.to - one.from;
}
