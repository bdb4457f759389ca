/**
 * The words of a command line as options, operands and the two dashes between them, by the conventions of `parseArgs` of
 * `node:util`, which its test compares it with: every command would wait two milliseconds until Node has loaded that.
 */
import type { OptionSpecs } from "./command.ts";

/** An option as it was written; whether it exists is for the caller to say. */
export interface OptionToken {
  readonly kind: "option";
  readonly index: number;
  readonly name: string;
  /** With its dashes. */
  readonly rawName: string;
  readonly value: string | undefined;
  /** True when the value is a part of the same word. */
  readonly inlineValue: boolean | undefined;
}

/** One word, or an option with the word after it. */
export type Token =
  | OptionToken
  | { readonly kind: "positional"; readonly index: number; readonly value: string }
  | { readonly kind: "option-terminator"; readonly index: number };

/** The tokens of a line. Nothing is checked: a string option takes whatever word comes next. */
export function tokensOf(words: readonly string[], specs: OptionSpecs): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (word === "--") {
      tokens.push({ kind: "option-terminator", index });
      words.slice(index + 1).forEach((value, at) => {
        tokens.push({ kind: "positional", index: index + 1 + at, value });
      });
      return tokens;
    }
    if (word.length < 2 || !word.startsWith("-")) tokens.push({ kind: "positional", index, value: word });
    else {
      const options = word.startsWith("--") ? [longOption(word, index)] : shortOptions(word, index, specs);
      const last = options.at(-1)!;
      const spec = last.value === undefined ? specOf(specs, last.name) : undefined;
      const isValue = spec?.otherwise === undefined || /^\d/.test(words[index + 1] ?? "");
      const takesNext = spec?.type === "string" && isValue;
      if (takesNext && index + 1 < words.length) {
        options[options.length - 1] = { ...last, value: words[(index += 1)]!, inlineValue: false };
      }
      tokens.push(...options);
    }
  }
  return tokens;
}

/** `--name` or `--name=value`. */
function longOption(word: string, index: number): OptionToken {
  const equals = word.includes("=", 3) ? word.indexOf("=") : -1;
  if (equals < 0) return optionAt(index, word.slice(2), word);
  const rawName = word.slice(0, equals);
  return { ...optionAt(index, rawName.slice(2), rawName), value: word.slice(equals + 1), inlineValue: true };
}

/** `-q`, `-qC` or `-Cvalue`: what follows an option that takes a value is its value. */
function shortOptions(word: string, index: number, specs: OptionSpecs): OptionToken[] {
  const options: OptionToken[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const name = longNameOf(word[at]!, specs);
    const option = optionAt(index, name, `-${word[at]!}`);
    const isLast = at === word.length - 1;
    if (!isLast && specOf(specs, name)?.type === "string")
      return [...options, { ...option, value: word.slice(at + 1), inlineValue: true }];
    options.push(option);
  }
  return options;
}

function longNameOf(short: string, specs: OptionSpecs): string {
  return Object.keys(specs).find((name) => specs[name]!.short === short) ?? short;
}

function specOf(specs: OptionSpecs, name: string): OptionSpecs[string] | undefined {
  return Object.hasOwn(specs, name) ? specs[name] : undefined;
}

function optionAt(index: number, name: string, rawName: string): OptionToken {
  return { kind: "option", index, name, rawName, value: undefined, inlineValue: undefined };
}
