/**
 * One gitignore pattern, compiled to a small program over bytes. It matches exactly what git's own matcher
 * matches, odd corners included, and its cost is bounded: a wildcard is retried only within its own path
 * segment and `**` only at segment starts, so no hostile pattern makes matching exponential.
 */
import { parseByteClass } from "./byte-class.ts";

/** Codes below 256 are literal bytes; codes from `FIRST_CLASS` on are numbers of byte classes. */
const ANY_BYTE = 256;
const STAR = 257;
const GLOBSTAR = 258;
const GLOBSTAR_SLASH = 259;
const FIRST_CLASS = 260;
const SLASH = 0x2f;
const SPECIAL = /[*?[\\]/;

interface Program {
  readonly codes: number[];
  readonly classes: Uint8Array[];
}

/**
 * Compiles a pattern without its `!`, its anchor and its final slash; undefined when nothing can match it.
 */
export function compileGlob(pattern: string): Glob | undefined {
  const program = parse(pattern);
  return program && new Glob(program);
}

/** A pattern of an ignore file, compiled. */
export class Glob {
  /** What every match starts with; the whole pattern when it is literal. */
  readonly prefix: string;
  /** What every match ends with. */
  readonly suffix: string;
  readonly isLiteral: boolean;
  /** True for a star followed only by literal bytes. */
  readonly isSuffix: boolean;
  readonly #program: Program;
  readonly #leastLength: number;

  constructor(program: Program) {
    const { codes } = program;
    const firstWildcard = codes.findIndex(isWildcard);
    const lastWildcard = codes.findLastIndex(isWildcard);
    this.isLiteral = firstWildcard < 0;
    this.prefix = byteText(this.isLiteral ? codes : codes.slice(0, firstWildcard));
    this.suffix = byteText(codes.slice(lastWildcard + 1));
    this.isSuffix = codes[0] === STAR && lastWildcard === 0;
    this.#program = program;
    this.#leastLength = codes.filter(isOneByte).length;
  }

  matches(text: string): boolean {
    if (text.length < this.#leastLength || !text.endsWith(this.suffix) || !text.startsWith(this.prefix))
      return false;
    if (this.isSuffix) return !text.slice(0, text.length - this.suffix.length).includes("/");
    return acceptsEnd(this.#program, text) && run(this.#program, text);
  }

  /** The bytes that a match can have at 0 and 1, or at -1 and -2 from its end. */
  bytesAt(position: 0 | 1 | -1 | -2): readonly number[] {
    const { codes, classes } = this.#program;
    const code = codes.at(position);
    const neighbour = position === 1 ? codes[0] : position === -2 ? codes.at(-1) : undefined;
    if (code === undefined || !isOneByte(code) || (neighbour !== undefined && !isOneByte(neighbour)))
      return ALL_BYTES;
    if (code < ANY_BYTE) return [code];
    return code === ANY_BYTE ? ALL_BYTES : ALL_BYTES.filter((byte) => accepts(code, byte, classes));
  }
}

const ALL_BYTES: readonly number[] = Array.from({ length: 256 }, (_, byte) => byte);

/** True for a code that matches exactly one byte. */
function isOneByte(code: number): boolean {
  return code <= ANY_BYTE || code >= FIRST_CLASS;
}

function isWildcard(code: number): boolean {
  return code > 255;
}

function byteText(codes: readonly number[]): string {
  return Buffer.from(codes).toString("latin1");
}

function parse(pattern: string): Program | undefined {
  const program: Program = { codes: [], classes: [] };
  const { codes, classes } = program;
  const literalLength = pattern.search(SPECIAL);
  for (let at = 0; at < pattern.length;) {
    switch (pattern[at]) {
      case "*": {
        const star = parseStars(pattern, at, literalLength);
        codes.push(star.code);
        at = star.end;
        break;
      }
      case "?":
        codes.push(ANY_BYTE);
        at += 1;
        break;
      case "[": {
        const parsed = parseByteClass(pattern, at);
        if (parsed === undefined) return undefined;
        codes.push(FIRST_CLASS + classes.push(parsed.members) - 1);
        at = parsed.end;
        break;
      }
      case "\\":
        if (at + 1 === pattern.length) return undefined;
        codes.push(pattern.charCodeAt(at + 1));
        at += 2;
        break;
      default:
        codes.push(pattern.charCodeAt(at));
        at += 1;
    }
  }
  return program;
}

/**
 * Two stars or more cross directories when they fill a segment. Git compares the wildcard-free beginning of a
 * pattern separately, so a run right behind it also starts a segment: in a pattern of `a**`, a slash and `b`
 * as much as in `a/**`.
 */
function parseStars(pattern: string, at: number, literalLength: number): { code: number; end: number } {
  let end = at + 1;
  while (pattern[end] === "*") end += 1;
  const startsSegment = at === literalLength || pattern[at - 1] === "/";
  if (end - at > 1 && startsSegment) {
    if (pattern[end] === "/") return { code: GLOBSTAR_SLASH, end: end + 1 };
    if (end === pattern.length || pattern.startsWith("\\/", end)) return { code: GLOBSTAR, end };
  }
  return { code: STAR, end };
}

/**
 * Backtracks to the latest `*` and the latest `**` only. Earlier ones need no second try: a `*` cannot leave
 * its segment, and whatever an earlier `**` could still take, the later one can take as well.
 */
function run({ codes, classes }: Program, text: string): boolean {
  let at = 0;
  let next = 0;
  let afterStar = -1;
  let starEnd = 0;
  let afterGlobstar = -1;
  let globstarEnd = 0;
  for (;;) {
    if (next < codes.length) {
      const code = codes[next]!;
      if (code === STAR) {
        afterStar = next += 1;
        starEnd = at;
        continue;
      }
      if (code === GLOBSTAR || code === GLOBSTAR_SLASH) {
        afterGlobstar = next += 1;
        globstarEnd = at;
        afterStar = -1;
        continue;
      }
      if (at < text.length && accepts(code, text.charCodeAt(at), classes)) {
        next += 1;
        at += 1;
        continue;
      }
    } else if (at === text.length) {
      return true;
    }
    if (afterStar >= 0 && starEnd < text.length && text.charCodeAt(starEnd) !== SLASH) {
      next = afterStar;
      at = starEnd += 1;
      continue;
    }
    if (afterGlobstar < 0) return false;
    globstarEnd =
      codes[afterGlobstar - 1] === GLOBSTAR ? globstarEnd + 1 : text.indexOf("/", globstarEnd) + 1;
    if (globstarEnd === 0 || globstarEnd > text.length) return false;
    next = afterGlobstar;
    at = globstarEnd;
    afterStar = -1;
  }
}

/** Rejects quickly by the last byte, for patterns that end in a class such as `*.py[co]`. */
function acceptsEnd({ codes, classes }: Program, text: string): boolean {
  const last = codes[codes.length - 1]!;
  return last < FIRST_CLASS || accepts(last, text.charCodeAt(text.length - 1), classes);
}

function accepts(code: number, byte: number, classes: readonly Uint8Array[]): boolean {
  if (code < ANY_BYTE) return code === byte;
  if (code === ANY_BYTE) return byte !== SLASH;
  return classes[code - FIRST_CLASS]![byte] === 1;
}
