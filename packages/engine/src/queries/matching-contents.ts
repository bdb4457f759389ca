/** Which contents of a store match? Each distinct content is looked at once, however many checkpoints have it. */
import type { FindOptions } from "../model/finding.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { PackScan } from "../store/pack-scan.ts";
import type { ContentMatcher } from "./content-matcher.ts";
import { withinTime } from "./within-time.ts";

/** The matching contents, and in how many they were looked for. */
export interface MatchingContents {
  readonly names: ReadonlySet<ObjectHash>;
  readonly contents: number;
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
  const names = new Set<ObjectHash>();
  const wanted = candidatePacks(scan, matcher);
  for (const name of large.packs) wanted.add(name);
  let [contents, done] = [0, 0];
  for (const { raw, objects } of scan.packs(wanted)) {
    // plain text needs no limit
    const limited = !matcher.isBounded ? withinTime : (_: number, work: () => void) => work();
    limited(patternLimitMs, () => {
      for (const object of objects) {
        contents += 1;
        const bytes = raw.subarray(object.start, object.end);
        const isMatch = matcher.matches(bytes);
        if (isMatch && scan.verified(raw, object) === undefined) continue;
        if (isMatch) names.add(object.name);
        large.note(object.name, bytes);
      }
    });
    progress((done += 1), wanted.size);
  }
  for (const name of large.matching(names)) names.add(name);
  return { names, contents };
}

/** With a literal, only the packs that hold it anywhere; it may still lie across two objects. */
function candidatePacks(scan: PackScan, { literal }: ContentMatcher): Set<number> {
  const ids = scan.ids();
  if (literal === undefined) return new Set(ids);
  return new Set(ids.filter((id) => scan.raw(id)?.includes(literal) === true));
}

/** Files over 1 MiB: their pieces are looked at like any content, and then what lies across two of them. */
class LargeContents {
  readonly packs: ReadonlySet<number>;
  readonly #pieces = new Map<ObjectHash, readonly ObjectHash[]>();
  readonly #edges = new Map<ObjectHash, { readonly head: Buffer; readonly tail: Buffer } | undefined>();
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
    for (const pieces of this.#pieces.values()) for (const piece of pieces) this.#edges.set(piece, undefined);
    this.packs = scan.packsOf(this.#edges.keys());
  }

  note(name: ObjectHash, bytes: Buffer): void {
    if (!this.#edges.has(name)) return;
    const { head, tail } = this.#matcher.edges(bytes);
    // copies: a view would keep its whole pack in memory
    this.#edges.set(name, { head: Buffer.from(head), tail: Buffer.from(tail) });
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
