/**
 * Makes foreign text (file names, prompts, notes, lines of files) safe to show. It may contain an escape sequence that
 * clears the screen, or a mark that reverses the text after it. Both are spelled out, so that what a person reads is
 * what is there.
 */

// Controls (C0, DEL, C1), line and paragraph separators, and marks that reorder or hide what follows.
const HIDDEN = /[\p{Cc}\u2028\u2029\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
// Joiners that emoji and several scripts need; they hide nothing.
const HARMLESS = new Set(["\u200c", "\u200d"]);
const SHORT_FORMS: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line without anything a terminal would act on. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN, (character) => (HARMLESS.has(character) ? character : spelledOut(character)));
}

/** Text of several lines: line ends and tabs stay, everything else as in `visibleLine`. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\t" || HARMLESS.has(character)) return character;
    return spelledOut(character);
  });
}

/** A character by its number: `\x1b`, `\u{202e}`. */
export function spelledOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const short = SHORT_FORMS[character];
  if (short !== undefined) return short;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
