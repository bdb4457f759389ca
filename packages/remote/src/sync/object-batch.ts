/**
 * The new objects of a push, as frames. Packs of the store whose objects are all new go as they are: nothing is
 * compressed twice. The rest is opened, ordered (contents, then trees) and packed together. Every object is hashed before
 * it leaves: damage of this machine does not travel.
 */
import { hash as hashOf } from "node:crypto";
import type { Exchange, LocatedObject, NeededObject, ObjectHash } from "@belay/engine";
import type { Place } from "../line/object-index.ts";
import type { FramedObject } from "../parcel/directory.ts";
import { decompressFrame, plainFrame, type PlainFrame } from "../parcel/parcel.ts";

/** A pack of the store of at least this size is sent as it is. */
const PACK_BYTES = 128 * 1024;
/** Raw bytes in a frame that is packed here. */
const FRAME_BYTES = 4 * 1024 * 1024;
const FORM_BYTES = 0;

/** The frames of these objects, one after the other. How many bytes they hold is said first. */
export function* framesOf(
  exchange: Exchange,
  needed: readonly NeededObject[],
  tellBytes?: (sum: number) => void,
): Generator<PlainFrame> {
  const located = exchange.locate(needed.map(({ hash }) => hash));
  tellBytes?.(located.reduce((sum, { size }) => sum + size, 0));
  const rest: LocatedObject[] = [];
  for (const group of byPack(located)) {
    const frame = wholePack(exchange, group);
    if (frame === undefined) rest.push(...group);
    else yield frame;
  }
  const trees = new Set(needed.filter(({ isTree }) => isTree).map(({ hash }) => hash));
  const isTree = ({ hash }: LocatedObject) => trees.has(hash);
  const found = new Set(located.map(({ hash }) => hash));
  const moved = needed.filter(({ hash }) => !found.has(hash)).map(({ hash }) => ({ hash }));
  yield* repacked(exchange, [...rest.filter((one) => !isTree(one)), ...rest.filter(isTree), ...moved]);
}

function byPack(located: readonly LocatedObject[]): LocatedObject[][] {
  const groups = new Map<number, LocatedObject[]>();
  for (const object of located) {
    const group = groups.get(object.pack);
    if (group === undefined) groups.set(object.pack, [object]);
    else group.push(object);
  }
  return [...groups.values()];
}

/** The pack that holds exactly these objects, proved; undefined when it holds others too, is small, or is gone. */
function wholePack(exchange: Exchange, group: readonly LocatedObject[]): PlainFrame | undefined {
  const bytes = group.reduce((sum, { size }) => sum + size, 0);
  if (bytes < PACK_BYTES || bytes > FRAME_BYTES * 2) return undefined;
  const pack = exchange.pack(group[0]!.pack);
  if (pack?.rawBytes !== bytes) return undefined;
  const raw = decompressFrame(pack.data, pack.rawBytes);
  const isProved = group.every(
    ({ hash, offset, size, form }) =>
      form !== FORM_BYTES || sha256(raw.subarray(offset, offset + size)) === hash,
  );
  if (!isProved) return undefined;
  const objects = group.map(({ hash, offset, size, form }): FramedObject => ({ hash, offset, size, form }));
  return { kind: "content", compressed: pack.data, rawBytes: pack.rawBytes, objects };
}

function sha256(bytes: Buffer): string {
  return hashOf("sha256", bytes, "hex");
}

function* repacked(
  exchange: Exchange,
  objects: readonly { readonly hash: ObjectHash }[],
): Generator<PlainFrame> {
  let [parts, framed, size]: [Buffer[], FramedObject[], number] = [[], [], 0];
  for (const { hash } of objects) {
    const { bytes, form } = exchange.read(hash);
    if (size + bytes.length > FRAME_BYTES && framed.length > 0) {
      yield plainFrame("content", Buffer.concat(parts), framed);
      [parts, framed, size] = [[], [], 0];
    }
    framed.push({ hash, offset: size, size: bytes.length, form });
    parts.push(bytes);
    size += bytes.length;
  }
  if (framed.length > 0) yield plainFrame("content", Buffer.concat(parts), framed);
}

/** What goes into one segment. */
export interface Taken {
  readonly needed: readonly NeededObject[];
  readonly borrowed: ReadonlyMap<string, Place>;
  /** What stays at home. */
  readonly withheld: ReadonlySet<string>;
  /** The objects have a place in the index already, which is no good. */
  readonly isRepair?: boolean;
}

/** The objects of the next segment, each once. */
export class Batch {
  readonly #placeOf: (hash: string) => Place | undefined;
  #needed: NeededObject[] = [];
  #borrowed = new Map<string, Place>();
  #withheld = new Set<string>();
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
    // [R2020] not even where a line that this one began with has it
    if (object.isWithheld === true) return void this.#withheld.add(object.hash);
    const place = this.#placeOf(object.hash);
    if (place === undefined) this.#needed.push(object);
    else this.#borrowed.set(object.hash, place);
  }

  take(): Taken {
    const taken = { needed: this.#needed, borrowed: this.#borrowed, withheld: this.#withheld };
    [this.#needed, this.#borrowed] = [[], new Map()];
    [this.#withheld, this.#names] = [new Set(), new Set()];
    return taken;
  }
}
