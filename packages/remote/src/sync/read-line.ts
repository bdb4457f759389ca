/**
 * Reads a line and believes nothing: numbers follow each other, each segment names the hash of the one before, and a
 * member of the space signed it. A fold stands for the segments that it restates. Heads are hints and are not needed here.
 */
import { spanIn, type Span } from "../line/keys-of-space.ts";
import { openSegment, type OpenSegment, type SegmentOpening } from "../line/segment.ts";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { readHeader } from "../parcel/parcel.ts";
import { secretFor, type Space } from "../space/space.ts";
import { judgeLineObject } from "../space/writer-rights.ts";
import type { KnownLine } from "./mirror.ts";

/** A segment, or a fold, that is proved. */
export interface ReadSegment {
  readonly key: string;
  readonly segment: OpenSegment;
  readonly bytes: Buffer;
  /** The server's time of its last write. */
  readonly at: number;
}

/** [T9] What was read is not what it should be; `key` says where. */
export class LineDamage extends Error {
  readonly key: string;
  readonly kind: "missing" | "damaged" | "forged" | "rolled-back";

  constructor(kind: LineDamage["kind"], key: string, reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = "LineDamage";
    this.kind = kind;
    this.key = key;
  }
}

/** The lines of a space. */
export async function listLines(space: Space): Promise<string[]> {
  const lines = new Set<string>();
  for await (const { key } of space.store.list(space.names.lines)) lines.add(key.split("/")[2] ?? "");
  lines.delete("");
  return [...lines];
}

/** The keys of all content parcels that the server has. */
export async function listParcels({ store, names }: Space): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const { key } of store.list(names.parcels)) keys.add(key);
  return keys;
}

/** An object of a line and the segments it stands for. */
export interface Cover extends Span {
  readonly key: string;
  /** The server's time of its last write. */
  readonly at: number;
}

/** How a line is read. */
export interface Reading {
  /**
   * Folds save requests to a reader that says which parcels the server has: one that names others is passed over. Asked
   * once the line is listed: what was written since would name parcels that an earlier list does not have.
   */
  readonly there?: () => Promise<ReadonlySet<string>>;
  readonly refused?: (refusal: LineDamage) => void;
  /** With `there`: whether the newest segment does not count [R2000]. The line then ends with the one before. */
  readonly isUnclaimed?: (newest: Cover, there: ReadonlySet<string>) => Promise<boolean>;
}

/**
 * The segments of a line after the one that is known, in order; folds where they save requests. [R760] A segment that its
 * writer had no right to write ends the line for every reader; `refused` is told. So does one that came when the line had long been
 * adopted [R2243].
 */
export async function* readLine(
  space: Space,
  line: string,
  known?: KnownLine,
  reading: Reading = {},
): AsyncGenerator<ReadSegment> {
  const { refused } = reading;
  let covers = await coversOf(space, line, known?.number);
  const there = await reading.there?.();
  const newest = newestSegment(covers);
  if (there !== undefined && newest !== undefined && (await reading.isUnclaimed?.(newest, there)) === true)
    covers = covers.filter((cover) => cover !== newest);
  let isWhole = known === undefined;
  let before = known;
  for (;;) {
    const number = (before?.number ?? 0) + 1;
    const choices = coversFor(covers, number, known === undefined && there !== undefined);
    if (choices.length === 0 && !isWhole && covers.some(({ to }) => to >= number)) {
      // a segment was folded meanwhile, and its fold begins before what is known
      covers = await coversOf(space, line);
      isWhole = true;
      continue;
    }
    if (choices.length === 0 && covers.some(({ to }) => to >= number))
      throw new LineDamage(
        "missing",
        space.names.segment(line, number),
        "a segment in the middle of a line is gone",
      );
    if (choices.length === 0) return;
    const read = await readFirstSound(space, choices, { line, before, there });
    if (read === undefined) return;
    if (read instanceof LineDamage) return refused?.(read);
    yield read;
    before = { number: read.segment.head.number, hash: read.segment.hash };
  }
}

async function coversOf(space: Space, line: string, known?: number): Promise<Cover[]> {
  const { names, store } = space;
  const after = known === undefined ? undefined : `${names.segment(line, known)}~`;
  const covers: Cover[] = [];
  for await (const { key, modified } of store.list(names.segmentsOf(line), after)) {
    const span = spanIn(key);
    if (span !== undefined) covers.push({ key, at: modified, ...span });
  }
  return covers;
}

/** The last segment, unless a fold restates it as well. */
function newestSegment(covers: readonly Cover[]): Cover | undefined {
  const last = Math.max(0, ...covers.map(({ to }) => to));
  const found = covers.filter(({ to }) => to === last);
  return found.length === 1 && found[0]?.from === last ? found[0] : undefined;
}

/** What holds a segment, best first: for a fresh reader what reaches furthest, else the segment itself. */
function coversFor(covers: readonly Cover[], number: number, prefersFolds: boolean): Cover[] {
  const found = covers.filter(({ from, to }) => from <= number && to >= number);
  const rank = (one: Cover) => (prefersFolds ? one.to : one.from === one.to ? Infinity : one.to);
  return found.toSorted((a, b) => rank(b) - rank(a) || newerFirst(a, b));
}

/** [R2242] Of two that restate the same segments the newer counts; else the names decide. */
function newerFirst(a: Cover, b: Cover): number {
  const areRestating = a.from < a.to && a.from === b.from && a.to === b.to;
  return (areRestating ? b.at - a.at : 0) || (a.key < b.key ? -1 : 1);
}

interface Expected {
  readonly line: string;
  readonly before: KnownLine | undefined;
  readonly there: ReadonlySet<string> | undefined;
}

/**
 * [R2221] A fold that names a parcel that is gone is the last resort: segments after it may say where else that content is, and the
 * ones that it restates may be gone.
 */
async function readFirstSound(
  space: Space,
  covers: readonly Cover[],
  expected: Expected,
): Promise<ReadSegment | LineDamage | undefined> {
  try {
    return await readFirst(space, covers, expected);
  } catch (error) {
    if (!(error instanceof LineDamage) || expected.there === undefined) throw error;
    const folds = covers.filter(({ from, to }) => to > from);
    if (folds.length === 0) throw error;
    return readFirst(space, folds, { ...expected, there: undefined });
  }
}

/** Where a server cannot refuse to overwrite, two copies of a store may have written the same number; one of them goes on. */
async function readFirst(
  space: Space,
  covers: readonly Cover[],
  expected: Expected,
): Promise<ReadSegment | LineDamage | undefined> {
  let problem: unknown;
  for (const cover of covers) {
    try {
      return await readSegment(space, cover, expected);
    } catch (error) {
      if (!(error instanceof LineDamage)) throw error;
      problem ??= error;
    }
  }
  throw problem;
}

async function readSegment(
  space: Space,
  { key, at, from, to }: Cover,
  { line, before, there }: Expected,
): Promise<ReadSegment | LineDamage | undefined> {
  const got = await space.store.get(key);
  if (got === undefined) throw new LineDamage("missing", key, "a segment is gone");
  const { bytes } = got;
  const judged: { verdict: ReturnType<typeof judgeLineObject> } = { verdict: "forged" };
  const judge: SegmentOpening["judge"] = (head, parcel) => {
    const verdict = judgeLineObject(space, head, {
      at,
      generation: readHeader(bytes).generation,
      isSignedBy: (signer) => parcel.isSignedBy(signer),
    });
    judged.verdict = verdict;
    // the segments that a fold restates may still be there
    const isRefused = verdict === "no-right" || verdict === "late";
    if (verdict === "forged" || (isRefused && head.fold !== undefined))
      throw new LineDamage("forged", key, "no member of the space signed this segment");
    // [T4, R1810]
    if (verdict === "foreign")
      throw new LineDamage("forged", key, "another member than the writer of the line signed this segment");
  };
  const segment = sound(key, () => openSegment(bytes, { key, secret: secretFor(space, bytes), judge }));
  const { head } = segment;
  sound(key, () => {
    const isSame = head.line === line && head.number === to && (head.fold?.from ?? head.number) === from;
    expectSound(isSame, "the segment says that it is another one");
    // a fold that begins before what is known restates it, and its writer answers for that
    const follows = from <= (before?.number ?? 0) || head.previous === (before?.hash ?? null);
    expectSound(follows, "the segment does not follow the one before");
  });
  if (judged.verdict === "late") return undefined;
  if (judged.verdict === "no-right")
    return new LineDamage("forged", key, "its writer had no right to write when the server got this segment");
  const isWhole = there === undefined || segment.uses.every((id) => there.has(space.names.parcel(id)));
  if (head.fold !== undefined && !isWhole)
    throw new LineDamage("missing", key, "a fold names parcels that are gone");
  return { key, segment, bytes, at };
}

function sound<Result>(key: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof DamageError) throw new LineDamage("damaged", key, error.message, error);
    throw error;
  }
}
