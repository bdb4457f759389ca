/**
 * Reads a line, segment by segment, and believes nothing: numbers follow each other, each names the hash of the one
 * before, and a member of the space signed it. Heads are hints and are not needed here.
 */
import { numberIn } from "../line/keys-of-space.ts";
import { openSegment, type OpenSegment } from "../line/segment.ts";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { readHeader } from "../parcel/parcel.ts";
import { secretFor, type Space } from "../space/space.ts";
import { judgeSignature } from "../space/writer-rights.ts";
import type { KnownLine } from "./mirror.ts";

/** A segment that is proved. */
export interface ReadSegment {
  readonly key: string;
  readonly segment: OpenSegment;
  readonly bytes: Buffer;
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

/**
 * The segments of a line after the one that is known, in order. [R760] A segment that its writer had no right to write ends
 * the line for every reader; `refused` is told.
 */
export async function* readLine(
  space: Space,
  line: string,
  known?: KnownLine,
  refused?: (refusal: LineDamage) => void,
): AsyncGenerator<ReadSegment> {
  const { names, store } = space;
  const after = known === undefined ? undefined : `${names.segment(line, known.number)}~`;
  const candidates = new Map<number, Candidate[]>();
  for await (const { key, modified } of store.list(names.segmentsOf(line), after)) {
    const number = numberIn(key);
    if (number !== undefined)
      candidates.set(number, [...(candidates.get(number) ?? []), { key, at: modified }]);
  }
  let before = known;
  let writer: string | undefined;
  const last = Math.max(0, ...candidates.keys());
  for (let number = (known?.number ?? 0) + 1; number <= last; number++) {
    const keys = candidates.get(number);
    if (keys === undefined)
      throw new LineDamage(
        "missing",
        names.segment(line, number),
        "a segment in the middle of a line is gone",
      );
    const read = await readFirstSound(space, keys, { line, number, before, writer });
    if (read instanceof LineDamage) return refused?.(read);
    yield read;
    writer = read.segment.head.member;
    before = { number, hash: read.segment.hash };
  }
}

interface Expected {
  readonly line: string;
  readonly number: number;
  readonly before: KnownLine | undefined;
  /** The member that signed the segment before; undefined where none was read. */
  readonly writer: string | undefined;
}

/** A key that may hold a segment, and the server's time of its last write. */
interface Candidate {
  readonly key: string;
  readonly at: number;
}

/** Where a server cannot refuse to overwrite, two copies of a store may have written the same number; one of them goes on. */
async function readFirstSound(
  space: Space,
  candidates: readonly Candidate[],
  expected: Expected,
): Promise<ReadSegment | LineDamage> {
  let problem: unknown;
  for (const candidate of candidates) {
    try {
      return await readSegment(space, candidate, expected);
    } catch (error) {
      if (!(error instanceof LineDamage)) throw error;
      problem ??= error;
    }
  }
  throw problem;
}

async function readSegment(
  space: Space,
  { key, at }: Candidate,
  { line, number, before, writer }: Expected,
): Promise<ReadSegment | LineDamage> {
  const got = await space.store.get(key);
  if (got === undefined) throw new LineDamage("missing", key, "a segment is gone");
  const { bytes } = got;
  const segment = sound(key, () => openSegment(bytes, { key, secret: secretFor(space, bytes) }));
  const { head, parcel } = segment;
  const verdict = judgeSignature(space, "line", {
    member: head.member,
    certificate: head.certificate,
    at,
    generation: readHeader(bytes).generation,
    isSignedBy: (signer) => parcel.isSignedBy(signer),
  });
  if (verdict === "forged") throw new LineDamage("forged", key, "no member of the space signed this segment");
  if (head.member !== (writer ?? head.member))
    throw new LineDamage("forged", key, "another member than the writer of the line signed this segment");
  sound(key, () => {
    expectSound(head.line === line && head.number === number, "the segment says that it is another one");
    expectSound(head.previous === (before?.hash ?? null), "the segment does not follow the one before");
  });
  if (verdict === "no-right")
    return new LineDamage("forged", key, "its writer had no right to write when the server got this segment");
  return { key, segment, bytes };
}

function sound<Result>(key: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof DamageError) throw new LineDamage("damaged", key, error.message, error);
    throw error;
  }
}
