/**
 * Sends what a remote lacks. The order is content parcels, segment, head [T2]; a crash anywhere leaves either nothing
 * that counts or a segment that the next push finds and claims. Every request is in the journal before it is sent, with
 * the bytes of a segment, so that a retry repeats them [T3].
 */
import type {
  Exchange,
  JournalEntry,
  NeededObject,
  ObjectHash,
  QueuedRecord,
  RemoteEntry,
} from "@belay/engine";
import {
  decodeIndex,
  encodeIndex,
  INDEX_ENTRIES_LIMIT,
  SELF,
  WITHHELD,
  type Place,
} from "../line/object-index.ts";
import { newLineId } from "../line/line-id.ts";
import { createHead, openSegment, sealSegment, segmentHash } from "../line/segment.ts";
import { PARCEL_TARGET_BYTES } from "../parcel/limits.ts";
import { plainFrame, sealParcel, type PlainFrame } from "../parcel/parcel.ts";
import { presentSecret, secretFor } from "../space/space.ts";
import { idOf, isFoldKey, spanIn } from "../line/keys-of-space.ts";
import { expectStored, putSurely } from "../stores/put-surely.ts";
import { isAdopted, adopterOf } from "../space/adoptions.ts";
import { newestUses } from "./read-uses.ts";
import { Room } from "./room.ts";
import { Garbage } from "./garbage.ts";
import { KeptAtHome, type HomeReport } from "./kept-at-home.ts";
import { lookAtSweeps, type SweepLook } from "./look-at-sweeps.ts";
import { addToMirror } from "./mirror.ts";
import { Batch, framesOf, type Taken } from "./object-batch.ts";
import { expectOwnLine } from "./own-line.ts";
import { lettersOf, type LineWriter, type PushTarget } from "./push-target.ts";
import { LineDamage, listParcels, readLine } from "./read-line.ts";
import { QUIET_MS, Restater, type BaseRequest } from "./restate-line.ts";
import type { RewrittenLine } from "./rewrite-line.ts";

export type { PushTarget } from "./push-target.ts";

/** What a push did. */
export interface PushReport extends HomeReport {
  /** `partial`: what was chosen is stored, and more waits. */
  readonly outcome: "pushed" | "unchanged" | "partial";
  /** The last segment of the line. */
  readonly segment: number;
  readonly checkpoints: number;
  readonly objects: number;
  readonly bytes: number;
  readonly borrowed: number;
  /** The line that this store wrote before it found it taken [T4]; null when it did not. */
  readonly forkedFrom: string | null;
  /** The admin who adopted that line [R2241]; null when another copy of this store writes it. */
  readonly adoptedBy: string | null;
  /** [R2245] What was encrypted again because an admin asked for it. */
  readonly rewritten: RewrittenLine | null;
}

const INLINE_BYTES = 1024 * 1024;
const RECORD_BATCH_BYTES = 8 * 1024 * 1024;
/** Each is in memory until the server has it. */
const PARCELS_IN_FLIGHT = 2;
const HOUR_MS = 60 * 60 * 1000;
/** Parcels of a push that did not end are used by the next one for so long. */
const REUSE_MS = 24 * HOUR_MS;
/** [T8] So much of the server's time may pass between an upload and the commit: half of what a sweep waits before it condemns. */
const FENCE_MS = 36 * HOUR_MS;
/** A push is recent for as long as a list of members is used without asking. */
const RECENT_MS = 10 * 60_000;

/** Pushes one workspace to one remote. */
export async function push(target: PushTarget, name: string): Promise<PushReport> {
  return claimed(target.exchange, async () => {
    const first = entryOf(target.exchange, name);
    const run = new Push(target, name);
    try {
      run.expectNotAdopted();
      await run.expectOwnLine();
      await run.resume();
      await run.sendAll();
      await run.release();
      await run.restater.fold();
      await run.restater.forget();
      await run.restater.restate();
      await run.restater.rewrite();
      return run.report();
    } catch (error) {
      if (!(error instanceof LineTaken)) throw error;
      // [T4] a copy of this store writes that line, or an admin restates it: go on as a line of our own, and overwrite nothing
      const began = JSON.stringify({ line: first.line, number: entryOf(target.exchange, name).segment });
      target.exchange.beginLine(name, { line: newLineId(target.keys.id, target.around.random), began });
      const again = new Push(target, name);
      await again.sendAll();
      const adoptedBy = adopterOf(target.space, first.line)?.name ?? null;
      return { ...again.report(), forkedFrom: first.line, adoptedBy };
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

/** The next number of our line holds other bytes, or is not ours to write any more. */
class LineTaken extends Error {}

/** A content parcel before it is sent. */
interface SealedParcel {
  readonly key: string;
  readonly places: ReadonlyMap<string, Place>;
  readonly bytes: Buffer;
}

/** A segment that only takes a number. */
const NOTHING: Taken = { needed: [], borrowed: new Map(), withheld: new Set() };

class Push implements LineWriter {
  readonly #target: PushTarget;
  readonly #name: string;
  readonly restater: Restater;
  /** By this machine's clock. */
  readonly #begunAt: number;
  #checkpoints = 0;
  #objects = 0;
  #bytes = 0;
  #borrowed = 0;
  #segments = 0;
  /** False while a segment of an earlier push is sent again: only what is in it is known to be sent. */
  #isSending = false;
  /** [R2026] What it stores now may go over a quota: it makes room in the end, or is what was stored before. */
  #isExempt = false;
  readonly #room: Room;
  readonly #home: KeptAtHome;
  /** What the segments of a selection have sent before its last one. */
  readonly #sent: Pick<QueuedRecord, "kind" | "id">[] = [];
  /** Objects in parcels of a push that did not end. */
  readonly #uploaded = new Map<string, Place>();
  /** What the newest sweep said, where that was asked. */
  #look: SweepLook | undefined;
  /** The line whose content this one may use, and all parcels that it names now. */
  #lender: { readonly line: string; readonly uses: ReadonlySet<string> } | undefined;
  /** The server's time of the first upload since the last segment. */
  #uploadedAt: number | undefined;

  constructor(target: PushTarget, name: string) {
    this.#target = target;
    this.#name = name;
    this.restater = new Restater(this, target, name);
    this.#begunAt = target.around.now();
    this.#home = new KeptAtHome(target, name, this.#uploaded);
    this.#room = new Room({ ...target, now: target.around.now, line: this.entry.line });
  }

  /** The remote as the store knows it now. */
  get entry(): RemoteEntry {
    return entryOf(this.#target.exchange, this.#name);
  }

  report(): PushReport {
    const { exchange, chosen } = this.#target;
    const isPartial = chosen !== undefined && exchange.queued(this.#name).records > 0;
    return {
      outcome: this.#segments === 0 ? "unchanged" : isPartial ? "partial" : "pushed",
      segment: this.entry.segment,
      checkpoints: this.#checkpoints,
      objects: this.#objects,
      bytes: this.#bytes,
      borrowed: this.#borrowed,
      ...this.#home.report(),
      forkedFrom: null,
      adoptedBy: null,
      rewritten: this.restater.rewritten,
    };
  }

  /** [R1500] Asked only where the last push is not recent, so that an ordinary push stays two requests. */
  async expectOwnLine(): Promise<void> {
    const { space, around } = this.#target;
    const since = Math.abs(around.now() - (this.entry.pushedAt ?? 0));
    if (since >= RECENT_MS) await expectOwnLine(space, this.entry);
  }

  /** [R2241] An admin restates the line since this machine was gone: what this store knows of it may be gone with that. */
  expectNotAdopted(): void {
    const { line } = this.entry;
    if (isAdopted(this.#target.space, line)) throw new LineTaken(line);
  }

  /** A segment that only takes a number. */
  async takeNumber(): Promise<void> {
    await this.#send(NOTHING, [], 0);
  }

  /** [R2026] What is stored from now on may go over a quota. */
  exempt(): void {
    this.#isExempt = true;
  }

  /** The server's time of the first upload since this was last asked; undefined when there was none. */
  uploadedSince(): number | undefined {
    const at = this.#uploadedAt;
    this.#uploadedAt = undefined;
    return at;
  }

  /** Ends what an earlier push began: a segment whose answer is unknown is sent again, byte for byte. */
  async resume(): Promise<void> {
    const { exchange } = this.#target;
    const journal = exchange.journal(this.#name);
    if (journal.length === 0 && this.entry.segment === 0) exchange.settleWithholding(this.#name);
    const segments = journal.filter(({ kind }) => kind !== "parcel");
    // a segment beside a base repairs it
    const segment = segments.find(({ key }) => !isFoldKey(key));
    const last = segment ?? segments[0];
    // [R2021] what is withheld since then may be in it: only what the server has already is claimed
    if (last !== undefined && exchange.isWithholdingNew(this.#name) && !(await this.isThere(last)))
      exchange.dropJournal(this.#name);
    else if (segment !== undefined) return void (await this.#commit(segment));
    else if (last !== undefined) return void (await this.restater.commitBase(last));
    const parcels = journal.filter(({ kind, stored }) => kind === "parcel" && stored);
    for (const { key, detail, at } of parcels) {
      if (this.#target.around.now() - at > REUSE_MS) continue;
      for (const [hash, place] of decodeIndex(detail))
        this.#uploaded.set(hash, { ...place, parcel: idOf(key) });
    }
  }

  /** The newest sweep that this push has seen. */
  get sweep(): number {
    return this.#look?.state.number ?? 0;
  }

  /** [T8] */
  async lookAgain(): Promise<SweepLook> {
    const { space, mirror } = this.#target;
    const look = await lookAtSweeps(space);
    const { number } = look.state;
    // [T15] an older one would not say what is condemned
    const seen = mirror.noteSweep(number);
    if (seen > number)
      throw new LineDamage(
        "rolled-back",
        space.names.sweep(seen),
        "a sweep that was seen is not there any more",
      );
    this.#look = look;
    return look;
  }

  async sendAll(): Promise<void> {
    const { exchange, mirror, chosen } = this.#target;
    const until = exchange.outboxEnd(this.#name, chosen);
    if (until === 0) return;
    await this.#catchUp();
    await this.#expectFreeLine();
    await this.#prepareToBorrow();
    const { line } = this.entry;
    const batch = new Batch((hash) => this.#placeOf(hash));
    // a line that has no segment yet has no object either: the mirror is not asked about each
    const isBegun = mirror.last(line) !== undefined;
    const isPlaced = (hash: string) =>
      (isBegun || this.#segments > 0) && mirror.place(line, hash) !== undefined;
    const { names } = this.#home.amongQueued({ until, chosen, line }, isPlaced);
    let [records, recordBytes]: [QueuedRecord[], number] = [[], 0];
    for (const record of exchange.records(this.#name, until, chosen)) {
      records.push(record);
      recordBytes += JSON.stringify(record).length;
      if (record.kind === "checkpoint") {
        const isKnown = (hash: string) => batch.has(hash) || isPlaced(hash);
        for (const object of exchange.needed(record.id, isKnown, names)) {
          batch.add(object);
          if (batch.size >= INDEX_ENTRIES_LIMIT) await this.#send(batch.take(), [], 0);
        }
      }
      if (recordBytes < RECORD_BATCH_BYTES) continue;
      await this.#send(batch.take(), records, 0);
      [records, recordBytes] = [[], 0];
    }
    // branches go along with what is chosen, and never alone
    if ((chosen !== undefined || exchange.isLimited()) && records.every(({ kind }) => kind === "branch"))
      return;
    // [T8] what had to be repaired is still queued
    if (!(await this.#send(batch.take(), records, until))) await this.sendAll();
  }

  /** [R2021] After another `sync.withhold`: sends what no path keeps at home any more, and says what was sent before. */
  async release(): Promise<void> {
    const { exchange, chosen } = this.#target;
    if (this.entry.segment === 0 || chosen !== undefined || !exchange.isWithholdingNew(this.#name)) return;
    await this.#catchUp();
    const released = this.#home.released(this.entry.line);
    for (let at = 0; at < released.length; at += INDEX_ENTRIES_LIMIT)
      await this.#sendObjects(released.slice(at, at + INDEX_ENTRIES_LIMIT));
    exchange.settleWithholding(this.#name);
  }

  /** A new line uses content of the one that it began with: what that one names now. */
  async #prepareToBorrow(): Promise<void> {
    const { space } = this.#target;
    const { began, segment } = this.entry;
    this.#lender = undefined;
    if (began === null || segment > 0) return;
    const { line } = JSON.parse(began) as { line: string };
    this.#lender = { line, uses: await newestUses(space, line) };
  }

  /** Uploads objects again that the remote lost, and says where they are now. */
  async repair(hashes: readonly ObjectHash[]): Promise<void> {
    this.#isExempt = true;
    await this.#sendObjects(hashes);
    this.#isExempt = false;
  }

  async #sendObjects(hashes: readonly ObjectHash[]): Promise<void> {
    await this.#catchUp();
    const { exchange } = this.#target;
    // [R2020] what is withheld by now is not sent again
    const { names } = exchange.keptBack(exchange.checkpoints(), () => false);
    const needed = hashes.filter((hash) => !names.has(hash)).map((hash) => ({ hash, isTree: false }));
    const withheld = new Set(hashes.filter((hash) => names.has(hash)));
    await this.#send({ needed, borrowed: new Map(), withheld, isRepair: true }, [], 0);
  }

  /** An object that an earlier push of this line, or the line that this one began with, has uploaded. */
  #placeOf(hash: string): Place | undefined {
    const uploaded = this.#uploaded.get(hash);
    if (uploaded !== undefined || this.#lender === undefined) return uploaded;
    const place = this.#target.mirror.borrow(hash, this.#lender.line);
    return place !== undefined && this.#lender.uses.has(place.parcel) ? place : undefined;
  }

  /** The mirror may be lost or behind: the line itself says what it holds. */
  async #catchUp(): Promise<void> {
    const { mirror, space } = this.#target;
    const { line, segment, segmentHash: hash } = this.entry;
    const known = mirror.last(line);
    if (segment === 0 || (known?.number === segment && known.hash === hash)) return;
    const isThere = await this.#presentParcels();
    const reading = { there: () => listParcels(space) };
    for await (const { segment: read, key } of readLine(space, line, undefined, reading)) {
      // [T4] a copy of this store is further, and has restated the line
      if (read.head.number > segment) throw new LineTaken(key);
      if (read.head.number === segment && read.hash !== hash) break;
      addToMirror(mirror, line, read, isThere);
      if (read.head.number === segment) return;
    }
    // [T15]
    throw new LineDamage(
      "rolled-back",
      space.names.segment(line, segment),
      "the segment that this store wrote last is not there any more",
    );
  }

  /** What the server still has: an index may name what was lost before it could be repaired. */
  async #presentParcels(): Promise<(parcel: string) => boolean> {
    const { store, names } = this.#target.space;
    const { isBanned } = await this.lookAgain();
    const there = new Set<string>();
    for await (const { key } of store.list(names.parcels)) there.add(idOf(key));
    return (parcel) => there.has(parcel) && !isBanned(parcel);
  }

  /** [T4] Where the server cannot refuse to overwrite, a look at the line shows whether a copy of this store wrote to it. */
  async #expectFreeLine(): Promise<void> {
    const { abilities, space } = this.#target;
    if (abilities.createOnly) return;
    const { line, segment } = this.entry;
    const after = `${space.names.segment(line, segment)}~`;
    for await (const { key } of space.store.list(space.names.segmentsOf(line), after))
      throw new LineTaken(key);
  }

  /** One segment: its content first. False when not all that it names can be relied on: what was queued still is. */
  async #send(
    { needed, borrowed, withheld, isRepair = false }: Taken,
    records: readonly QueuedRecord[],
    until: number,
  ): Promise<boolean> {
    const { exchange, space, keys, device, around, abilities, mirror } = this.#target;
    const { line, segment, segmentHash: previous, began } = this.entry;
    const index = new Map(borrowed);
    for (const hash of withheld) index.set(hash, { parcel: WITHHELD, frame: 0 });
    const inline = await this.upload(needed, index);
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
      sweep: this.#look?.state.number ?? 0,
      ...(keys.certificate !== undefined && { certificate: keys.certificate }),
    });
    const uses = new Set(isRepair ? mirror.parcelsBeside(line, index) : mirror.parcels(line));
    for (const { parcel } of index.values()) if (parcel !== SELF && parcel !== WITHHELD) uses.add(parcel);
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
    await this.#expectRoom(bytes.length);
    this.#objects += needed.length;
    this.#borrowed += borrowed.size;
    const isSelection = (this.#target.chosen !== undefined || exchange.isLimited()) && until > 0;
    const entry: JournalEntry = {
      key,
      kind: isSelection ? "selection" : "segment",
      stored: false,
      // [T8] what was not uploaded just now is looked at after the commit, however soon that is
      at: borrowed.size > 0 ? 0 : (this.#uploadedAt ?? around.now()),
      until,
      detail: bytes,
    };
    exchange.noteRequest(this.#name, entry);
    this.#uploadedAt = undefined;
    this.#isSending = true;
    return this.#commit(entry);
  }

  async #expectRoom(bytes: number): Promise<void> {
    if (this.#isExempt || this.#target.exchange.forgetsUntil(this.#name) > 0) return;
    await this.#room.take(bytes);
  }

  /** [T1, T2] Sends a segment that is in the journal, then its head; only then it no longer waits. */
  async #commit({ key, kind, detail: bytes, until, at }: JournalEntry): Promise<boolean> {
    const { exchange, space, mirror, abilities } = this.#target;
    // a segment that cannot be opened would end the line for every reader
    const { head, index, records } = openSegment(bytes, { key, secret: secretFor(space, bytes) });
    const put = await space.store.put(key, bytes, { createOnly: abilities.createOnly });
    if (put.outcome === "exists" && !(await this.isThere({ key, detail: bytes }))) throw new LineTaken(key);
    if (put.outcome === "stored") await expectStored(space.store, { key, bytes }, put.etag);
    await this.#expectOnlyWriter(head.number, put.date);
    await this.#expectStillOurs();
    const hash = segmentHash(bytes);
    await this.#writeHead(head.line, head.number, hash);
    const lost = await this.lostSince(index, { at, now: put.date });
    const kept = new Map([...index].filter(([name]) => !lost.has(name)));
    mirror.add(head.line, { number: head.number, hash }, kept);
    const settled = lost.size === 0 ? (until ?? 0) : 0;
    this.#sent.push(...records.map((record) => ({ kind: record.kind, id: record.id })));
    const isLimited = this.#target.chosen === undefined && this.#isSending;
    const sent = kind === "selection" ? { sent: this.#sent, isLimited } : {};
    exchange.settle(this.#name, { segment: head.number, hash, until: settled, at: put.date, ...sent });
    this.#bytes += bytes.length;
    this.#segments++;
    this.#checkpoints += records.filter((record) => record.kind === "checkpoint").length;
    if (lost.size > 0) await this.repair([...lost] as ObjectHash[]);
    return lost.size === 0;
  }

  /**
   * [T8] What a segment names newly and a sweep may have taken. A sweep that deletes something condemned it before it listed the
   * lines. If it missed this segment in that list, then the look here, which comes later, shows the condemnation.
   */
  async lostSince(
    index: ReadonlyMap<string, Place>,
    { at, now }: { readonly at: number; readonly now: number },
  ): Promise<Set<string>> {
    const named = [...index].filter(([, { parcel }]) => parcel !== SELF && parcel !== WITHHELD);
    if (named.length === 0 || now - at <= FENCE_MS) return new Set();
    // [R2220] what was deleted long ago no sweep remembers, but it is not there
    const isThere = await this.#presentParcels();
    return new Set(named.filter(([, { parcel }]) => !isThere(parcel)).map(([name]) => name));
  }

  /** [T4] A number that was folded and swept is free again: a copy of this store may be further. */
  async #expectOnlyWriter(number: number, now: number): Promise<void> {
    const { space } = this.#target;
    const { line, pushedAt } = this.entry;
    if (pushedAt === null || now - pushedAt < QUIET_MS) return;
    for await (const { key } of space.store.list(space.names.segmentsOf(line))) {
      const span = spanIn(key);
      if (span !== undefined && (span.to > number || (span.to === number && span.from < number)))
        throw new LineTaken(key);
    }
  }

  /** [R2242] A machine that slept in the middle of a push may have lost its line meanwhile. */
  async #expectStillOurs(): Promise<void> {
    const { around, refreshed } = this.#target;
    if (Math.abs(around.now() - this.#begunAt) < HOUR_MS || refreshed === undefined) return;
    const { line } = this.entry;
    if (isAdopted(await refreshed(), line)) throw new LineTaken(line);
  }

  async isThere({ key, detail }: Pick<JournalEntry, "key" | "detail">): Promise<boolean> {
    return (await this.#target.space.store.get(key))?.bytes.equals(detail) === true;
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
  async upload(needed: readonly NeededObject[], index: Map<string, Place>): Promise<PlainFrame[]> {
    const { exchange, progress, inlineBytes = INLINE_BYTES } = this.#target;
    let [frames, bytes, done, raw, total]: [PlainFrame[], number, number, number, number] = [[], 0, 0, 0, 0];
    const located = (sum: number) => (total = sum);
    const flying = new Set<Promise<void>>();
    const garbage = new Garbage(this.#target.around);
    const launch = async (parcel: PlainFrame[]) => {
      while (flying.size >= PARCELS_IN_FLIGHT) await Promise.race(flying);
      const sealed = this.#sealed(parcel);
      // they would stay in memory as long as the request
      parcel.length = 0;
      const flight = this.#storeParcel(sealed, index);
      flying.add(flight);
      void flight.then(
        () => flying.delete(flight),
        () => undefined,
      );
    };
    try {
      for (const frame of framesOf(exchange, needed, located)) {
        if (bytes + frame.compressed.length > PARCEL_TARGET_BYTES && frames.length > 0) {
          await launch(frames);
          [frames, bytes] = [[], 0];
        }
        frames.push(frame);
        garbage.add(frame.rawBytes);
        bytes += frame.compressed.length;
        done += frame.objects.length;
        raw += frame.rawBytes;
        const sizes = { bytes: raw, bytesTotal: Math.max(raw, total) };
        progress?.({ phase: "content", objects: done, objectsTotal: needed.length, ...sizes });
      }
      const isSmall = bytes <= inlineBytes;
      if (!isSmall) await launch(frames);
      await Promise.all(flying);
      return isSmall ? frames : [];
    } finally {
      // nothing is written behind the back of the next push
      await Promise.allSettled(flying);
    }
  }

  async putParcel(frames: readonly PlainFrame[], index: Map<string, Place>): Promise<void> {
    await this.#storeParcel(this.#sealed(frames), index);
  }

  #sealed(frames: readonly PlainFrame[]): SealedParcel {
    const { space, around } = this.#target;
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
    return { key, places, bytes };
  }

  async #storeParcel({ key, places, bytes }: SealedParcel, index: Map<string, Place>): Promise<void> {
    const { exchange, space, around } = this.#target;
    await this.#expectRoom(bytes.length);
    const entry: JournalEntry = {
      key,
      kind: "parcel",
      stored: false,
      at: around.now(),
      until: null,
      detail: encodeIndex(places),
    };
    exchange.noteRequest(this.#name, entry);
    const begun = around.now();
    const put = await putSurely(space.store, key, bytes);
    // [T8] a request that was repeated for days: a sweep may have seen, condemned and deleted what its first try stored
    const firstTry = put.date - Math.max(0, around.now() - begun);
    this.#uploadedAt = Math.min(this.#uploadedAt ?? Infinity, firstTry);
    exchange.noteRequest(this.#name, { ...entry, stored: true });
    this.#bytes += bytes.length;
    for (const [hash, place] of places) index.set(hash, place);
  }
}

/** Restates the line of a store without what is let go; false when that cannot be done. */
export async function pushBase(target: PushTarget, name: string, request: BaseRequest): Promise<boolean> {
  return claimed(target.exchange, async () => {
    const run = new Push(target, name);
    await run.resume();
    return run.restater.base(request);
  });
}

/** [R2245] Encrypts the line of a store again, where an admin asked for it; null when nothing of it is older. */
export async function rewriteLine(target: PushTarget, name: string): Promise<RewrittenLine | null> {
  return claimed(target.exchange, async () => {
    const run = new Push(target, name);
    if (target.adopted === undefined) run.expectNotAdopted();
    await run.resume();
    await run.restater.rewrite(true);
    return run.restater.rewritten;
  });
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
    await run.repair(hashes);
  });
}

function entryOf(exchange: Exchange, name: string): RemoteEntry {
  return exchange.remotes().find((remote) => remote.name === name)!;
}
