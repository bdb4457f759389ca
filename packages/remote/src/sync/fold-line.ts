/**
 * Restates the newest segments of a line as one, content included, so that a fresh reader needs a few requests and not
 * thousands. A fold adds no parcel and drops nothing: it is stored or not, and the line means the same either way.
 */
import { INDEX_ENTRIES_LIMIT, SELF, type Place } from "../line/object-index.ts";
import { MergedLine } from "../line/merged-line.ts";
import { createHead, sealSegment, type SegmentHead } from "../line/segment.ts";
import { spanIn, type Span } from "../line/keys-of-space.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import type { FramedObject } from "../parcel/directory.ts";
import { plainFrame, type PlainFrame } from "../parcel/parcel.ts";
import { presentSecret, type Space } from "../space/space.ts";
import type { KnownLine, Mirror } from "./mirror.ts";
import { readLine, type ReadSegment } from "./read-line.ts";

/** A line is folded whenever it has grown by so many segments. */
export const FOLD_SEGMENTS = 64;
/** A fold ends before its content would not fit a parcel. */
const FOLD_BYTES = 12 * 1024 * 1024;
const FRAME_BYTES = 4 * 1024 * 1024;

/** What folding needs. */
export interface FoldWriter {
  readonly space: Space;
  readonly mirror: Mirror;
  readonly keys: MemberKeys;
  readonly device: string;
  readonly createOnly: boolean;
  readonly random: (bytes: number) => Buffer;
  readonly now: () => number;
  readonly suffix: string;
}

/** Folds what follows the last fold of a line, up to a segment that is stored; returns the keys of the folds. */
export async function foldLine(writer: FoldWriter, line: string, last: KnownLine): Promise<string[]> {
  const stored: string[] = [];
  for (let from = (await foldedUntil(writer.space, line)) + 1; last.number > from;) {
    const draft = await readDraft(writer, line, { from, to: last.number });
    if (draft === undefined) return stored;
    const key = await putFold(writer, line, draft);
    stored.push(key);
    from = draft.head.number + 1;
  }
  return stored;
}

/** The last segment that a fold restates. */
async function foldedUntil({ store, names }: Space, line: string): Promise<number> {
  let number = 0;
  for await (const { key } of store.list(names.segmentsOf(line))) {
    const span = spanIn(key);
    if (span !== undefined && span.to > span.from) number = Math.max(number, span.to);
  }
  return number;
}

interface Draft {
  readonly merged: MergedLine;
  readonly frames: PlainFrame[];
  readonly inline: Map<string, Place>;
  readonly from: number;
  readonly previous: string | null;
  readonly head: SegmentHead;
  readonly hash: string;
}

async function readDraft(
  { space, mirror }: FoldWriter,
  line: string,
  { from, to }: Span,
): Promise<Draft | undefined> {
  const hash = mirror.seen(line).get(from - 1);
  const known = hash === undefined ? undefined : { number: from - 1, hash };
  const arrivals = await arrivalsOf(space, line);
  const content = new ContentPacker();
  const merged = new MergedLine();
  let [segments, bytes] = [0, 0];
  let [first, last]: [ReadSegment | undefined, ReadSegment | undefined] = [undefined, undefined];
  for await (const read of readLine(space, line, known)) {
    const { number } = read.segment.head;
    if (number < from) continue;
    bytes += read.bytes.length;
    const isFull = bytes > FOLD_BYTES || merged.objects.size + read.segment.index.size > INDEX_ENTRIES_LIMIT;
    if (number > to || (segments > 0 && isFull)) break;
    first ??= read;
    last = read;
    segments++;
    merged.add(read.segment, arrivals.get(read.key) ?? 0);
    content.add(read);
  }
  // one segment needs no restating
  if (last === undefined || segments < 2) return undefined;
  const { frames, index } = content.finish();
  return {
    merged,
    frames,
    inline: index,
    from,
    previous: first?.segment.head.previous ?? null,
    head: last.segment.head,
    hash: last.segment.hash,
  };
}

/** The server's times of the objects of a line. */
export async function arrivalsOf({ store, names }: Space, line: string): Promise<Map<string, number>> {
  const arrivals = new Map<string, number>();
  for await (const { key, modified } of store.list(names.segmentsOf(line))) arrivals.set(key, modified);
  return arrivals;
}

async function putFold(writer: FoldWriter, line: string, draft: Draft): Promise<string> {
  const { space, keys, device, createOnly, random, now, suffix } = writer;
  const { merged, frames, inline, head, from, previous, hash } = draft;
  const key = space.names.fold(line, { from, to: head.number }, suffix);
  const index = merged.index;
  for (const [name, place] of inline) if (!index.has(name)) index.set(name, place);
  const bytes = sealSegment(
    {
      head: createHead({
        line,
        number: head.number,
        previous,
        member: keys.id,
        device,
        at: now(),
        from: head.from,
        seen: head.seen,
        sweep: head.sweep,
        fold: { from, hash, isBase: false },
        ...(keys.certificate !== undefined && { certificate: keys.certificate }),
      }),
      records: merged.records(),
      index,
      content: frames,
      uses: merged.uses,
    },
    { key, secret: presentSecret(space), salt: random(32), signer: keys.sign },
  );
  await space.store.put(key, bytes, { createOnly });
  return key;
}

/** Puts the objects that ride inside segments together, opened and compressed again. */
class ContentPacker {
  readonly #frames: PlainFrame[] = [];
  readonly #index = new Map<string, Place>();
  #parts: Buffer[] = [];
  #objects: FramedObject[] = [];
  #size = 0;

  add({ segment: { parcel }, bytes }: ReadSegment): void {
    for (const [n, { kind, objects }] of parcel.frames.entries()) {
      if (kind !== "content") continue;
      const raw = parcel.rawFrame(n, bytes);
      for (const { hash, offset, size, form } of objects) {
        if (this.#index.has(hash)) continue;
        if (this.#size + size > FRAME_BYTES && this.#objects.length > 0) this.#close();
        this.#index.set(hash, { parcel: SELF, frame: this.#frames.length });
        this.#objects.push({ hash, offset: this.#size, size, form });
        this.#parts.push(raw.subarray(offset, offset + size));
        this.#size += size;
      }
    }
  }

  finish(): { frames: PlainFrame[]; index: Map<string, Place> } {
    if (this.#objects.length > 0) this.#close();
    return { frames: this.#frames, index: this.#index };
  }

  #close(): void {
    this.#frames.push(plainFrame("content", Buffer.concat(this.#parts), this.#objects));
    [this.#parts, this.#objects, this.#size] = [[], [], 0];
  }
}
