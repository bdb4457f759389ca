/**
 * The encrypted objects of a remote. A parcel is a header, its directory, for signed kinds a signature over both, the
 * frames, and zeros up to the next Padmé size. The first bytes are enough to verify it and to read its records; a frame
 * can be read by range and proved alone.
 *
 * Keys: one per parcel, from the secret of the space, a salt, and the name of the key it is stored under, so that a
 * parcel cannot be passed off as another. Nonces count frames. The same salt must never serve two contents: the caller
 * keeps the bytes, or the salt with the content's hash, until the server has them.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { DamageError, expectSound, NewerFormatError } from "./damage.ts";
import {
  decodeDirectory,
  encodeDirectory,
  type Frame,
  type FramedObject,
  type FrameKind,
} from "./directory.ts";
import { LIMIT } from "./limits.ts";
import { padmeSize } from "./padme.ts";

const MAGIC = Buffer.from("belay parcel 1\n");
const MAGIC_START = Buffer.from("belay parcel ");
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.length + 1 + 4 + SALT_BYTES + 4;
const TAG_BYTES = 16;
const SIGNATURE_BYTES = 64;
const CIPHER = "aes-256-gcm";
const DIRECTORY_NONCE = Buffer.alloc(12, 0xff);
const FRAME_LEVEL = 3;

/** Kinds of parcels; those after `content` are signed. */
const KINDS = ["content", "segment", "head", "roster", "sweep"] as const;

/** What a parcel is for. */
export type ParcelKind = (typeof KINDS)[number];

/** The secret of one generation of a space. */
export interface SpaceSecret {
  readonly space: string;
  readonly generation: number;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/** A frame before it is encrypted: compressed bytes and what they are. */
export interface PlainFrame {
  readonly kind: FrameKind;
  /** A zstd frame. */
  readonly compressed: Buffer;
  readonly rawBytes: number;
  readonly objects: readonly FramedObject[];
}

/** How a parcel is made. */
export interface SealOptions {
  readonly kind: ParcelKind;
  /** The name it will be stored under. */
  readonly key: string;
  readonly secret: SpaceSecret;
  /** 32 random bytes. */
  readonly salt: Buffer;
  readonly signer?: KeyObject;
}

/** Compresses the bytes of a parcel's frame. */
export function plainFrame(kind: FrameKind, raw: Buffer, objects: readonly FramedObject[] = []): PlainFrame {
  const compressed = zstdCompressSync(raw, {
    params: { [constants.ZSTD_c_compressionLevel]: FRAME_LEVEL },
    chunkSize: Math.max(1024, Math.min(raw.length, 1024 * 1024)),
  });
  return { kind, compressed, rawBytes: raw.length, objects };
}

/** The bytes of a parcel that holds one value, as JSON. */
export function sealValue(value: unknown, options: SealOptions): Buffer {
  return sealParcel([plainFrame("records", Buffer.from(JSON.stringify(value)))], options);
}

/** The bytes of a parcel. */
export function sealParcel(plain: readonly PlainFrame[], options: SealOptions): Buffer {
  const { kind, key, secret, salt, signer } = options;
  const head = { kind, generation: secret.generation, salt };
  const cipherKey = parcelKey(secret, salt, key);
  // the header has the length of the directory, which does not depend on what the frames encrypt to
  const shape = plain.map((frame, n) => placeholder(frame, n));
  const directoryBytes = encodeDirectory(shape).length + TAG_BYTES;
  const header = encodeHeader({ ...head, directoryBytes });
  const framesAt = header.length + directoryBytes + (isSigned(kind) ? SIGNATURE_BYTES : 0);
  const framesBytes = plain.reduce((sum, { compressed }) => sum + compressed.length + TAG_BYTES, 0);
  // frames go where they belong one at a time: a push holds several parcels in memory
  const bytes = Buffer.alloc(padmeSize(framesAt + framesBytes));
  let offset = 0;
  const frames = plain.map(({ kind: frameKind, compressed, rawBytes, objects }, n): Frame => {
    const sealed = encrypt(compressed, { key: cipherKey, nonce: nonceOf(n), header });
    sealed.copy(bytes, framesAt + offset);
    const { length } = sealed;
    offset += length;
    return { kind: frameKind, offset: offset - length, length, rawBytes, sha256: sha256(sealed), objects };
  });
  const directory = encrypt(encodeDirectory(frames), { key: cipherKey, nonce: DIRECTORY_NONCE, header });
  expectSound(directory.length === directoryBytes, "the directory has another length than its header says");
  header.copy(bytes);
  directory.copy(bytes, header.length);
  if (isSigned(kind))
    sign(null, Buffer.concat([header, directory]), signer!).copy(bytes, header.length + directoryBytes);
  return bytes;
}

function placeholder({ kind, rawBytes, objects }: PlainFrame, n: number): Frame {
  return { kind, offset: n, length: 0, rawBytes, sha256: Buffer.alloc(32), objects };
}

/** What stands at the beginning of a parcel. */
export interface ParcelHeader {
  readonly kind: ParcelKind;
  readonly generation: number;
  readonly salt: Buffer;
  /** Of the encrypted directory. */
  readonly directoryBytes: number;
}

/** The header of a parcel, which says which secret opens it; nothing in it is proved yet. */
export function readHeader(bytes: Buffer): ParcelHeader {
  expectSound(bytes.length >= HEADER_BYTES, "the parcel is cut off");
  const magic = bytes.subarray(0, MAGIC.length);
  if (!magic.equals(MAGIC)) {
    const isNewer = magic.subarray(0, MAGIC_START.length).equals(MAGIC_START);
    throw isNewer
      ? new NewerFormatError("a parcel of a newer format")
      : new DamageError("this is not a parcel");
  }
  const kind = KINDS[bytes[MAGIC.length]!];
  expectSound(kind !== undefined, "the parcel has an unknown kind");
  const generation = bytes.readUInt32BE(MAGIC.length + 1);
  const salt = bytes.subarray(MAGIC.length + 5, MAGIC.length + 5 + SALT_BYTES);
  const directoryBytes = bytes.readUInt32BE(HEADER_BYTES - 4);
  expectSound(
    directoryBytes >= TAG_BYTES + 4 && directoryBytes <= LIMIT.directoryBytes,
    "the directory is larger than is allowed",
  );
  return { kind, generation, salt, directoryBytes };
}

/** Where the frames of a parcel begin, from its first bytes; nothing is proved yet. */
export function parcelStart(bytes: Buffer): { readonly framesAt: number } {
  const { kind, directoryBytes } = readHeader(bytes);
  return { framesAt: HEADER_BYTES + directoryBytes + (isSigned(kind) ? SIGNATURE_BYTES : 0) };
}

function encodeHeader({ kind, generation, salt, directoryBytes }: ParcelHeader): Buffer {
  expectSound(salt.length === SALT_BYTES, "a salt has 32 bytes");
  expectSound(directoryBytes <= LIMIT.directoryBytes, "the directory is larger than is allowed");
  const numbers = Buffer.alloc(5);
  numbers.writeUInt8(KINDS.indexOf(kind), 0);
  numbers.writeUInt32BE(generation, 1);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(directoryBytes);
  return Buffer.concat([MAGIC, numbers, salt, length]);
}

/** How a parcel is opened. */
export interface OpenOptions {
  readonly key: string;
  readonly kind: ParcelKind;
  readonly secret: SpaceSecret;
}

/** A parcel whose directory is proved; its frames are proved one by one as they are read. */
export class OpenParcel {
  readonly frames: readonly Frame[];
  /** Where the first frame begins. */
  readonly framesAt: number;
  readonly #header: Buffer;
  readonly #signed: Buffer;
  readonly #signature: Buffer;
  readonly #cipherKey: KeyObject;

  /** `bytes`: the parcel, or its beginning up to the end of the directory and signature. */
  constructor(bytes: Buffer, { key, kind, secret }: OpenOptions) {
    const header = readHeader(bytes);
    expectSound(header.kind === kind, `this is a parcel of kind ${header.kind}, not ${kind}`);
    expectSound(header.generation === secret.generation, "the parcel is of another key generation");
    const directoryEnd = HEADER_BYTES + header.directoryBytes;
    this.framesAt = directoryEnd + (isSigned(kind) ? SIGNATURE_BYTES : 0);
    expectSound(bytes.length >= this.framesAt, "the parcel is cut off");
    this.#header = bytes.subarray(0, HEADER_BYTES);
    this.#signed = bytes.subarray(0, directoryEnd);
    this.#signature = bytes.subarray(directoryEnd, this.framesAt);
    this.#cipherKey = parcelKey(secret, header.salt, key);
    const directory = decrypt(bytes.subarray(HEADER_BYTES, directoryEnd), {
      key: this.#cipherKey,
      nonce: DIRECTORY_NONCE,
      header: this.#header,
    });
    this.frames = decodeDirectory(directory);
  }

  /** The length of the parcel with its padding. */
  get length(): number {
    const last = this.frames.at(-1);
    return padmeSize(this.framesAt + (last === undefined ? 0 : last.offset + last.length));
  }

  /** Whether the holder of this key signed the parcel: its header, its directory and so all of its frames. */
  isSignedBy(signer: KeyObject): boolean {
    return this.#signature.length > 0 && verify(null, this.#signed, signer, this.#signature);
  }

  /** [T9] The compressed bytes of a frame, authenticated; `ciphertext` is exactly the frame. */
  openFrame(n: number, ciphertext: Buffer): Buffer {
    const frame = this.frames[n];
    expectSound(frame !== undefined && ciphertext.length === frame.length, "a frame has another length");
    expectSound(sha256(ciphertext).equals(frame.sha256), "a frame is not what its directory says");
    return decrypt(ciphertext, { key: this.#cipherKey, nonce: nonceOf(n), header: this.#header });
  }

  /** A frame of a parcel that is in memory as a whole. */
  ciphertextOf(n: number, parcel: Buffer): Buffer {
    const frame = this.frames[n];
    expectSound(frame !== undefined, "there is no such frame");
    const from = this.framesAt + frame.offset;
    expectSound(parcel.length >= from + frame.length, "the parcel is cut off");
    return parcel.subarray(from, from + frame.length);
  }

  /** [T9] The raw bytes of a frame of a parcel that is all here; it cannot decompress to more than its directory says. */
  rawFrame(n: number, parcel: Buffer): Buffer {
    return decompressFrame(this.openFrame(n, this.ciphertextOf(n, parcel)), this.frames[n]!.rawBytes);
  }

  /** The raw bytes of all frames of one kind, in order. */
  rawFrames(kind: FrameKind, parcel: Buffer): Buffer[] {
    return this.frames.flatMap((frame, n) => (frame.kind === kind ? [this.rawFrame(n, parcel)] : []));
  }
}

/** Decompresses an authenticated frame; what is larger or smaller than announced is damage. */
export function decompressFrame(compressed: Buffer, rawBytes: number): Buffer {
  let raw: Buffer;
  try {
    raw = zstdDecompressSync(compressed, {
      maxOutputLength: Math.max(rawBytes, 1),
      chunkSize: Math.max(64, Math.min(rawBytes, 1024 * 1024)),
    });
  } catch (cause) {
    throw new DamageError("a frame does not decompress to what its directory says", { cause });
  }
  expectSound(raw.length === rawBytes, "a frame does not decompress to what its directory says");
  return raw;
}

function isSigned(kind: ParcelKind): boolean {
  return kind !== "content";
}

/** As an object: with bytes each use of it costs ten times as much. */
function parcelKey({ secret, space }: SpaceSecret, salt: Buffer, key: string): KeyObject {
  const info = Buffer.from(`belay parcel 1\0${space}\0${key}`);
  return createSecretKey(Buffer.from(hkdfSync("sha256", createSecretKey(secret), salt, info, 32)));
}

function nonceOf(n: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(n, 8);
  return nonce;
}

interface Encryption {
  readonly key: KeyObject;
  readonly nonce: Buffer;
  readonly header: Buffer;
}

function encrypt(plain: Buffer, { key, nonce, header }: Encryption): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(header);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(sealed: Buffer, { key, nonce, header }: Encryption): Buffer {
  expectSound(sealed.length >= TAG_BYTES, "the parcel is cut off");
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(header);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const plain = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
    // nothing is left for the end: it only proves what came before
    decipher.final();
    return plain;
  } catch (cause) {
    throw new DamageError("the parcel is not authentic: another key, another name, or altered bytes", {
      cause,
    });
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
