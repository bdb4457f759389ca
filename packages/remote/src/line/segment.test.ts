import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { memberKeys } from "../keys/key-pairs.ts";
import { DamageError, NewerFormatError } from "../parcel/damage.ts";
import { plainFrame, sealParcel, type SpaceSecret } from "../parcel/parcel.ts";
import { memberOf, openRoster, sealRoster, verifierOf } from "../space/roster.ts";
import { numberIn, SpaceNames } from "./keys-of-space.ts";
import {
  decodeIndex,
  decodeUses,
  encodeIndex,
  encodeUses,
  SELF,
  WITHHELD,
  type Place,
} from "./object-index.ts";
import { createHead, openSegment, sealSegment, segmentHash, type LineRecord } from "./segment.ts";

const SECRET: SpaceSecret = { space: "s", generation: 1, secret: Buffer.alloc(32, 1) };
const names = new SpaceNames("s");
const ana = memberKeys({ sign: Buffer.alloc(32, 1), receive: Buffer.alloc(32, 2) });
const bob = memberKeys({ sign: Buffer.alloc(32, 3), receive: Buffer.alloc(32, 4) });
const key = names.segment("line", 1);
const salt = Buffer.alloc(32, 5);
const head = createHead({
  line: "line",
  number: 1,
  previous: null,
  member: ana.id,
  device: "mac",
  at: 0,
  from: null,
  seen: {},
  sweep: 0,
});
const records: LineRecord[] = [
  { kind: "checkpoint", id: "k", row: { name: "before the migration" } },
  { kind: "from the future", id: "x", row: { anything: [1, "two", null] } },
];
const index = new Map<string, Place>([
  ["11".repeat(32), { parcel: SELF, frame: 0 }],
  ["22".repeat(32), { parcel: "ab".repeat(16), frame: 3 }],
  ["33".repeat(32), { parcel: WITHHELD, frame: 0 }],
]);
const content = [plainFrame("content", Buffer.from("bytes"))];
const uses = ["ab".repeat(16)];
const sealing = { key, secret: SECRET, salt, signer: ana.sign };

describe("a segment", () => {
  const bytes = sealSegment({ head, records, index, content, uses }, sealing);

  test("gives back what was put in; kinds of records that it does not know included", () => {
    const segment = openSegment(bytes, { key, secret: SECRET });
    expect(segment.head).toEqual(head);
    expect(segment.records).toEqual(records);
    expect(segment.index).toEqual(index);
    expect(segment.uses).toEqual(uses);
    expect(segment.hash).toBe(segmentHash(bytes));
    expect(
      segment.parcel.isSignedBy(verifierOf(memberOf(ana, { name: "", role: "member", isRecovery: false }))),
    ).toBe(true);
    expect(segment.parcel.rawFrame(segment.firstContent, bytes).toString()).toBe("bytes");
  });

  test("[T9] of another line, another number or with more behind it is damage", () => {
    expect(() => openSegment(bytes, { key: names.segment("other", 1), secret: SECRET })).toThrow(DamageError);
    expect(() => openSegment(bytes, { key: names.segment("line", 2), secret: SECRET })).toThrow(DamageError);
    expect(() => openSegment(Buffer.concat([bytes, bytes]), { key, secret: SECRET })).toThrow(DamageError);
  });

  test("[R1507] many records become several frames; the signature is judged before the later ones are opened", () => {
    const many = Array.from({ length: 60 }, (_, n) => ({
      kind: "message",
      id: String(n),
      row: { content: randomBytes(64 * 1024).toString("base64") },
    }));
    const large = sealSegment({ head, records: many, index: new Map(), content: [], uses: [] }, sealing);
    const segment = openSegment(large, { key, secret: SECRET });
    expect(segment.parcel.frames.filter(({ kind }) => kind === "records").length).toBeGreaterThan(1);
    expect(segment.records).toEqual(many);
    // [R1507] the signature is judged before anything but the head is decompressed
    const damaged = Buffer.from(large);
    const last = segment.parcel.frames[1]!;
    damaged[segment.parcel.framesAt + last.offset]! ^= 1;
    const judge = () => {
      throw new Error("judged");
    };
    expect(() => openSegment(damaged, { key, secret: SECRET, judge })).toThrow("judged");
    expect(() => openSegment(damaged, { key, secret: SECRET })).toThrow(DamageError);
  });

  test("of a newer format is told apart from damage; what is no head is damage", () => {
    const sealed = (first: string) =>
      sealParcel([plainFrame("records", Buffer.from(first))], { kind: "segment", ...sealing });
    expect(() =>
      openSegment(sealed(JSON.stringify({ ...head, format: 2 })), { key, secret: SECRET }),
    ).toThrow(NewerFormatError);
    for (const first of [
      "",
      "null",
      "[]",
      "{",
      JSON.stringify({ ...head, number: "1" }),
      JSON.stringify({ ...head, seen: { a: "x" } }),
    ])
      expect(() => openSegment(sealed(first), { key, secret: SECRET })).toThrow(DamageError);
    const record = (text: string) => sealed(`${JSON.stringify(head)}\n${text}`);
    for (const text of ["{}", "null", '{"kind":"a","id":"b","row":null}', "x"])
      expect(() => openSegment(record(text), { key, secret: SECRET })).toThrow(DamageError);
  });
});

describe("an index", () => {
  test("that is cut off, or names a parcel that it does not list, is damage", () => {
    const bytes = encodeIndex(index);
    expect(decodeIndex(bytes)).toEqual(index);
    expect(() => decodeIndex(bytes.subarray(0, -1))).toThrow(DamageError);
    expect(() => decodeIndex(Buffer.alloc(0))).toThrow(DamageError);
    const listed = Buffer.from(bytes);
    listed.writeUInt16BE(9, listed.length - 4);
    expect(() => decodeIndex(listed)).toThrow(DamageError);
    expect(decodeUses(encodeUses(uses))).toEqual(uses);
    expect(() => decodeUses(Buffer.alloc(15))).toThrow(DamageError);
  });
});

describe("a roster", () => {
  const admin = memberOf(ana, { name: "ana", role: "admin", isRecovery: false });
  const member = memberOf(bob, { name: "bob", role: "member", isRecovery: false });
  const facts = { space: "s", number: 1, previous: null, generation: 1, members: [admin, member] };
  const first = sealRoster(facts, { key: names.roster(1), secret: SECRET, salt, signer: ana });
  const open = (bytes: Buffer, n = 1, before?: ReturnType<typeof openRoster>) =>
    openRoster(bytes, { key: names.roster(n), secret: SECRET, chain: before ? [before] : [], at: 0 });

  test("is signed by an admin of the one before", () => {
    const before = open(first);
    expect(before.roster.members).toEqual([admin, member]);
    const second = { ...facts, number: 2, previous: before.hash };
    const by = (signer: typeof ana) =>
      sealRoster(second, { key: names.roster(2), secret: SECRET, salt, signer });
    expect(open(by(ana), 2, before).roster.number).toBe(2);
    expect(() => open(by(bob), 2, before)).toThrow("not signed by an admin");
    const other = sealRoster(
      { ...second, previous: "00" },
      { key: names.roster(2), secret: SECRET, salt, signer: ana },
    );
    expect(() => open(other, 2, before)).toThrow("does not follow");
  });

  test("a member cannot take the id of another, nor sign as another", () => {
    const stolen = { ...member, id: admin.id };
    const forged = sealRoster(
      { ...facts, members: [stolen] },
      { key: names.roster(1), secret: SECRET, salt, signer: bob },
    );
    expect(() => open(forged)).toThrow("the id of other keys");
    const asAna = sealRoster(facts, {
      key: names.roster(1),
      secret: SECRET,
      salt,
      signer: { ...bob, id: ana.id },
    });
    expect(() => open(asAna)).toThrow("forged");
  });
});

describe("names", () => {
  test("[T12] use letters, digits, dots, hyphens and slashes only, and sort by number", () => {
    const all = [
      names.roster(1),
      names.sealedSecret(1, ana.id),
      key,
      names.head("line"),
      names.parcel("ab".repeat(16)),
    ];
    for (const name of all) expect(name).toMatch(/^[a-z0-9/.-]+$/);
    expect(names.segment("line", 9) < names.segment("line", 10)).toBe(true);
    expect(numberIn(names.segment("line", 42, "abcdefgh"))).toBe(42);
    expect(numberIn(names.segment("line", 42))).toBe(42);
    expect(numberIn(names.sealedSecret(1, ana.id))).toBeUndefined();
  });
});
