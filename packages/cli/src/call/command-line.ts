/** The options that every command accepts, and where a command's own words begin: known before the command is. */
import type { OptionSpecs } from "./command.ts";
import { tokensOf } from "./tokens.ts";

/** The options that every command accepts. */
export const GLOBAL_OPTIONS = {
  directory: { type: "string", short: "C", value: "dir", about: "run as if started in this directory" },
  home: {
    type: "string",
    value: "dir",
    about: "Belay's data directory (default: $BELAY_HOME or ~/.belay)",
  },
  json: { type: "boolean", about: "print the result as JSON" },
  quiet: { type: "boolean", short: "q", about: "print only results, warnings and errors" },
  color: { type: "string", value: "when", about: "colours: auto, always or never (default: auto)" },
  "no-color": { type: "boolean", about: "the same as --color=never" },
  "no-pager": { type: "boolean", about: "print long output without a pager" },
  help: { type: "boolean", short: "h", about: "show help" },
  version: { type: "boolean", short: "V", about: "show the version" },
} as const satisfies OptionSpecs;

/** Splits at the first word that is neither an option nor an option's value. */
export function splitAtOperand(words: readonly string[], options: OptionSpecs): [string[], string[]] {
  const first = tokensOf(words, options).find((token) => token.kind !== "option");
  const at = first?.index ?? words.length;
  return [words.slice(0, at), words.slice(at)];
}

/** The last value of a global option, wherever it stands, before the command's own options are known. */
export function optionValue(argv: readonly string[], name: keyof typeof GLOBAL_OPTIONS): string | undefined {
  const options = tokensOf(argv, GLOBAL_OPTIONS).filter((token) => token.kind === "option");
  return options.findLast((token) => token.name === name)?.value;
}
