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

/** How it is looked. */
export type LookOptions = Pick<FindOptions, "progress" | "patternLimitMs">;

/** Looks at every content of the store for a text. */
export function matchingContents(
  scan: PackScan,
  matcher: ContentMatcher,
  options: LookOptions = {},
): MatchingContents {
  const search = new Search(scan, matcher, options);
  for (const pack of scan.packs()) search.look(pack);
  return search.end();
}

/**
 * The same before it is known what the store will have: packs are looked at while others are decompressed. Gives what says,
 * afterwards, whether it still counts.
 */
export async function lookAhead(
  scan: PackScan,
  matcher: ContentMatcher,
  options: LookOptions = {},
): Promise<() => MatchingContents | undefined> {
  const { state } = scan;
  const search = new Search(scan, matcher, options);
  let looked = 0;
  for await (const pack of scan.packsAhead()) {
    search.look(pack);
    looked += 1;
  }
  return () => {
    if (looked > 0 && scan.state === state) return search.end();
    scan.unreadable = 0;
    return undefined;
  };
}

/** One look at all packs. */
class Search {
  readonly scan: PackScan;
  readonly matcher: ContentMatcher;
  readonly large: LargeContents;
  readonly #options: LookOptions;
  readonly #trees = new ScannedTrees();
  readonly #names = new Set<ObjectHash>();
  readonly #total: number;
  #contents = 0;
  #done = 0;

  constructor(scan: PackScan, matcher: ContentMatcher, options: LookOptions) {
    this.scan = scan;
    this.matcher = matcher;
    this.large = new LargeContents(scan, matcher);
    this.#options = options;
    this.#total = scan.count;
  }

  look(pack: ScannedPack): void {
    if (this.large.isInPack(pack.id) || mayMatch(pack, this.matcher)) {
      // plain text needs no limit
      if (this.matcher.isBounded) this.#match(pack);
      else withinTime(this.#options.patternLimitMs ?? PACK_MS, () => this.#match(pack));
    }
    this.#trees.add(pack);
    this.#options.progress?.((this.#done += 1), this.#total);
  }

  #match(pack: ScannedPack): void {
    this.#contents += pack.places.length / 2;
    for (const name of matchesIn(pack, this)) this.#names.add(name);
  }

  end(): MatchingContents {
    const [names, trees] = [this.#names, this.#trees];
    for (const name of this.large.matching(names)) names.add(name);
    for (const name of this.large.names) trees.addName(name);
    trees.markHolders(names);
    return { names, contents: this.#contents, trees };
  }
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
