/** What a person typed into a chat, as words. Quotes keep the words of a name together. */
const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** A command: the slash command's name without its slash, and the words after it. */
export interface TypedCommand {
  readonly name: string;
  readonly words: readonly string[];
}

/** Reads a line, or words that were split already. Words without a slash command are those of `/checkpoint`. */
export function typedCommand(args: string | readonly string[]): TypedCommand {
  const words = typeof args === "string" ? split(args) : args;
  const [first = ""] = words;
  return first.startsWith("/")
    ? { name: first.slice(1), words: words.slice(1) }
    : { name: "checkpoint", words };
}

function split(line: string): string[] {
  return [...line.matchAll(WORD)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}
