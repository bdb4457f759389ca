/**
 * Sends what a remote lacks. The order is content parcels, segment, head [T2]; a crash anywhere leaves either nothing
 * that counts or a segment that the next push finds and claims. Every request is in the journal before it is sent, with
 * the bytes of a segment, so that a retry repeats them [T3].
 */
import type { Exchange, JournalEntry, ObjectHash, QueuedRecord, RemoteEntry } from "@belay/engine";
import { decodeIndex, INDEX_ENTRIES_LIMIT, SELF, WITHHELD, type Place } from "../line/object-index.ts";
import { newLineId } from "../line/line-id.ts";
import { createHead, openSegment, sealSegment, segmentHash } from "../line/segment.ts";
import { UnknownSecretError } from "../parcel/damage.ts";
import { sealValue } from "../parcel/parcel.ts";
import { presentSecret, secretFor } from "../space/space.ts";
import { idOf, isFoldKey } from "../line/keys-of-space.ts";
import { expectStored } from "../stores/put-surely.ts";
import { adopterOf } from "../space/adoptions.ts";
import { catchUpMirror } from "./catch-up-mirror.ts";
import { KeptAtHome, type HomeReport } from "./kept-at-home.ts";
import { expectFreeLine, expectNotAdopted, expectOnlyWriter, LineTaken } from "./line-taken.ts";
import type { LineWriter } from "./line-writer.ts";
import { Batch, type Taken } from "./object-batch.ts";
import { expectOwnLine } from "./own-line.ts";
import { lettersOf, type PushTarget } from "./push-target.ts";
import { newestUses } from "./read-uses.ts";
import { Restater, type BaseRequest } from "./restate-line.ts";
import type { RewrittenLine } from "./rewrite-line.ts";
import { SweepsSeen } from "./sweeps-seen.ts";
import { Uploads } from "./uploads.ts";

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

const RECORD_BATCH_BYTES = 8 * 1024 * 1024;
const HOUR_MS = 60 * 60 * 1000;
/** Parcels of a push that did not end are used by the next one for so long. */
const REUSE_MS = 24 * HOUR_MS;
/** A push is recent for as long as a list of members is used without asking. */
const RECENT_MS = 10 * 60_000;

/** Pushes one workspace to one remote. */
export async function push(target: PushTarget, name: string): Promise<PushReport> {
  return claimed(target.exchange, async () => {
    try {
      return await pushOnce(target, name);
    } catch (error) {
      if (!(error instanceof UnknownSecretError) || target.refreshed === undefined) throw error;
      const space = await target.refreshed();
      if (!space.secrets.has(error.generation)) throw error;
      // [R762] the secret was changed since this machine looked; what was sent before that is in the journal
      return await pushOnce({ ...target, space, lookedAt: target.around.now() }, name);
    }
  });
}

async function pushOnce(target: PushTarget, name: string): Promise<PushReport> {
  const first = entryOf(target.exchange, name);
  const run = new Push(target, name);
  try {
    expectNotAdopted(target.space, first.line);
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

/** A segment that only takes a number. */
const NOTHING: Taken = { needed: [], borrowed: new Map(), withheld: new Set() };

class Push implements LineWriter {
  readonly #target: PushTarget;
  readonly #name: string;
  readonly sweeps: SweepsSeen;
  readonly uploads: Uploads;
  readonly restater: Restater;
  /** When the members were asked for, by this machine's clock. */
  readonly #lookedAt: number;
  #checkpoints = 0;
  #objects = 0;
  #bytes = 0;
  #borrowed = 0;
  #segments = 0;
  /** False while a segment of an earlier push is sent again: only what is in it is known to be sent. */
  #isSending = false;
  readonly #home: KeptAtHome;
  /** What the segments of a selection have sent before its last one. */
  readonly #sent: Pick<QueuedRecord, "kind" | "id">[] = [];
  /** Objects in parcels of a push that did not end. */
  readonly #uploaded = new Map<string, Place>();
  /** The line whose content this one may use, and all parcels that it names now. */
  #lender: { readonly line: string; readonly uses: ReadonlySet<string> } | undefined;
  constructor(target: PushTarget, name: string) {
    this.#target = target;
    this.#name = name;
    this.sweeps = new SweepsSeen(target);
    this.uploads = new Uploads(target, name, this.entry.line);
    this.restater = new Restater(this, target, name);
    this.#lookedAt = target.lookedAt ?? target.around.now();
    this.#home = new KeptAtHome(target, name, this.#uploaded);
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
      bytes: this.#bytes + this.uploads.bytes,
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

  /** A segment that only takes a number. */
  async takeNumber(): Promise<void> {
    await this.#send(NOTHING, [], 0);
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

  async sendAll(): Promise<void> {
    const { exchange, mirror, chosen } = this.#target;
    const until = exchange.outboxEnd(this.#name, chosen);
    if (until === 0) return;
    await catchUpMirror(this.#target, this.entry, this.sweeps);
    await expectFreeLine(this.#target, this.entry);
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
    await catchUpMirror(this.#target, this.entry, this.sweeps);
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
    await this.uploads.exempted(() => this.#sendObjects(hashes));
  }

  async #sendObjects(hashes: readonly ObjectHash[]): Promise<void> {
    await catchUpMirror(this.#target, this.entry, this.sweeps);
    const { exchange } = this.#target;
    // [R2020] what is withheld by now is not sent again
    const { names } = exchange.keptBack(exchange.checkpoints(), () => false);
    const withheld = new Set(hashes.filter((hash) => names.has(hash)));
    const here = this.#notForgotten(hashes.filter((hash) => !withheld.has(hash)));
    const needed = here.map((hash) => ({ hash, isTree: false }));
    await this.#send({ needed, borrowed: new Map(), withheld, isRepair: true }, [], 0);
  }

  /**
   * [R2264] What was forgotten between a push that was interrupted and this one cannot be sent again, and no checkpoint needs it:
   * those that had it are sent without it.
   */
  #notForgotten(hashes: readonly ObjectHash[]): readonly ObjectHash[] {
    const { exchange } = this.#target;
    const located = new Set(exchange.locate(hashes).map(({ hash }) => hash));
    if (hashes.every((hash) => located.has(hash))) return hashes;
    const needed = new Set<ObjectHash>();
    for (const id of exchange.checkpoints())
      for (const { hash } of exchange.needed(id, () => false)) needed.add(hash);
    return hashes.filter((hash) => located.has(hash) || needed.has(hash));
  }

  /** An object that an earlier push of this line, or the line that this one began with, has uploaded. */
  #placeOf(hash: string): Place | undefined {
    const uploaded = this.#uploaded.get(hash);
    if (uploaded !== undefined || this.#lender === undefined) return uploaded;
    const place = this.#target.mirror.borrow(hash, this.#lender.line);
    return place !== undefined && this.#lender.uses.has(place.parcel) ? place : undefined;
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
    const inline = await this.uploads.upload(needed, index);
    const uploadedAt = this.uploads.uploadedSince();
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
      sweep: this.sweeps.newest,
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
    await this.uploads.expectRoom(bytes.length);
    this.#objects += needed.length;
    this.#borrowed += borrowed.size;
    const isSelection = (this.#target.chosen !== undefined || exchange.isLimited()) && until > 0;
    const entry: JournalEntry = {
      key,
      kind: isSelection ? "selection" : "segment",
      stored: false,
      // [T8] what was not uploaded just now is looked at after the commit, however soon that is
      at: borrowed.size > 0 ? 0 : (uploadedAt ?? around.now()),
      until,
      detail: bytes,
    };
    exchange.noteRequest(this.#name, entry);
    this.#isSending = true;
    return this.#commit(entry);
  }

  /** [T1, T2] Sends a segment that is in the journal, then its head; only then does it stop waiting. */
  async #commit({ key, kind, detail: bytes, until, at }: JournalEntry): Promise<boolean> {
    const { exchange, space, mirror, abilities } = this.#target;
    // a segment that cannot be opened would end the line for every reader
    const { head, index, records } = openSegment(bytes, { key, secret: secretFor(space, bytes) });
    const put = await space.store.put(key, bytes, { createOnly: abilities.createOnly });
    if (put.outcome === "exists" && !(await this.isThere({ key, detail: bytes }))) throw new LineTaken(key);
    if (put.outcome === "stored") await expectStored(space.store, { key, bytes }, put.etag);
    await expectOnlyWriter(space, this.entry, { number: head.number, now: put.date });
    await this.#expectStillOurs();
    const hash = segmentHash(bytes);
    await this.#writeHead(head.line, head.number, hash);
    const lost = await this.sweeps.lostSince(index, { at, now: put.date });
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

  /** [R2242] A machine that slept in the middle of a push may have lost its line meanwhile. */
  async #expectStillOurs(): Promise<void> {
    const { around, refreshed } = this.#target;
    if (Math.abs(around.now() - this.#lookedAt) < HOUR_MS || refreshed === undefined) return;
    const { line } = this.entry;
    expectNotAdopted(await refreshed(), line);
  }

  async isThere({ key, detail }: Pick<JournalEntry, "key" | "detail">): Promise<boolean> {
    return (await this.#target.space.store.get(key))?.bytes.equals(detail) === true;
  }

  async #writeHead(line: string, number: number, hash: string): Promise<void> {
    const { space, keys, device, around } = this.#target;
    const key = space.names.head(line);
    const said = { line, number, hash, member: keys.id, device, at: around.now() };
    const bytes = sealValue(said, {
      kind: "head",
      key,
      secret: presentSecret(space),
      salt: around.random(32),
      signer: keys.sign,
    });
    await space.store.put(key, bytes, { createOnly: false });
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
    if (target.adopted === undefined) expectNotAdopted(target.space, run.entry.line);
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
