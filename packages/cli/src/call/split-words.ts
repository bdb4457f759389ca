/** A command line as words: spaces part them, quotes and backslashes hold them together. No shell is asked. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (const [, word = ""] of line.matchAll(/((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/gs))
    words.push(
      word.replaceAll(
        /\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
        (_, escaped?: string, double?: string, single?: string) =>
          escaped ?? single ?? double!.replaceAll(/\\(["\\$`])/g, "$1"),
      ),
    );
  return words;
}
