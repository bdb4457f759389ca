/**
 * A segment appends to a line: who writes, what came before, the records, the index of new objects, all parcels the
 * line uses, and content that is small enough to ride along. One PUT of a segment commits a push.
 */
import { createHash, type KeyObject } from "node:crypto";
import type { Certificate } from "../keys/key-pairs.ts";
import { DamageError, expectSound, NewerFormatError } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel, plainFrame, sealParcel, type PlainFrame, type SpaceSecret } from "../parcel/parcel.ts";
import { decodeIndex, decodeUses, encodeIndex, encodeUses, type Place } from "./object-index.ts";

/** The version of what segments say. */
const SEGMENT_FORMAT = 1;
const RECORDS_FRAME_BYTES = 4 * 1024 * 1024;

/** The state of one row of a line's history. Kinds that this version does not know are carried along. */
export interface LineRecord {
  readonly kind: string;
  /** Unique in its line, for its kind. */
  readonly id: string;
  readonly row: Readonly<Record<string, unknown>>;
}

/** What a fold restates: the segments from one number to its own as one. */
export interface Fold {
  readonly from: number;
  /** The hash of the last segment it restates: the next segment names that one. */
  readonly hash: string;
  /** A base restates the whole line, without what retention let go. */
  readonly isBase: boolean;
  /** Of a base that leaves out what was forgotten: the parcels that held some of it. */
  readonly forgets?: readonly string[];
}

/** What a segment says about itself. */
export interface SegmentHead {
  readonly format: number;
  readonly line: string;
  readonly number: number;
  /** SHA-256 of the bytes of the segment before; null for the first. */
  readonly previous: string | null;
  /** The member whose key signed it. */
  readonly member: string;
  readonly device: string;
  /** The writer's clock, for display. */
  readonly at: number;
  /** Where a new line began: a clone, or a copy of a store that found its line taken. */
  readonly from: { readonly line: string; readonly number: number } | null;
  /** The highest segment that the writer had seen of other lines. */
  readonly seen: Readonly<Record<string, number>>;
  /** The newest sweep that the writer knew. */
  readonly sweep: number;
  /** Of a writer that is not in the roster: the certificate of its token. */
  readonly certificate?: Certificate;
  /** Only of a fold. */
  readonly fold?: Fold;
  /** Only of a base that an admin made who adopted the line: who wrote it, and how they were called. */
  readonly adopted?: { readonly member: string; readonly name: string };
}

/** What goes into a segment. */
export interface SegmentContent {
  readonly head: SegmentHead;
  readonly records: readonly LineRecord[];
  readonly index: ReadonlyMap<string, Place>;
  /** Content that rides along; its frames come after the others. */
  readonly content: readonly PlainFrame[];
  /** The ids of all parcels that the index of the line names, with this segment. */
  readonly uses: readonly string[];
}

/** How a segment is made. */
export interface SegmentSealing {
  readonly key: string;
  readonly secret: SpaceSecret;
  readonly salt: Buffer;
  readonly signer: KeyObject;
}

/** The bytes of a segment. Index entries with `self` count content frames from 0. */
export function sealSegment(content: SegmentContent, sealing: SegmentSealing): Buffer {
  const frames = [
    ...recordFrames(content),
    ...(content.index.size === 0 ? [] : [plainFrame("index", encodeIndex(content.index))]),
    plainFrame("uses", encodeUses(content.uses)),
    ...content.content,
  ];
  const bytes = sealParcel(frames, { kind: "segment", ...sealing });
  expectSound(bytes.length <= LIMIT.parcelBytes, "a segment is larger than is allowed");
  return bytes;
}

function recordFrames({ head, records }: SegmentContent): PlainFrame[] {
  const frames: PlainFrame[] = [];
  let [lines, bytes]: [string[], number] = [[], 0];
  for (const line of [JSON.stringify(head), ...records.map((record) => JSON.stringify(record))]) {
    if (bytes + line.length > RECORDS_FRAME_BYTES && lines.length > 0) {
      frames.push(plainFrame("records", Buffer.from(lines.join("\n"))));
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += Buffer.byteLength(line) + 1;
  }
  return [...frames, plainFrame("records", Buffer.from(lines.join("\n")))];
}

/** A segment that was read: its signature is not checked yet, everything else is. */
export interface OpenSegment {
  readonly head: SegmentHead;
  readonly records: readonly LineRecord[];
  readonly index: ReadonlyMap<string, Place>;
  readonly uses: readonly string[];
  readonly parcel: OpenParcel;
  /** The frame of the parcel that content frame 0 is. */
  readonly firstContent: number;
  /** SHA-256 of its bytes; of a fold that of the last segment it restates. */
  readonly hash: string;
  /** SHA-256 of its bytes, also of a fold. */
  readonly bytesHash: string;
}

/** How a segment is opened. */
export interface SegmentOpening {
  readonly key: string;
  readonly secret: SpaceSecret;
  /** [R1507] Asked once the head is known, before anything else is decompressed: throws when the signature does not count. */
  readonly judge?: ((head: SegmentHead, parcel: OpenParcel) => void) | undefined;
}

/** Opens the bytes of a segment. */
export function openSegment(bytes: Buffer, { key, secret, judge }: SegmentOpening): OpenSegment {
  expectSound(bytes.length <= LIMIT.parcelBytes, "a segment is larger than is allowed");
  const parcel = new OpenParcel(bytes, { key, kind: "segment", secret });
  expectSound(bytes.length === parcel.length, "the segment has another length than its directory says");
  const first = parcel.frames.findIndex(({ kind }) => kind === "records");
  expectSound(first !== -1, "the segment has no records");
  const [headLine, ...records] = linesOf(parcel.rawFrame(first, bytes));
  const head = toHead(headLine);
  judge?.(head, parcel);
  for (const [n, { kind }] of parcel.frames.entries())
    if (kind === "records" && n !== first)
      for (const line of linesOf(parcel.rawFrame(n, bytes))) records.push(line);
  const index = new Map(parcel.rawFrames("index", bytes).flatMap((raw) => [...decodeIndex(raw)]));
  const uses = parcel.rawFrames("uses", bytes).flatMap(decodeUses);
  const content = parcel.frames.findIndex(({ kind }) => kind === "content");
  const bytesHash = segmentHash(bytes);
  return {
    head,
    records: records.map(toRecord),
    index,
    uses,
    parcel,
    firstContent: content === -1 ? parcel.frames.length : content,
    hash: head.fold?.hash ?? bytesHash,
    bytesHash,
  };
}

/** The name of a segment's content, which the next segment repeats. */
export function segmentHash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function linesOf(raw: Buffer): string[] {
  return raw.toString("utf8").split("\n");
}

function toHead(line: string | undefined): SegmentHead {
  const head = parse(line ?? "") as Partial<SegmentHead>;
  if (Number(head.format) > SEGMENT_FORMAT) throw new NewerFormatError("a segment of a newer format");
  const isHead =
    head.format === SEGMENT_FORMAT &&
    typeof head.line === "string" &&
    Number.isSafeInteger(head.number) &&
    (head.previous === null || typeof head.previous === "string") &&
    typeof head.member === "string" &&
    typeof head.device === "string" &&
    isSeen(head.seen) &&
    (head.fold === undefined || isFold(head.fold)) &&
    (head.adopted === undefined || isWriter(head.adopted));
  expectSound(isHead, "the first record of a segment is not its head");
  return head as SegmentHead;
}

function isSeen(seen: unknown): boolean {
  return typeof seen === "object" && seen !== null && Object.values(seen).every(Number.isSafeInteger);
}

function isFold({ from, hash, forgets = [] }: Partial<Fold>): boolean {
  const areIds = Array.isArray(forgets) && forgets.every((id) => /^[0-9a-f]{32}$/.test(String(id)));
  return Number.isSafeInteger(from) && /^[0-9a-f]{64}$/.test(hash ?? "") && areIds;
}

function isWriter({ member, name }: Partial<NonNullable<SegmentHead["adopted"]>>): boolean {
  return typeof member === "string" && typeof name === "string";
}

function toRecord(line: string): LineRecord {
  expectSound(line.length <= LIMIT.recordBytes, "a record is larger than is allowed");
  const record = parse(line) as Partial<LineRecord>;
  const isRecord =
    typeof record.kind === "string" && typeof record.id === "string" && typeof record.row === "object";
  expectSound(isRecord && record.row !== null, "a record has another shape");
  return record as LineRecord;
}

function parse(line: string): object {
  try {
    const value: unknown = JSON.parse(line);
    expectSound(typeof value === "object" && value !== null, "a record is not an object");
    return value;
  } catch (cause) {
    throw cause instanceof DamageError ? cause : new DamageError("a record is not JSON", { cause });
  }
}

/** The head of the next segment of a line. */
export function createHead(facts: Omit<SegmentHead, "format">): SegmentHead {
  return { format: SEGMENT_FORMAT, ...facts };
}
