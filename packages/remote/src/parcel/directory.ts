/**
 * The directory of a parcel: what each frame is, where it lies, how long it is, the hash of its ciphertext, and for
 * content the objects in it. One encoding; every number is checked before it is used.
 */
import { expectSound } from "./damage.ts";
import { LIMIT } from "./limits.ts";

/** What a frame holds. */
export type FrameKind = "records" | "index" | "uses" | "content";

/** One object of a content frame: where it lies in the raw bytes. */
export interface FramedObject {
  /** SHA-256 of its content, 32 bytes in hexadecimal. */
  readonly hash: string;
  readonly offset: number;
  readonly size: number;
  /** As in the store: 0 its bytes, 1 a list of pieces. */
  readonly form: number;
}

/** One frame of a parcel. */
export interface Frame {
  readonly kind: FrameKind;
  /** From the first byte after directory and signature. */
  readonly offset: number;
  /** Of the ciphertext, with its tag. */
  readonly length: number;
  readonly rawBytes: number;
  /** SHA-256 of the ciphertext. */
  readonly sha256: Buffer;
  readonly objects: readonly FramedObject[];
}

const KINDS: readonly FrameKind[] = ["records", "index", "uses", "content"];
const FRAME_BYTES = 1 + 4 + 4 + 4 + 32 + 4;
const OBJECT_BYTES = 32 + 4 + 4 + 1;
const HASH_BYTES = 32;
/** The frame's ciphertext is at least its tag. */
const TAG_BYTES = 16;

/** The bytes of a parcel's directory. */
export function encodeDirectory(frames: readonly Frame[]): Buffer {
  const objects = frames.reduce((sum, frame) => sum + frame.objects.length, 0);
  const bytes = Buffer.alloc(4 + frames.length * FRAME_BYTES + objects * OBJECT_BYTES);
  let at = bytes.writeUInt32BE(frames.length, 0);
  for (const frame of frames) {
    at = bytes.writeUInt8(KINDS.indexOf(frame.kind), at);
    at = bytes.writeUInt32BE(frame.offset, at);
    at = bytes.writeUInt32BE(frame.length, at);
    at = bytes.writeUInt32BE(frame.rawBytes, at);
    at += frame.sha256.copy(bytes, at);
    at = bytes.writeUInt32BE(frame.objects.length, at);
    for (const { hash, offset, size, form } of frame.objects) {
      at += bytes.write(hash, at, HASH_BYTES, "hex");
      at = bytes.writeUInt32BE(offset, at);
      at = bytes.writeUInt32BE(size, at);
      at = bytes.writeUInt8(form, at);
    }
  }
  return bytes;
}

/** The frames that a directory names; throws where they overlap, leave gaps, or claim more than is allowed. */
export function decodeDirectory(bytes: Buffer): Frame[] {
  const reader = new Reader(bytes);
  const count = reader.uint32();
  expectSound(count <= bytes.length / FRAME_BYTES, "the directory claims more frames than it has");
  const frames: Frame[] = [];
  let end = 0;
  let objectsTotal = 0;
  for (let n = 0; n < count; n++) {
    const kind = KINDS[reader.uint8()];
    expectSound(kind !== undefined, "a frame has an unknown kind");
    const [offset, length, rawBytes] = [reader.uint32(), reader.uint32(), reader.uint32()];
    expectSound(offset === end && length >= TAG_BYTES, "the frames of a directory do not follow each other");
    expectSound(rawBytes <= LIMIT.frameBytes, "a frame claims to be larger than is allowed");
    end += length;
    expectSound(end <= LIMIT.parcelBytes, "the frames are larger than a parcel");
    const sha256 = reader.take(HASH_BYTES);
    const objects = readObjects(reader, rawBytes);
    objectsTotal += objects.length;
    expectSound(objectsTotal <= LIMIT.parcelObjects, "a parcel claims more objects than are allowed");
    expectSound(kind === "content" || objects.length === 0, "only content has objects");
    frames.push({ kind, offset, length, rawBytes, sha256, objects });
  }
  expectSound(reader.isAtEnd, "there is more after the directory");
  return frames;
}

function readObjects(reader: Reader, rawBytes: number): FramedObject[] {
  const count = reader.uint32();
  expectSound(count <= reader.left / OBJECT_BYTES, "the directory claims more objects than it has");
  const objects: FramedObject[] = [];
  for (let n = 0; n < count; n++) {
    const hash = reader.take(HASH_BYTES).toString("hex");
    const [offset, size, form] = [reader.uint32(), reader.uint32(), reader.uint8()];
    expectSound(offset + size <= rawBytes && form <= 1, "an object lies outside its frame");
    objects.push({ hash, offset, size, form });
  }
  return objects;
}

/** Reads numbers and bytes one after the other; throws at the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  get isAtEnd(): boolean {
    return this.left === 0;
  }

  take(length: number): Buffer {
    expectSound(this.left >= length, "the directory is cut off");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  uint8(): number {
    return this.take(1).readUInt8();
  }

  uint32(): number {
    return this.take(4).readUInt32BE();
  }
}
