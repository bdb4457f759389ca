/** Bracket expressions of gitignore patterns: `[a-z]`, `[!x]`, `[[:digit:]]`, with git's ASCII-only classes. */

export interface ByteClass {
  /** 1 for each byte that belongs to the class; never for "/". */
  readonly members: Uint8Array;
  /** The offset at which the pattern continues. */
  readonly end: number;
}

/**
 * Parses the expression whose `[` is at `start`; undefined when it is malformed, and then the pattern matches
 * nothing.
 */
export function parseByteClass(pattern: string, start: number): ByteClass | undefined {
  const members = new Uint8Array(256);
  let at = start + 1;
  const negated = pattern[at] === "!" || pattern[at] === "^";
  if (negated) at += 1;
  // the first member is read before looking for "]", so "[]a]" holds "]"
  let rangeStart = -1;
  do {
    const member = readMember(pattern, at, rangeStart);
    if (member === undefined) return undefined;
    for (const [low, high] of member.ranges) members.fill(1, low, high + 1);
    rangeStart = member.rangeStart;
    at = member.end;
    if (at >= pattern.length) return undefined;
  } while (pattern[at] !== "]");
  if (negated) for (let byte = 0; byte < 256; byte += 1) members[byte]! ^= 1;
  members[SLASH] = 0;
  return { members, end: at + 1 };
}

interface Member {
  readonly ranges: readonly (readonly [number, number])[];
  /** The byte from which a following "-" starts a range; -1 when none can start here. */
  readonly rangeStart: number;
  readonly end: number;
}

const SLASH = 0x2f;

function readMember(pattern: string, at: number, rangeStart: number): Member | undefined {
  if (at >= pattern.length) return undefined;
  if (pattern[at] === "-" && rangeStart > 0 && at + 1 < pattern.length && pattern[at + 1] !== "]") {
    const top = readByte(pattern, at + 1);
    // a descending range is empty
    return (
      top && { ranges: rangeStart <= top.byte ? [[rangeStart, top.byte]] : [], rangeStart: -1, end: top.end }
    );
  }
  if (pattern.startsWith("[:", at)) {
    const close = pattern.indexOf("]", at + 2);
    if (close < 0) return undefined;
    if (close > at + 2 && pattern[close - 1] === ":") {
      const ranges = NAMED_CLASSES.get(pattern.slice(at + 2, close - 1));
      return ranges && { ranges, rangeStart: -1, end: close + 1 };
    }
  }
  const single = readByte(pattern, at);
  return single && { ranges: [[single.byte, single.byte]], rangeStart: single.byte, end: single.end };
}

function readByte(pattern: string, at: number): { byte: number; end: number } | undefined {
  const from = pattern[at] === "\\" ? at + 1 : at;
  return from < pattern.length ? { byte: pattern.charCodeAt(from), end: from + 1 } : undefined;
}

const DIGIT = [0x30, 0x39] as const;
const UPPER = [0x41, 0x5a] as const;
const LOWER = [0x61, 0x7a] as const;

const NAMED_CLASSES = new Map<string, readonly (readonly [number, number])[]>([
  ["alnum", [DIGIT, UPPER, LOWER]],
  ["alpha", [UPPER, LOWER]],
  [
    "blank",
    [
      [0x09, 0x09],
      [0x20, 0x20],
    ],
  ],
  [
    "cntrl",
    [
      [0x00, 0x1f],
      [0x7f, 0x7f],
    ],
  ],
  ["digit", [DIGIT]],
  ["graph", [[0x21, 0x7e]]],
  ["lower", [LOWER]],
  ["print", [[0x20, 0x7e]]],
  [
    "punct",
    [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
  ],
  // git counts vertical tab and form feed as control characters only
  [
    "space",
    [
      [0x09, 0x0a],
      [0x0d, 0x0d],
      [0x20, 0x20],
    ],
  ],
  ["upper", [UPPER]],
  ["xdigit", [DIGIT, [0x41, 0x46], [0x61, 0x66]]],
]);
