/**
 * Proves a remote: the chain and signature of every segment of every line, every parcel that an index names present. Of
 * some or all parcels also every frame, down to the hashes of their objects. Segments that this home saw before must
 * still be there and be the same [T15].
 */
import { createHash } from "node:crypto";
import { decompressFrame, type OpenParcel } from "../parcel/parcel.ts";
import { DamageError } from "../parcel/damage.ts";
import { SELF, WITHHELD, type Place } from "../line/object-index.ts";
import type { Space } from "../space/space.ts";
import type { Mirror } from "./mirror.ts";
import { LineDamage, listLines, listParcels, readLine } from "./read-line.ts";
import { openContent } from "./receive-line.ts";

/** Something that is wrong with a remote. */
export interface SpaceProblem {
  readonly kind: LineDamage["kind"];
  readonly key: string;
  readonly line: string | null;
  /** The objects that cannot be had from there. */
  readonly objects: readonly string[];
}

/** What was verified. */
export interface SpaceReport {
  readonly lines: number;
  readonly segments: number;
  readonly parcels: number;
  readonly bytesRead: number;
  readonly problems: readonly SpaceProblem[];
}

/** Which parcels are read whole: the share of them, chosen at random. */
export interface VerifyDepth {
  readonly share: number;
  readonly random: () => number;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

const FORM_BYTES = 0;
/** In a list of pieces, in hexadecimal digits. */
const PIECE_NAME = /[0-9a-f]{64}/g;

/** Verifies a space: heads, segments, indexes and a share of the parcels. */
export async function verifySpace(space: Space, mirror: Mirror, depth: VerifyDepth): Promise<SpaceReport> {
  const check = new SpaceCheck(space, mirror);
  const lines = new Set([...(await listLines(space)), ...mirror.lines()]);
  for (const line of lines) await check.line(line);
  await check.parcels(depth);
  return { lines: lines.size, ...check.report() };
}

/** The objects that one line expects in a parcel, and in which frame. */
type Expected = ReadonlyMap<string, number>;

class SpaceCheck {
  readonly #space: Space;
  readonly #mirror: Mirror;
  /** One of a kind for each key and line. */
  readonly #problems = new Map<string, SpaceProblem>();
  /** Of each parcel: what each line that names it expects there. */
  readonly #named = new Map<string, Map<string, Map<string, number>>>();
  /** Of each line: where its objects are. */
  readonly #indexes = new Map<string, ReadonlyMap<string, Place>>();
  /** The pieces of large objects, by the parcel or segment that lists them; a later segment may say where they are. */
  readonly #pieces: { readonly key: string; readonly line: string; readonly names: readonly string[] }[] = [];
  #segments = 0;
  #bytesRead = 0;

  constructor(space: Space, mirror: Mirror) {
    this.#space = space;
    this.#mirror = mirror;
  }

  report(): Omit<SpaceReport, "lines"> {
    return {
      segments: this.#segments,
      parcels: this.#named.size,
      bytesRead: this.#bytesRead,
      problems: [...this.#problems.values()],
    };
  }

  async line(line: string): Promise<void> {
    const seen = this.#mirror.seen(line);
    const found = new Map<number, string>();
    /** [T5] Of each object the newest place counts. */
    const index = new Map<string, Place>();
    this.#indexes.set(line, index);
    let isReadable = true;
    /** [T15] The segments up to here are restated by folds. */
    let folded = 0;
    try {
      const refused = (refusal: LineDamage) => {
        isReadable = false;
        this.#note(refusal, line);
      };
      // as a clone reads it: what a base let go may be gone while the segments that it restates are still there
      const reading = { refused, there: () => listParcels(this.#space) };
      for await (const { key, segment, bytes } of readLine(this.#space, line, undefined, reading)) {
        this.#segments++;
        this.#bytesRead += bytes.length;
        found.set(segment.head.number, segment.hash);
        if (segment.head.fold !== undefined) folded = segment.head.number;
        for (const [hash, place] of segment.index) index.set(hash, place);
        isReadable = this.#frames(key, segment.parcel, { bytes, lines: [line] }) && isReadable;
      }
    } catch (error) {
      isReadable = false;
      this.#note(error, line);
    }
    for (const [hash, { parcel, frame }] of index)
      if (parcel !== SELF && parcel !== WITHHELD) this.#expect(line, parcel, { hash, frame });
    for (const [number, hash] of seen) {
      if (found.get(number) === hash) continue;
      // what could not be read is reported as that
      if (!found.has(number) && (!isReadable || number < folded)) continue;
      const key = this.#space.names.segment(line, number);
      this.#add({ kind: "rolled-back", key, line, objects: [] });
    }
  }

  #expect(
    line: string,
    parcel: string,
    { hash, frame }: { readonly hash: string; readonly frame: number },
  ): void {
    const named = this.#named.get(parcel) ?? new Map<string, Map<string, number>>();
    const expected = named.get(line) ?? new Map<string, number>();
    expected.set(hash, frame);
    this.#named.set(parcel, named.set(line, expected));
  }

  async parcels({ share, random, progress }: VerifyDepth): Promise<void> {
    const { names, store } = this.#space;
    const stored = new Set<string>();
    for await (const { key } of store.list(names.parcels)) stored.add(key);
    let done = 0;
    for (const [id, named] of this.#named) {
      const key = names.parcel(id);
      if (!stored.has(key)) this.#missing(key, named);
      else if (random() < share) await this.#parcel(key, named);
      progress?.(++done, this.#named.size);
    }
    for (const { key, line, names: pieces } of this.#pieces) {
      const objects = pieces.filter((piece) => this.#indexes.get(line)?.has(piece) !== true);
      if (objects.length > 0) this.#add({ kind: "missing", key, line, objects });
    }
  }

  #missing(key: string, named: ReadonlyMap<string, Expected>): void {
    for (const [line, objects] of named)
      this.#add({ kind: "missing", key, line, objects: [...objects.keys()] });
  }

  async #parcel(key: string, named: ReadonlyMap<string, Expected>): Promise<void> {
    const got = await this.#space.store.get(key);
    if (got === undefined) return this.#missing(key, named);
    this.#bytesRead += got.bytes.length;
    let parcel: OpenParcel | undefined;
    for (const [line, objects] of named)
      try {
        parcel ??= openContent(this.#space, key, got.bytes);
        const { frames } = parcel;
        for (const [hash, frame] of objects)
          if (frames[frame]?.objects.some((object) => object.hash === hash) !== true)
            throw new LineDamage("damaged", key, "an object is not where the index says");
      } catch (error) {
        this.#note(error, line, [...objects.keys()], key);
      }
    if (parcel !== undefined) this.#frames(key, parcel, { bytes: got.bytes, lines: [...named.keys()] });
  }

  /** Proves the frames of a parcel for the lines that name it; false when one is damaged. */
  #frames(
    key: string,
    parcel: OpenParcel,
    { bytes, lines }: { readonly bytes: Buffer; readonly lines: readonly string[] },
  ): boolean {
    let isSound = true;
    for (const [n, { kind, rawBytes, objects }] of parcel.frames.entries()) {
      if (kind !== "content") continue;
      try {
        const raw = decompressFrame(parcel.openFrame(n, parcel.ciphertextOf(n, bytes)), rawBytes);
        for (const { hash, offset, size, form } of objects) {
          const content = raw.subarray(offset, offset + size);
          if (form !== FORM_BYTES) {
            const names = content.toString("hex").match(PIECE_NAME) ?? [];
            // a line that borrows the parcel for something else needs no pieces
            for (const line of lines)
              if (this.#indexes.get(line)?.has(hash) === true) this.#pieces.push({ key, line, names });
          } else if (createHash("sha256").update(content).digest("hex") !== hash)
            throw new LineDamage("damaged", key, "an object is not what its name says");
        }
      } catch (error) {
        isSound = false;
        const hashes = objects.map(({ hash }) => hash);
        for (const line of lines) this.#note(error, line, hashes, key);
      }
    }
    return isSound;
  }

  #note(error: unknown, line: string, objects: readonly string[] = [], at = ""): void {
    if (error instanceof LineDamage) this.#add({ kind: error.kind, key: error.key, line, objects });
    else if (error instanceof DamageError) this.#add({ kind: "damaged", key: at, line, objects });
    else throw error;
  }

  #add(problem: SpaceProblem): void {
    const id = `${problem.kind} ${problem.key} ${problem.line}`;
    const objects = new Set([...(this.#problems.get(id)?.objects ?? []), ...problem.objects]);
    this.#problems.set(id, { ...problem, objects: [...objects] });
  }
}
