/**
 * Sends what a remote lacks. The order is content parcels, segment, head [T2]; a crash anywhere leaves either nothing
 * that counts or a segment that the next push finds and claims. Every request is in the journal before it is sent, with
 * the bytes of a segment, so that a retry repeats them [T3].
 */
import { createHash } from "node:crypto";
import type {
  Exchange,
  JournalEntry,
  NeededObject,
  ObjectHash,
  QueuedRecord,
  RemoteEntry,
} from "@belay/engine";
import { decodeIndex, encodeIndex, INDEX_ENTRIES_LIMIT, SELF, type Place } from "../line/object-index.ts";
import { createHead, openSegment, sealSegment, segmentHash } from "../line/segment.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { PARCEL_TARGET_BYTES } from "../parcel/limits.ts";
import { plainFrame, sealParcel, type PlainFrame } from "../parcel/parcel.ts";
import { presentSecret, secretFor, type Space } from "../space/space.ts";
import type { Abilities } from "../stores/probe.ts";
import { READ_BACK } from "../stores/retrying-remote-store.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import type { Mirror } from "./mirror.ts";
import { framesOf } from "./object-batch.ts";
import { LineDamage, readLine } from "./read-line.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a push is about. */
export interface PushTarget {
  readonly exchange: Exchange;
  readonly space: Space;
  readonly mirror: Mirror;
  readonly keys: MemberKeys;
  readonly device: string;
  readonly abilities: Abilities;
  readonly around: Surroundings;
  /** The highest segments of other lines that this home has read. */
  readonly seen?: (() => Readonly<Record<string, number>>) | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What a push did. */
export interface PushReport {
  readonly outcome: "pushed" | "unchanged";
  /** The last segment of the line. */
  readonly segment: number;
  readonly checkpoints: number;
  readonly objects: number;
  readonly bytes: number;
  readonly borrowed: number;
  /** The line that this store wrote before it found it taken [T4]; null when it did not. */
  readonly forkedFrom: string | null;
}

/** Content up to this size rides inside the segment: an ordinary push is two requests. */
const INLINE_BYTES = 1024 * 1024;
const RECORD_BATCH_BYTES = 8 * 1024 * 1024;
const PARCELS_IN_FLIGHT = 3;
const STALE_MS = 60 * 60 * 1000;

/** Pushes one workspace to one remote. */
export async function push(target: PushTarget, name: string): Promise<PushReport> {
  return claimed(target.exchange, async () => {
    const first = entryOf(target.exchange, name);
    const run = new Push(target, name);
    try {
      await run.resume();
      await run.sendAll();
      return run.report();
    } catch (error) {
      if (!(error instanceof LineTaken)) throw error;
      // [T4] a copy of this store writes that line: go on as a line of our own, and overwrite nothing
      const began = JSON.stringify({ line: first.line, number: entryOf(target.exchange, name).segment });
      target.exchange.beginLine(name, { line: target.around.random(16).toString("hex"), began });
      const again = new Push(target, name);
      await again.sendAll();
      return { ...again.report(), forkedFrom: first.line };
    }
  });
}

/** One push of a store at a time. */
async function claimed<Result>(exchange: Exchange, work: () => Promise<Result>): Promise<Result> {
  const claim = exchange.claim();
  try {
    return await work();
  } finally {
    claim[Symbol.dispose]();
  }
}

/** The next number of our line holds other bytes. */
class LineTaken extends Error {}

class Push {
  readonly #target: PushTarget;
  readonly #name: string;
  #checkpoints = 0;
  #objects = 0;
  #bytes = 0;
  #borrowed = 0;
  #segments = 0;
  /** Objects in parcels of a push that did not end. */
  readonly #uploaded = new Map<string, Place>();
  #mayBorrow = false;

  constructor(target: PushTarget, name: string) {
    this.#target = target;
    this.#name = name;
  }

  get #entry(): RemoteEntry {
    return entryOf(this.#target.exchange, this.#name);
  }

  report(): PushReport {
    return {
      outcome: this.#segments === 0 ? "unchanged" : "pushed",
      segment: this.#entry.segment,
      checkpoints: this.#checkpoints,
      objects: this.#objects,
      bytes: this.#bytes,
      borrowed: this.#borrowed,
      forkedFrom: null,
    };
  }

  /** Ends what an earlier push began: a segment whose answer is unknown is sent again, byte for byte. */
  async resume(): Promise<void> {
    const { exchange } = this.#target;
    const journal = exchange.journal(this.#name);
    const segment = journal.find(({ kind }) => kind === "segment");
    if (segment !== undefined) await this.#commit(segment);
    for (const { key, kind, stored, detail, at } of segment === undefined ? journal : []) {
      // what is older may have been deleted by a newer version that sweeps
      if (kind !== "parcel" || !stored || this.#target.around.now() - at > STALE_MS) continue;
      for (const [hash, place] of decodeIndex(detail))
        this.#uploaded.set(hash, { ...place, parcel: idOf(key) });
    }
  }

  async sendAll(): Promise<void> {
    const { exchange, mirror } = this.#target;
    const until = exchange.outboxEnd(this.#name);
    if (until === 0) return;
    await this.#catchUp();
    await this.#expectFreeLine();
    const { began, line } = this.#entry;
    // a space that is swept is of a version that knows how to borrow there
    this.#mayBorrow = began !== null && !(await this.#isSwept());
    const batch = new Batch((hash) => this.#placeOf(hash));
    let [records, recordBytes]: [QueuedRecord[], number] = [[], 0];
    for (const record of exchange.records(this.#name, until)) {
      records.push(record);
      recordBytes += JSON.stringify(record).length;
      if (record.kind === "checkpoint") {
        const isKnown = (hash: string) => batch.has(hash) || mirror.place(line, hash) !== undefined;
        for (const object of exchange.needed(record.id, isKnown)) {
          batch.add(object);
          if (batch.size >= INDEX_ENTRIES_LIMIT) await this.#send(batch.take(), [], 0);
        }
      }
      if (recordBytes < RECORD_BATCH_BYTES) continue;
      await this.#send(batch.take(), records, 0);
      [records, recordBytes] = [[], 0];
    }
    await this.#send(batch.take(), records, until);
  }

  /** Uploads objects again that the remote lost, and says where they are now. */
  async sendObjects(hashes: readonly ObjectHash[]): Promise<void> {
    await this.#catchUp();
    const needed = hashes.map((hash) => ({ hash, isTree: false }));
    await this.#send({ needed, borrowed: new Map(), isRepair: true }, [], 0);
  }

  /** An object that an earlier push of this line, or the line that this one began with, has uploaded. */
  #placeOf(hash: string): Place | undefined {
    const uploaded = this.#uploaded.get(hash);
    if (uploaded !== undefined || !this.#mayBorrow) return uploaded;
    const { line } = JSON.parse(this.#entry.began ?? "{}") as { line?: string };
    return line === undefined ? undefined : this.#target.mirror.borrow(hash, line);
  }

  /** The mirror may be lost or behind: the line itself says what it holds. */
  async #catchUp(): Promise<void> {
    const { mirror, space } = this.#target;
    const { line, segment, segmentHash: hash } = this.#entry;
    const known = mirror.last(line);
    if (segment === 0 || (known?.number === segment && known.hash === hash)) return;
    for await (const { segment: read } of readLine(space, line)) {
      if (read.head.number === segment && read.hash !== hash) break;
      mirror.add(line, { number: read.head.number, hash: read.hash }, read.index);
      if (read.head.number === segment) return;
    }
    // [T15]
    throw new LineDamage(
      "rolled-back",
      space.names.segment(line, segment),
      "the segment that this store wrote last is not there any more",
    );
  }

  /** [T4] Where the server cannot refuse to overwrite, a look at the line shows whether a copy of this store wrote to it. */
  async #expectFreeLine(): Promise<void> {
    const { abilities, space } = this.#target;
    if (abilities.createOnly) return;
    const { line, segment } = this.#entry;
    const after = `${space.names.segment(line, segment)}~`;
    for await (const { key } of space.store.list(space.names.segmentsOf(line), after))
      throw new LineTaken(key);
  }

  async #isSwept(): Promise<boolean> {
    const { space } = this.#target;
    for await (const _ of space.store.list(space.names.sweeps)) return true;
    return false;
  }

  /** One segment: its content first. */
  async #send(
    { needed, borrowed, isRepair = false }: Taken,
    records: readonly QueuedRecord[],
    until: number,
  ): Promise<void> {
    const { exchange, space, keys, device, around, abilities, mirror } = this.#target;
    const { line, segment, segmentHash: previous, began } = this.#entry;
    const index = new Map(borrowed);
    const inline = await this.#upload(needed, index);
    for (const [n, frame] of inline.entries())
      for (const { hash } of frame.objects) index.set(hash, { parcel: SELF, frame: n });
    const number = segment + 1;
    const suffix = abilities.createOnly ? "" : lettersOf(around.random(8));
    const key = space.names.segment(line, number, suffix);
    const head = createHead({
      line,
      number,
      previous,
      member: keys.id,
      device,
      at: around.now(),
      from: number === 1 && began !== null ? (JSON.parse(began) as { line: string; number: number }) : null,
      seen: this.#target.seen?.() ?? {},
      sweep: 0,
      ...(keys.certificate !== undefined && { certificate: keys.certificate }),
    });
    const uses = new Set(isRepair ? mirror.parcelsBeside(line, index) : mirror.parcels(line));
    for (const { parcel } of index.values()) if (parcel !== SELF) uses.add(parcel);
    const bytes = sealSegment(
      {
        head,
        records: records.map(({ kind, id, row }) => ({ kind, id, row })),
        index,
        content: inline,
        uses: [...uses],
      },
      { key, secret: presentSecret(space), salt: around.random(32), signer: keys.sign },
    );
    this.#objects += needed.length;
    this.#borrowed += borrowed.size;
    const entry: JournalEntry = {
      key,
      kind: "segment",
      stored: false,
      at: around.now(),
      until,
      detail: bytes,
    };
    exchange.noteRequest(this.#name, entry);
    await this.#commit(entry);
  }

  /** [T1, T2] Sends a segment that is in the journal, then its head; only then it no longer waits. */
  async #commit({ key, detail: bytes, until }: JournalEntry): Promise<void> {
    const { exchange, space, mirror, around, abilities } = this.#target;
    // a segment that cannot be opened would end the line for every reader
    const { head, index, records } = openSegment(bytes, { key, secret: secretFor(space, bytes) });
    const put = await space.store.put(key, bytes, { createOnly: abilities.createOnly });
    if (put.outcome === "exists" && !(await this.#isThere(key, bytes))) throw new LineTaken(key);
    if (put.outcome === "stored") await this.#expectStored(key, bytes, put.etag);
    const hash = segmentHash(bytes);
    await this.#writeHead(head.line, head.number, hash);
    mirror.add(head.line, { number: head.number, hash }, index);
    exchange.settle(this.#name, { segment: head.number, hash, until: until ?? 0, at: around.now() });
    this.#bytes += bytes.length;
    this.#segments++;
    this.#checkpoints += records.filter(({ kind }) => kind === "checkpoint").length;
  }

  /** [T1] Known to be stored: the ETag proves the content, or it is read back and equal. */
  async #expectStored(key: string, bytes: Buffer, etag: string): Promise<void> {
    if (etag === READ_BACK) return;
    if (etag === createHash("md5").update(bytes).digest("hex")) return;
    if (await this.#isThere(key, bytes)) return;
    throw new RemoteFailure("unknown", `The server does not have ${key} as it was sent.`);
  }

  async #isThere(key: string, bytes: Buffer): Promise<boolean> {
    return (await this.#target.space.store.get(key))?.bytes.equals(bytes) === true;
  }

  async #writeHead(line: string, number: number, hash: string): Promise<void> {
    const { space, keys, device, around } = this.#target;
    const key = space.names.head(line);
    const said = { line, number, hash, member: keys.id, device, at: around.now() };
    const bytes = sealParcel([plainFrame("records", Buffer.from(JSON.stringify(said)))], {
      kind: "head",
      key,
      secret: presentSecret(space),
      salt: around.random(32),
      signer: keys.sign,
    });
    await space.store.put(key, bytes, { createOnly: false });
  }

  /** Uploads content in parcels; what is small enough to ride inside the segment is returned. */
  async #upload(needed: readonly NeededObject[], index: Map<string, Place>): Promise<PlainFrame[]> {
    const { exchange, progress } = this.#target;
    let [frames, bytes, done]: [PlainFrame[], number, number] = [[], 0, 0];
    const flying = new Set<Promise<void>>();
    const launch = async (parcel: readonly PlainFrame[]) => {
      while (flying.size >= PARCELS_IN_FLIGHT) await Promise.race(flying);
      const flight = this.#putParcel(parcel, index);
      flying.add(flight);
      void flight.then(
        () => flying.delete(flight),
        () => undefined,
      );
    };
    try {
      for (const frame of framesOf(exchange, needed)) {
        if (bytes + frame.compressed.length > PARCEL_TARGET_BYTES && frames.length > 0) {
          await launch(frames);
          [frames, bytes] = [[], 0];
        }
        frames.push(frame);
        bytes += frame.compressed.length;
        done += frame.objects.length;
        progress?.(done, needed.length);
      }
      const isSmall = bytes <= INLINE_BYTES;
      if (!isSmall) await launch(frames);
      await Promise.all(flying);
      return isSmall ? frames : [];
    } finally {
      // nothing is written behind the back of the next push
      await Promise.allSettled(flying);
    }
  }

  async #putParcel(frames: readonly PlainFrame[], index: Map<string, Place>): Promise<void> {
    const { exchange, space, around } = this.#target;
    const id = around.random(16).toString("hex");
    const key = space.names.parcel(id);
    const places = new Map<string, Place>();
    for (const [frame, { objects }] of frames.entries())
      for (const { hash } of objects) places.set(hash, { parcel: id, frame });
    const bytes = sealParcel(frames, {
      kind: "content",
      key,
      secret: presentSecret(space),
      salt: around.random(32),
    });
    const entry: JournalEntry = {
      key,
      kind: "parcel",
      stored: false,
      at: around.now(),
      until: null,
      detail: encodeIndex(places),
    };
    exchange.noteRequest(this.#name, entry);
    const put = await space.store.put(key, bytes, { createOnly: false });
    await this.#expectStored(key, bytes, put.etag);
    exchange.noteRequest(this.#name, { ...entry, stored: true });
    this.#bytes += bytes.length;
    for (const [hash, place] of places) index.set(hash, place);
  }
}

/** Uploads objects of this store again that the remote lost. */
export async function pushObjects(
  target: PushTarget,
  name: string,
  hashes: readonly ObjectHash[],
): Promise<void> {
  await claimed(target.exchange, async () => {
    const run = new Push(target, name);
    await run.resume();
    await run.sendObjects(hashes);
  });
}

interface Taken {
  readonly needed: readonly NeededObject[];
  readonly borrowed: ReadonlyMap<string, Place>;
  /** The objects have a place in the index already, which is no good. */
  readonly isRepair?: boolean;
}

/** The objects of the next segment, each once. */
class Batch {
  readonly #placeOf: (hash: string) => Place | undefined;
  #needed: NeededObject[] = [];
  #borrowed = new Map<string, Place>();
  #names = new Set<string>();

  constructor(placeOf: (hash: string) => Place | undefined) {
    this.#placeOf = placeOf;
  }

  get size(): number {
    return this.#names.size;
  }

  has(hash: string): boolean {
    return this.#names.has(hash);
  }

  add(object: NeededObject): void {
    if (this.#names.has(object.hash)) return;
    this.#names.add(object.hash);
    const place = this.#placeOf(object.hash);
    if (place === undefined) this.#needed.push(object);
    else this.#borrowed.set(object.hash, place);
  }

  take(): Taken {
    const taken = { needed: this.#needed, borrowed: this.#borrowed };
    [this.#needed, this.#borrowed, this.#names] = [[], new Map(), new Set()];
    return taken;
  }
}

function entryOf(exchange: Exchange, name: string): RemoteEntry {
  return exchange.remotes().find((remote) => remote.name === name)!;
}

function idOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function lettersOf(random: Buffer): string {
  return [...random].map((byte) => String.fromCodePoint(97 + (byte % 26))).join("");
}
