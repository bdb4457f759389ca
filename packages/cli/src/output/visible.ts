/**
 * Makes foreign text (file names, prompts, notes, error messages) safe to show. A file name may contain an
 * escape sequence that clears the screen, or a mark that reverses the text after it. Both are spelled out, so
 * that what a person reads is what is there.
 */
import { isUtf8 } from "node:buffer";
import type { BytePath } from "@belay/engine";
import { redact } from "@belay/protocol/redact";

// Controls (C0, DEL, C1), line and paragraph separators, and marks that reorder or hide what follows.
const HIDDEN = /[\p{Cc}\u2028\u2029\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
// Joiners that emoji and several scripts need; they hide nothing.
const HARMLESS = new Set(["\u200c", "\u200d"]);
const SHORT_FORMS: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line of foreign text without secrets [R167] and without anything a terminal would act on. */
export function visible(text: string): string {
  return visibleLine(redact(text));
}

/** Like `visible` for a line or a name of a file, whose secrets stay. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN, (character) => (HARMLESS.has(character) ? character : spelledOut(character)));
}

/** Text of several lines: line ends and tabs stay, everything else as in `visible`. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\t" || HARMLESS.has(character)) return character;
    return spelledOut(character);
  });
}

/** A path as a person sees it; bytes that are not UTF-8 are spelled out, so that no two names look alike. */
export function visiblePath(path: BytePath): string {
  const bytes = Buffer.from(path, "latin1");
  if (isUtf8(bytes)) return visibleLine(bytes.toString("utf8"));
  return path.replace(/[^\x20-\x7e]/g, (character) => spelledOut(character));
}

/** `src/a.ts, README.md and 3 more`: paths inside a sentence. */
export function pathNames(paths: readonly string[]): string {
  const named = paths.slice(0, NAMED_PATHS).map(visibleLine).join(", ");
  return paths.length > NAMED_PATHS ? `${named} and ${paths.length - NAMED_PATHS} more` : named;
}

const NAMED_PATHS = 2;

function spelledOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const short = SHORT_FORMS[character];
  if (short !== undefined) return short;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
