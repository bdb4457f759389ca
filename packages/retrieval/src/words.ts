/** Words of code: identifiers as they are, and what they are made of. */

const IDENTIFIER = /[\p{L}\p{N}_]+/gu;
/** `parseHTTPHeader_v2` → parse, HTTP, Header, v, 2. */
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+|\p{Lu}|\p{N}+/gu;

/** Every word of a text in lower case: each identifier, and its parts where it has several. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [identifier] of text.matchAll(IDENTIFIER)) {
    const parts = identifier.match(PART) ?? [];
    const whole = identifier.toLowerCase();
    if (whole.length <= 64) words.push(whole.replaceAll("_", ""));
    if (parts.length > 1) for (const part of parts) words.push(part.toLowerCase());
  }
  return words.filter((word) => word !== "");
}

/** Words that say nothing about what is looked for. */
const PLAIN = new Set(
  "a an and are as at be by can do does for from has have how i in is it its of on or that the this to was we what when where which who why will with you".split(
    " ",
  ),
);

/** The words of a question, each once; the plain ones only where there are no others. */
export function queryWords(question: string): string[] {
  const words = [...new Set(wordsOf(question))];
  const telling = words.filter((word) => !PLAIN.has(word));
  return (telling.length > 0 ? telling : words).slice(0, 64);
}
