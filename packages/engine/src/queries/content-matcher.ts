/**
 * Whether content has a text, or a line that a pattern matches. Text is compared as bytes. A pattern is tried line by
 * line, so it never matches across lines, and not in binary files.
 */
import { isBinary } from "../diff/content-kind.ts";
import type { FindOptions } from "../model/finding.ts";
import { literalOf } from "./pattern-literal.ts";

/** Lines are cut here: a longer one is not text that people wrote. */
const LONGEST_LINE_BYTES = 64 * 1024;
const SHOWN_LINES = 3;
const SHOWN_CHARACTERS = 200;

/** Decides what matches. */
export interface ContentMatcher {
  /** What every match contains; undefined when nothing is known. */
  readonly literal: Buffer | undefined;
  /** True when the time for a content grows with its length only. */
  readonly isBounded: boolean;
  matches(content: Buffer): boolean;
  /** What of a piece's beginning and end may be part of a match that crosses into its neighbours. */
  edges(piece: Buffer): { readonly head: Buffer; readonly tail: Buffer };
  /** The first matching lines, and their numbers; defaults to three. */
  lines(content: Buffer, most?: number): { readonly lines: string[]; readonly lineNumbers: number[] };
}

/** What finds a text or pattern in contents; undefined when only paths matter. */
export function createMatcher({ text, pattern, ignoreCase }: FindOptions): ContentMatcher | undefined {
  const flags = ignoreCase === true ? "im" : "m";
  if (pattern !== undefined) {
    const literal = ignoreCase === true ? undefined : literalOf(pattern.source);
    const isSearched = (content: Buffer) =>
      (literal === undefined || content.includes(literal)) && !isBinary(content);
    return new PatternMatcher(new RegExp(pattern.source, flags), { literal, isSearched });
  }
  if (text === undefined) return undefined;
  if (ignoreCase !== true) return new TextMatcher(Buffer.from(text, "utf8"));
  return new PatternMatcher(new RegExp(RegExp.escape(text), flags), {
    literal: undefined,
    isSearched: () => true,
  });
}

class TextMatcher implements ContentMatcher {
  readonly literal: Buffer;
  readonly isBounded = true;

  constructor(text: Buffer) {
    this.literal = text;
  }

  matches(content: Buffer): boolean {
    return content.includes(this.literal);
  }

  edges(piece: Buffer): { head: Buffer; tail: Buffer } {
    const most = this.literal.length - 1;
    return { head: piece.subarray(0, most), tail: most === 0 ? NOTHING : piece.subarray(-most) };
  }

  lines(content: Buffer, most?: number) {
    let next = -1;
    // the first line of a text of several lines is where it begins
    return matchingLines(content, most, (line, at) => {
      if (next < at) next = content.indexOf(this.literal, at);
      if (next < 0) next = content.length;
      return next < at + line.length;
    });
  }
}

class PatternMatcher implements ContentMatcher {
  readonly literal: Buffer | undefined;
  readonly isBounded = false;
  readonly #pattern: RegExp;
  readonly #isSearched: (content: Buffer) => boolean;

  constructor(
    pattern: RegExp,
    options: { literal: Buffer | undefined; isSearched: (content: Buffer) => boolean },
  ) {
    this.#pattern = pattern;
    this.literal = options.literal;
    this.#isSearched = options.isSearched;
  }

  matches(content: Buffer): boolean {
    if (!this.#isSearched(content)) return false;
    const text = content.toString("utf8");
    // once over everything: most contents do not match, and a match may still lie across lines
    return this.#pattern.test(text) && text.split("\n").some((line) => this.#pattern.test(line));
  }

  edges(piece: Buffer): { head: Buffer; tail: Buffer } {
    const [first, last] = [piece.indexOf("\n"), piece.lastIndexOf("\n")];
    const head = piece.subarray(0, first < 0 ? piece.length : first);
    return {
      head: head.subarray(0, LONGEST_LINE_BYTES),
      tail: piece.subarray(Math.max(last + 1, piece.length - LONGEST_LINE_BYTES)),
    };
  }

  lines(content: Buffer, most?: number) {
    return matchingLines(content, most, (line) => this.#pattern.test(line.toString("utf8")));
  }
}

const NOTHING = Buffer.alloc(0);

function matchingLines(content: Buffer, most = SHOWN_LINES, isMatch: (line: Buffer, at: number) => boolean) {
  const [lines, lineNumbers]: [string[], number[]] = [[], []];
  for (let [at, number] = [0, 1]; at < content.length && lines.length < most; number += 1) {
    const newline = content.indexOf("\n", at);
    const end = newline < 0 ? content.length : newline + 1;
    const line = content.subarray(at, end);
    if (isMatch(line, at)) {
      lines.push(line.toString("utf8").trimEnd().slice(0, SHOWN_CHARACTERS));
      lineNumbers.push(number);
    }
    at = end;
  }
  return { lines, lineNumbers };
}
