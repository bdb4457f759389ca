/**
 * What simulations share: a virtual clock, a server in memory, machines with the real push, fold, base and reading, and the
 * judges of what must hold. A judge sees everything at once, which no machine can.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import type { HistoryRecord, Receiver, RemoteEntry } from "@belay/engine";
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import { memberKeys, type MemberKeys } from "../../src/keys/key-pairs.ts";
import { spanIn, type Span } from "../../src/line/keys-of-space.ts";
import { isLineOf, newLineId } from "../../src/line/line-id.ts";
import { createHead, openSegment, sealSegment } from "../../src/line/segment.ts";
import type { Role } from "../../src/keys/roles.ts";
import { readHeader, type SpaceSecret } from "../../src/parcel/parcel.ts";
import { addMember, changePolicy } from "../../src/space/change-roster.ts";
import { takenAt } from "../../src/space/adoptions.ts";
import { memberOf } from "../../src/space/roster.ts";
import { createSpace, openSpace, presentSecret, type Space } from "../../src/space/space.ts";
import { RetryingRemoteStore } from "../../src/stores/retrying-remote-store.ts";
import type { RemoteStore } from "../../src/stores/remote-store.ts";
import { Mirror } from "../../src/sync/mirror.ts";
import type { ReceiveStore } from "../../src/sync/passing-store.ts";
import type { PushTarget } from "../../src/sync/push.ts";
import { LineDamage } from "../../src/sync/read-line.ts";
import { receiveLine } from "../../src/sync/receive-line.ts";
import { HistoryInMemory, objectsIn } from "./history-in-memory.ts";
import { Network, type Weather } from "./network.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { WatchedServer } from "./watched-server.ts";

const SECOND_MS = 1000;
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
  readonly keys: MemberKeys;
  /** The space as its home knows it, and when it asked, by its clock. */
  space: Space;
  lookedAt: number;
  /** It was lost, and sends nothing any more. */
  isGone: boolean;
  /** The objects of the present files. */
  readonly state: string[];
  readonly createdAt: Map<string, number>;
  /** How wrong its clock is. */
  readonly skewMs: number;
}

/** What a fresh machine gets of a line. */
interface Received {
  readonly records: ReadonlyMap<string, Pick<HistoryRecord, "row">>;
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly withheld: ReadonlySet<string>;
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
  /** Contents that a user or an admin wanted to be gone. */
  readonly forgotten = new Set<string>();
  /** Lines that may be another's by now: what their machines believe of them means nothing. */
  readonly taken = new Set<string>();
  #ids = 0;
  #drawn = 0;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  readonly bytes = (count: number): Buffer =>
    createHash("shake256", { outputLength: count })
      .update(`${this.random.seed} ${this.#drawn++}`)
      .digest();

  /** Makes the space, and runs until the work is done. Its lines keep everything for so many days. */
  async run(days: number, work: () => Promise<void>): Promise<void> {
    this.keys = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const recovery = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const founded = await createSpace(this.server, { own: this.keys, name: "ana", recovery }, this.bytes);
    const policy = { allDays: days, turnDays: days };
    this.space = await changePolicy(founded, policy, { admin: this.keys, random: this.bytes });
    // of a thread that was handed over, and of a share: no sweep has anything to do with those
    for (const key of [this.space.names.handoff("thread"), `${this.space.id}/x/share/000000000000`])
      await this.server.put(key, this.bytes(64), { createOnly: true });
    this.server.judge = (key) => {
      const problem = this.#needs(key);
      if (problem !== undefined) this.lost.push(problem);
    };
    await this.clock.run(work());
  }

  /** The space as the server has it now, for judges. */
  async look(): Promise<Space> {
    this.space = await openSpace(this.server, this.space.id, this.keys, this.space);
    return this.space;
  }

  /** The keys of a new member of the space. */
  async admit(role: Role): Promise<MemberKeys> {
    const keys = memberKeys({ sign: this.bytes(32), receive: this.bytes(32) });
    const member = memberOf(keys, { name: `member-${this.#ids++}`, role, isRecovery: false });
    const changing = { admin: this.keys, random: this.bytes };
    this.space = await addMember(await this.look(), member, changing);
    return keys;
  }

  /** A machine without a history. */
  create(began: RemoteEntry["began"], keys = this.keys): Machine {
    const entry = {
      name: NAME,
      line: newLineId(keys.id, this.bytes),
      began,
      segment: 0,
      segmentHash: null,
      pushedAt: null,
    } as unknown as RemoteEntry;
    return {
      history: new HistoryInMemory(entry),
      mirror: new Mirror(":memory:", ""),
      keys,
      space: this.space,
      lookedAt: 0,
      isGone: false,
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

  /** What the home of a machine knows of the space is brought up to date. */
  async refresh(machine: Machine, store: RemoteStore): Promise<Space> {
    const known = machine.space;
    const lookedAt = this.clock.now() + machine.skewMs;
    machine.space = await openSpace(store, this.space.id, machine.keys, known);
    machine.lookedAt = lookedAt;
    return machine.space;
  }

  target(machine: Machine, store: RemoteStore): PushTarget {
    const { history, mirror, skewMs, keys, space, lookedAt } = machine;
    return {
      exchange: history.exchange,
      space: { ...space, store },
      lookedAt,
      refreshed: () => this.refresh(machine, store),
      mirror,
      keys,
      device: "device",
      abilities: { createOnly: true, etagIsMd5: true, deleteAllowed: true, skewMs: 0 },
      around: { now: () => this.clock.now() + skewMs, random: this.bytes, sleep: this.clock.sleep },
      inlineBytes: this.random.below(2) * 1_000_000,
      foldSegments: 4,
    };
  }

  /** A checkpoint with some new contents in the place of the oldest ones; some follow a restore of an earlier one. */
  checkpoint({ history, state, createdAt }: Machine, changed = 1 + this.random.below(3)): void {
    const id = `checkpoint-${this.#ids++}`;
    const contents = Array.from({ length: changed }, () => this.bytes(40));
    const earlier = [...history.checkpointsById.values()];
    const from = earlier.length > 0 && this.random.below(4) === 0 ? this.random.pick(earlier).objects : state;
    // what an admin wanted to be forgotten is gone
    state.splice(0, Infinity, ...from.filter((name) => history.has(name)));
    state.splice(0, Math.max(0, state.length + contents.length - FILES));
    const { objects } = history.add(id, contents, state);
    state.splice(0, Infinity, ...objects.slice(contents.length), ...objects.slice(0, contents.length));
    createdAt.set(id, this.clock.now());
  }

  /** A machine with a clone of a line, which will go on as a line of its own that borrows its content. */
  async clone(line: string, store: RemoteStore, keys = this.keys): Promise<Machine> {
    const machine = this.create(null, keys);
    const space = await this.refresh(machine, store);
    const received = await this.receive({ ...space, store }, line, machine.mirror);
    const began = JSON.stringify({ line, number: received.number });
    machine.history.entry = { ...machine.history.entry, began };
    take(machine.history, received, line);
    for (const id of received.records.keys()) machine.createdAt.set(id, this.#createdAt(id));
    machine.state.push(...(machine.history.newest?.objects ?? []));
    this.machines.push(machine);
    return machine;
  }

  #createdAt(id: string): number {
    const at = this.machines.map(({ createdAt }) => createdAt.get(id)).find((one) => one !== undefined);
    assert.ok(at !== undefined, `${id} was never made: it was forged`);
    return at;
  }

  /** The store that an adopter receives a line into. */
  readonly receiveStore: ReceiveStore = async (fill) => {
    const history = new HistoryInMemory({ line: "" } as RemoteEntry);
    const { receiver, received } = receiving();
    await fill({ ...receiver, addRemote: (entry) => (history.entry = entry) });
    take(history, received, history.entry.line);
    return { exchange: history.exchange, close: () => Promise.resolve() };
  };

  /** What a fresh machine gets of a line. */
  async receive(space: Space, line: string, mirror: Mirror): Promise<Received> {
    const { receiver, received } = receiving();
    const { last } = await receiveLine(space, line, { receiver, mirror });
    return { ...received, number: last.number };
  }

  /** [T5] A line can be read, and has every object that its checkpoints need. */
  async expectWhole(line: string): Promise<Received> {
    const received = await this.receive(this.space, line, new Mirror(":memory:", ""));
    this.checked += expectAll(received, line);
    return received;
  }

  /** [T1, T5] The line of a machine is whole, and has what its pushes claimed and `keptMs` does not let go. */
  async check(machine: Machine, keptMs: number): Promise<void> {
    const { history, createdAt, keys } = machine;
    const space = await this.look();
    // what it still has to send to a new line, the old one has
    const lines = [history.entry.line, ...(history.isQueued ? history.lines : [])];
    const held = new Map<string, Pick<HistoryRecord, "row">>();
    for (const line of lines)
      if (line !== history.entry.line || history.hasClaimed)
        for (const [id, record] of (await this.expectWhole(line)).records) held.set(id, record);
    const oldest = this.clock.now() - keptMs;
    // [R760] what the server got after its removal does not count
    const until = (endOf(space, keys.id) ?? Infinity) - SECOND_MS;
    const all = [...history.checkpointsById.values()].filter(({ claimedAt = Infinity }) => claimedAt < until);
    const newest = all.toSorted((a, b) => a.seq - b.seq).at(-1);
    for (const { id, objects } of all) {
      const isNewest = id === newest!.id && !machine.isGone && until === Infinity;
      if (createdAt.get(id)! <= oldest && !isNewest) continue;
      const record = held.get(id);
      assert.ok(record !== undefined, `[T1] ${id} was claimed, and line ${lines.join(", ")} lacks it`);
      const has = new Set(objectsIn(record));
      const lacking = objects.filter((name) => !has.has(name) && !this.forgotten.has(name));
      assert.deepEqual(lacking, [], `[T1] ${id} of line ${lines.join(", ")} is not what was claimed`);
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
    const secret = presentSecret(await this.look());
    const sealing = { key, secret, salt: this.bytes(32), signer: stranger.sign };
    await this.server.put(key, sealSegment(content, sealing), { createOnly: false });
    const refused = await this.receive(this.space, line, new Mirror(":memory:", "")).catch(
      (error: unknown) => error,
    );
    assert.ok(
      refused instanceof LineDamage && refused.kind === "forged",
      "[T9] a forged segment was believed",
    );
  }

  #needs(key: string): string | undefined {
    const { parcels, lines, sweeps } = this.space.names;
    if (key.startsWith(parcels)) return this.#needsParcel(key);
    if (key.startsWith(lines)) return this.#needsSegment(key);
    return key.startsWith(sweeps) ? undefined : `${key} was deleted, which no sweep may`;
  }

  /** [T6] A parcel that the line of a machine names, and that its pushes rely on. */
  #needsParcel(key: string): string | undefined {
    const id = key.slice(key.lastIndexOf("/") + 1);
    for (const { history, mirror } of this.machines) {
      if (this.taken.has(history.entry.line)) continue;
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
    const old = this.server.objects.get(key);
    if (span === undefined || old === undefined || this.#isTooLate(key)) return undefined;
    const line = key.slice(0, key.lastIndexOf("/") + 1);
    const isWhole = (other: string, bytes: Buffer) =>
      openSegment(bytes, { key: other, secret: this.#secretOf(bytes) }).uses.every((id) =>
        this.server.objects.has(this.space.names.parcel(id)),
      );
    const isRestated = [...this.server.objects].some(
      ([other, { bytes, modified }]) =>
        other.startsWith(line) &&
        other !== key &&
        isWithin(span, spanIn(other)!, modified > old.modified) &&
        isWhole(other, bytes),
    );
    return isRestated ? undefined : `[T16] ${key} was deleted, and nothing restates it`;
  }

  /** Its writer was not in the space any more, or had long lost the line, when this came: no reader believes it. */
  #isTooLate(key: string): boolean {
    const { bytes, modified } = this.server.objects.get(key)!;
    const { head } = openSegment(bytes, { key, secret: this.#secretOf(bytes) });
    if (!isLineOf(head.line, head.member)) return false;
    const end = Math.min(
      endOf(this.space, head.member) ?? Infinity,
      takenAt(this.space, head.line) ?? Infinity,
    );
    return modified > end;
  }

  /** Some machine has it. */
  #secretOf(bytes: Buffer): SpaceSecret {
    const { generation } = readHeader(bytes);
    const spaces = [this.space, ...this.machines.map(({ space }) => space)];
    const found = spaces.map(({ secrets }) => secrets.get(generation)).find((secret) => secret !== undefined);
    assert.ok(found !== undefined, `no machine knows the secret ${generation}`);
    return found;
  }
}

/** Takes what is received in memory. */
function receiving(): { receiver: Omit<Receiver, "addRemote">; received: Omit<Received, "number"> } {
  const objects = new Map<string, Buffer>();
  const records = new Map<string, Pick<HistoryRecord, "row">>();
  const withheld = new Set<string>();
  const receiver: Omit<Receiver, "addRemote"> = {
    putRecords: (given) => {
      for (const record of given) if (record.kind === "checkpoint") records.set(record.id, record);
    },
    withhold: (hashes) => {
      for (const hash of hashes) withheld.add(hash);
    },
    putPack: (pack) => {
      const raw = zstdDecompressSync(pack.data);
      for (const { hash, offset, size } of pack.objects) {
        const bytes = raw.subarray(offset, offset + size);
        assert.equal(createHash("sha256").update(bytes).digest("hex"), hash, "[T9] an object is another one");
        objects.set(hash, bytes);
      }
    },
  };
  return { receiver, received: { objects, records, withheld } };
}

/** Puts what was received into a store. */
function take(history: HistoryInMemory, received: Omit<Received, "number">, line: string): void {
  expectAll(received, line);
  for (const [name, bytes] of received.objects) history.contents.set(name, bytes);
  for (const name of received.withheld) if (!received.objects.has(name)) history.withheld.add(name);
  for (const [id, record] of received.records) history.receive(id, record);
}

/** How many checkpoints there are, each with all that it needs. */
function expectAll({ records, objects, withheld }: Omit<Received, "number">, line: string): number {
  for (const [id, record] of records) {
    const missing = objectsIn(record).filter((name) => !objects.has(name) && !withheld.has(name));
    assert.deepEqual(missing, [], `[T5] line ${line} has ${id} without all its objects`);
  }
  return records.size;
}

/** When a member was taken out of the space, by the server's clock. */
function endOf({ rosters }: Space, member: string): number | undefined {
  const last = rosters.findLastIndex(({ roster }) => roster.members.some(({ id }) => id === member));
  return rosters[last + 1]?.at;
}

function isFold(key: string): boolean {
  const span = spanIn(key);
  return span !== undefined && span.to > span.from;
}

function isWithin(one: Span, fold: Span, isNewer: boolean): boolean {
  const [length, other] = [one.to - one.from, fold.to - fold.from];
  return fold.from <= one.from && fold.to >= one.to && (other > length || (other > 0 && isNewer));
}
