/** Which contents of a store match? Each distinct content is looked at once, however many checkpoints have it. */
import type { FindOptions } from "../model/finding.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { PackScan, ScannedPack } from "../store/pack-scan.ts";
import { ScannedTrees } from "../store/scanned-trees.ts";
import type { ContentMatcher } from "./content-matcher.ts";
import { withinTime } from "./within-time.ts";

/** The matching contents, and in how many they were looked for. */
export interface MatchingContents {
  readonly names: ReadonlySet<ObjectHash>;
  readonly contents: number;
  /** Which trees may hold one of them. */
  readonly trees: ScannedTrees;
}

/** A pattern that takes longer for one pack would not come to an end. */
const PACK_MS = 10_000;

/** Looks at every content. */
export function matchingContents(
  scan: PackScan,
  matcher: ContentMatcher,
  { progress = () => {}, patternLimitMs = PACK_MS }: Pick<FindOptions, "progress" | "patternLimitMs"> = {},
): MatchingContents {
  const large = new LargeContents(scan, matcher);
  const trees = new ScannedTrees();
  const names = new Set<ObjectHash>();
  const total = scan.count;
  let [contents, done] = [0, 0];
  const look = (pack: ScannedPack) => {
    contents += pack.places.length / 2;
    for (const name of matchesIn(pack, { scan, matcher, large })) names.add(name);
  };
  for (const pack of scan.packs()) {
    if (large.isInPack(pack.id) || mayMatch(pack, matcher)) {
      // plain text needs no limit
      if (matcher.isBounded) look(pack);
      else withinTime(patternLimitMs, () => look(pack));
    }
    trees.add(pack);
    progress((done += 1), total);
  }
  for (const name of large.matching(names)) names.add(name);
  for (const name of large.names) trees.addName(name);
  trees.markHolders(names);
  return { names, contents, trees };
}

interface Search {
  readonly scan: PackScan;
  readonly matcher: ContentMatcher;
  readonly large: LargeContents;
}

function* matchesIn(pack: ScannedPack, { scan, matcher, large }: Search): Generator<ObjectHash> {
  const { id, raw, places } = pack;
  for (let index = 0; index * 2 < places.length; index += 1) {
    const start = places[index * 2]!;
    const bytes = raw.subarray(start, start + places[index * 2 + 1]!);
    const isMatch = matcher.matches(bytes);
    const name = isMatch ? scan.verifiedName(pack, index, bytes) : undefined;
    if (isMatch && name === undefined) continue;
    if (name !== undefined) yield name;
    large.note(id, start, bytes);
  }
}

/** With a literal, only packs that hold it anywhere; it may still lie across two objects. */
function mayMatch({ raw }: ScannedPack, { literal }: ContentMatcher): boolean {
  return literal === undefined || raw.includes(literal);
}

/** Files over 1 MiB: their pieces are looked at like any content, and then what lies across two of them. */
class LargeContents {
  readonly #pieces = new Map<ObjectHash, readonly ObjectHash[]>();
  readonly #edges = new Map<ObjectHash, { readonly head: Buffer; readonly tail: Buffer }>();
  /** The pieces of each pack, by their offsets. */
  readonly #inPacks = new Map<number, Map<number, ObjectHash>>();
  readonly #matcher: ContentMatcher;

  constructor(scan: PackScan, matcher: ContentMatcher) {
    this.#matcher = matcher;
    for (const name of scan.large()) {
      try {
        this.#pieces.set(name, scan.objects.pieceNames(name));
      } catch {
        scan.unreadable += 1;
      }
    }
    for (const piece of new Set([...this.#pieces.values()].flat())) this.#place(scan, piece);
  }

  #place(scan: PackScan, piece: ObjectHash): void {
    const place = scan.placeOf(piece);
    if (place === undefined) return;
    const others = this.#inPacks.get(place.pack);
    if (others === undefined) this.#inPacks.set(place.pack, new Map([[place.offset, piece]]));
    else others.set(place.offset, piece);
  }

  get names(): Iterable<ObjectHash> {
    return this.#pieces.keys();
  }

  isInPack(id: number): boolean {
    return this.#inPacks.has(id);
  }

  note(pack: number, offset: number, bytes: Buffer): void {
    const piece = this.#inPacks.get(pack)?.get(offset);
    if (piece === undefined) return;
    const { head, tail } = this.#matcher.edges(bytes);
    // copies: a view would keep its whole pack in memory
    this.#edges.set(piece, { head: Buffer.from(head), tail: Buffer.from(tail) });
  }

  *matching(names: ReadonlySet<ObjectHash>): Generator<ObjectHash> {
    for (const [name, pieces] of this.#pieces) {
      const isMatch = pieces.some((piece, index) => {
        if (names.has(piece)) return true;
        const [before, after] = [this.#edges.get(piece), this.#edges.get(pieces[index + 1] ?? piece)];
        if (index + 1 >= pieces.length || before === undefined || after === undefined) return false;
        return this.#matcher.matches(Buffer.concat([before.tail, after.head]));
      });
      if (isMatch) yield name;
    }
  }
}
