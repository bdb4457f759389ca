/** Words as one would type them in a shell. */
export function shellWords(words: readonly string[]): string {
  const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : quoted(word))).join(" ");
}
