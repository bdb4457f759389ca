/** Commands as a person types them in a shell. Imports nothing: every process makes hints. */

/** Quotes words where a shell would split them. */
export function shellWords(words: readonly string[]): string {
  const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : quoted(word))).join(" ");
}

/**
 * `belay <words>` for a directory; `-C` names it unless the shell is in it (`undefined`: the shell may be
 * anywhere).
 */
export function belayCommand(
  about: string,
  words: readonly string[],
  shellDirectory: string | undefined,
): string {
  const isThere = shellDirectory !== undefined && isAtOrBelow(shellDirectory, about);
  return shellWords(["belay", ...(isThere ? [] : ["-C", about]), ...words]);
}

function isAtOrBelow(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || /[/\\]/.test(`${directory.at(-1)}${path[directory.length]}`);
}
