/**
 * Rejects at once most names that no rule can match: one table of the possible first and last bytes of
 * matches and the outlines of literal names. A pass means nothing; a rejection is certain. In a typical project a few
 * names in a hundred pass.
 */
import type { Glob } from "./ignore-glob.ts";

const SLOTS = 1024;
/** The marks of a slot: a name's outline, its first byte or two, its last byte or two. */
const OUTLINE = 1;
const FIRST = 2;
const FIRST_TWO = 4;
const LAST = 8;
const LAST_TWO = 16;
/** A rule that allows more bytes than this at both ends is tried on every name. */
const MOST_BYTES = 64;

/** A filter over all names that some rules can match. */
export class NameFilter {
  readonly #slots = new Uint8Array(SLOTS);
  /** The same memory, four slots at a time. */
  readonly #words = new Uint32Array(this.#slots.buffer);
  #passesAll = false;

  static union(filters: readonly NameFilter[]): NameFilter {
    const union = new NameFilter();
    for (const filter of filters) {
      union.#passesAll ||= filter.#passesAll;
      for (let at = 0; at < union.#words.length; at += 1) union.#words[at]! |= filter.#words[at]!;
    }
    return union;
  }

  addName(name: string): void {
    this.#slots[outlineSlot(name)]! |= OUTLINE;
  }

  /** Marks the more selective end of a pattern. */
  addGlob(glob: Glob): void {
    const start = { outer: glob.bytesAt(0), inner: glob.bytesAt(1), one: FIRST, two: FIRST_TWO };
    const end = { outer: glob.bytesAt(-1), inner: glob.bytesAt(-2), one: LAST, two: LAST_TWO };
    this.#addEnd(openness(start) < openness(end) ? start : end);
  }

  passes(name: string): boolean {
    const slots = this.#slots;
    const last = name.length - 1;
    const firstByte = name.charCodeAt(0);
    const lastByte = name.charCodeAt(last);
    if (this.#passesAll || (slots[outlineSlot(name)]! & OUTLINE) !== 0) return true;
    if ((slots[firstByte]! & FIRST) !== 0 || (slots[lastByte]! & LAST) !== 0) return true;
    if (last === 0) return false;
    return (
      (slots[pairSlot(firstByte, name.charCodeAt(1))]! & FIRST_TWO) !== 0 ||
      (slots[pairSlot(lastByte, name.charCodeAt(last - 1))]! & LAST_TWO) !== 0
    );
  }

  #addEnd({ outer, inner, one, two }: PatternEnd): void {
    if (outer.length > MOST_BYTES) this.#passesAll = true;
    else if (inner.length > MOST_BYTES) for (const byte of outer) this.#slots[byte]! |= one;
    else for (const byte of outer) for (const next of inner) this.#slots[pairSlot(byte, next)]! |= two;
  }
}

/** The bytes that a name can have at one end and next to it, with their marks. */
interface PatternEnd {
  readonly outer: readonly number[];
  readonly inner: readonly number[];
  readonly one: number;
  readonly two: number;
}

function openness({ outer, inner }: PatternEnd): number {
  return outer.length * inner.length;
}

function pairSlot(outer: number, inner: number): number {
  return (outer * 37 + inner) % SLOTS;
}

function outlineSlot(name: string): number {
  const { length } = name;
  return (name.charCodeAt(0) * 37 + name.charCodeAt(length - 1) * 11 + length) % SLOTS;
}
