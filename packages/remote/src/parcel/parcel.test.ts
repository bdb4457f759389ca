import { generateKeyPairSync, randomBytes } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DamageError, NewerFormatError } from "./damage.ts";
import { decodeDirectory, encodeDirectory, type Frame } from "./directory.ts";
import { LIMIT } from "./limits.ts";
import { padmeSize } from "./padme.ts";
import {
  OpenParcel,
  plainFrame,
  readHeader,
  sealParcel,
  type PlainFrame,
  type SpaceSecret,
} from "./parcel.ts";

const SECRET: SpaceSecret = { space: "space", generation: 1, secret: Buffer.alloc(32, 7) };
const SALT = Buffer.alloc(32, 9);
const KEY = "space/b/ab/abcd";
const signer = generateKeyPairSync("ed25519");
const OBJECT = { hash: "ab".repeat(32), offset: 0, size: 5, form: 0 };
const CONTENT = plainFrame("content", Buffer.from("hello and more"), [OBJECT]);

const seal = (frames: readonly PlainFrame[] = [CONTENT], changes = {}) =>
  sealParcel(frames, { kind: "content", key: KEY, secret: SECRET, salt: SALT, ...changes });
const open = (bytes: Buffer, changes = {}) =>
  new OpenParcel(bytes, { kind: "content", key: KEY, secret: SECRET, ...changes });

describe("sizes", () => {
  test("Padmé sizes grow by at most 12 percent and repeat", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (bytes) => {
        const size = padmeSize(bytes);
        expect(size).toBeGreaterThanOrEqual(bytes);
        expect(size).toBeLessThanOrEqual(Math.ceil(bytes * 1.12));
        expect(padmeSize(size)).toBe(size);
      }),
    );
    expect([1, 9, 100, 1000, 1_000_000].map(padmeSize)).toEqual([1, 10, 104, 1024, 1_015_808]);
  });
});

describe("a parcel", () => {
  test("is opened with its secret, and every frame gives its bytes back", () => {
    const frames = [plainFrame("records", Buffer.from("{}")), CONTENT];
    const bytes = seal(frames);
    const parcel = open(bytes);
    expect(parcel.frames.map(({ kind }) => kind)).toEqual(["records", "content"]);
    expect(parcel.frames[1]!.objects).toEqual([OBJECT]);
    expect(parcel.rawFrame(1, bytes).toString()).toBe("hello and more");
    expect(parcel.length).toBe(bytes.length);
    expect(padmeSize(bytes.length)).toBe(bytes.length);
  });

  test("[T3] made twice from the same salt it is the same bytes", () => {
    expect(seal().equals(seal())).toBe(true);
    expect(seal([CONTENT], { salt: randomBytes(32) }).equals(seal())).toBe(false);
  });

  test("[T12] holds nothing of what is inside in clear", () => {
    const bytes = seal([plainFrame("content", Buffer.from("PLANTED-".repeat(4)), [OBJECT])]);
    expect(bytes.includes("PLANTED")).toBe(false);
    expect(bytes.includes(Buffer.from(OBJECT.hash, "hex"))).toBe(false);
  });

  test("[T9] does not open with another secret, generation, kind, space or name", () => {
    const bytes = seal();
    for (const changes of [
      { secret: { ...SECRET, secret: Buffer.alloc(32, 8) } },
      { secret: { ...SECRET, generation: 2 } },
      { secret: { ...SECRET, space: "other" } },
      { key: "space/b/ab/other" },
      { kind: "segment" },
    ])
      expect(() => open(bytes, changes)).toThrow(DamageError);
  });

  test("[T9] with any byte altered gives no wrong content", () => {
    const bytes = seal();
    const used = open(bytes);
    const end = used.framesAt + used.frames[0]!.offset + used.frames[0]!.length;
    for (let at = 0; at < end; at++) {
      const altered = Buffer.from(bytes);
      altered[at]! ^= 1;
      // the first bytes say which format it is
      expect(() => open(altered).rawFrame(0, altered), `byte ${at}`).toThrow();
    }
  });

  test("[T9] cut off anywhere is damage", () => {
    const bytes = seal();
    const used = open(bytes);
    const end = used.framesAt + used.frames[0]!.offset + used.frames[0]!.length;
    for (let length = 0; length < end; length++) {
      const cut = bytes.subarray(0, length);
      expect(() => open(cut).rawFrame(0, cut), `${length} bytes`).toThrow(DamageError);
    }
  });

  test("of a newer format is told apart from damage", () => {
    const bytes = seal();
    bytes[13] = "2".charCodeAt(0);
    expect(() => open(bytes)).toThrow(NewerFormatError);
    expect(() => readHeader(Buffer.alloc(100))).toThrow(DamageError);
  });

  test("[T9] frames that are swapped, or come from another parcel, are refused", () => {
    const two = [plainFrame("content", Buffer.from("one")), plainFrame("content", Buffer.from("two"))];
    const bytes = seal(two);
    const parcel = open(bytes);
    expect(() => parcel.openFrame(0, parcel.ciphertextOf(1, bytes))).toThrow(DamageError);
    const other = seal(two, { salt: randomBytes(32) });
    expect(() => parcel.openFrame(0, open(other).ciphertextOf(0, other))).toThrow(DamageError);
  });

  test("[T9] a bomb stops at the size that the directory announced", () => {
    const bomb: PlainFrame = {
      kind: "content",
      compressed: zstdCompressSync(Buffer.alloc(64 * 1024 * 1024)),
      rawBytes: 100,
      objects: [],
    };
    const bytes = seal([bomb]);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => open(bytes).rawFrame(0, bytes)).toThrow(DamageError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });
});

describe("a signed parcel", () => {
  const bytes = seal([CONTENT], { kind: "segment", signer: signer.privateKey });

  test("is proved by the key of its signer, and by no other", () => {
    const parcel = open(bytes, { kind: "segment" });
    expect(parcel.isSignedBy(signer.publicKey)).toBe(true);
    expect(parcel.isSignedBy(generateKeyPairSync("ed25519").publicKey)).toBe(false);
  });

  test("with another signature is not proved", () => {
    const forged = Buffer.from(bytes);
    const { framesAt } = open(bytes, { kind: "segment" });
    forged[framesAt - 1]! ^= 1;
    expect(open(forged, { kind: "segment" }).isSignedBy(signer.publicKey)).toBe(false);
  });
});

describe("a directory", () => {
  const frame: Frame = {
    kind: "content",
    offset: 0,
    length: 40,
    rawBytes: 10,
    sha256: Buffer.alloc(32),
    objects: [],
  };

  test("of anything hostile is damage, never a crash or an endless loop", () => {
    const cases: Frame[][] = [
      [{ ...frame, offset: 4 }],
      [{ ...frame, length: 3 }],
      [{ ...frame, rawBytes: LIMIT.frameBytes + 1 }],
      [frame, { ...frame, offset: 39 }],
      [frame, { ...frame, offset: 40, length: LIMIT.parcelBytes }],
      [{ ...frame, objects: [{ hash: "00".repeat(32), offset: 5, size: 6, form: 0 }] }],
      [{ ...frame, objects: [{ hash: "00".repeat(32), offset: 0, size: 1, form: 2 }] }],
      [{ ...frame, kind: "records", objects: [{ hash: "00".repeat(32), offset: 0, size: 1, form: 0 }] }],
    ];
    for (const frames of cases) expect(() => decodeDirectory(encodeDirectory(frames))).toThrow(DamageError);
    const claims = encodeDirectory([frame]);
    claims.writeUInt32BE(0xffffffff, 0);
    expect(() => decodeDirectory(claims)).toThrow(DamageError);
    const objects = encodeDirectory([frame]);
    objects.writeUInt32BE(0xffffffff, objects.length - 4);
    expect(() => decodeDirectory(objects)).toThrow(DamageError);
  });

  test("random bytes never decode to something that lies outside", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          const frames = decodeDirectory(Buffer.from(bytes));
          for (const { rawBytes, objects } of frames)
            for (const { offset, size } of objects) expect(offset + size).toBeLessThanOrEqual(rawBytes);
        } catch (error) {
          expect(error).toBeInstanceOf(DamageError);
        }
      }),
    );
  });
});
