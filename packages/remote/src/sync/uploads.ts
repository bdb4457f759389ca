/**
 * The content of a push on its way: parcels, each in the journal before it is sent [T3]. Two are in flight at a time; what is
 * small rides inside the segment.
 */
import type { JournalEntry, NeededObject } from "@belay/engine";
import { encodeIndex, type Place } from "../line/object-index.ts";
import { PARCEL_TARGET_BYTES } from "../parcel/limits.ts";
import { sealParcel, type PlainFrame } from "../parcel/parcel.ts";
import { presentSecret } from "../space/space.ts";
import { putSurely } from "../stores/put-surely.ts";
import { Garbage } from "./garbage.ts";
import { framesOf } from "./object-batch.ts";
import type { PushTarget } from "./push-target.ts";
import { Room } from "./room.ts";

const INLINE_BYTES = 1024 * 1024;
/** Each is in memory until the server has it. */
const PARCELS_IN_FLIGHT = 2;

/** A content parcel before it is sent. */
interface SealedParcel {
  readonly key: string;
  readonly places: ReadonlyMap<string, Place>;
  readonly bytes: Buffer;
}

/** What one push uploads beside its segments. */
export class Uploads {
  readonly #target: PushTarget;
  readonly #name: string;
  readonly #room: Room;
  /** [R2026] What it stores now may go over a quota: it makes room in the end, or is what was stored before. */
  #isExempt = false;
  /** The server's time of the first upload since the last segment. */
  #uploadedAt: number | undefined;
  #bytes = 0;

  constructor(target: PushTarget, name: string, line: string) {
    this.#target = target;
    this.#name = name;
    this.#room = new Room({ ...target, now: target.around.now, line });
  }

  /** What parcels took. */
  get bytes(): number {
    return this.#bytes;
  }

  /** [R2026] What is stored from now on may go over a quota. */
  exempt(): void {
    this.#isExempt = true;
  }

  /** [R2026] What this stores may go over a quota. */
  async exempted(work: () => Promise<void>): Promise<void> {
    this.#isExempt = true;
    await work();
    this.#isExempt = false;
  }

  /** The server's time of the first upload since this was last asked; undefined when there was none. */
  uploadedSince(): number | undefined {
    const at = this.#uploadedAt;
    this.#uploadedAt = undefined;
    return at;
  }

  /** [R2026] Throws when the quota has no room for what is about to be stored. */
  async expectRoom(bytes: number): Promise<void> {
    if (this.#isExempt || this.#target.exchange.forgetsUntil(this.#name) > 0) return;
    await this.#room.take(bytes);
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
      // nothing may still be writing when the next push begins
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
    await this.expectRoom(bytes.length);
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
