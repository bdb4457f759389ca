/**
 * Parses the words of the command line into options and operands. Everything unknown is refused, with the
 * nearest known word: a mistyped `--dry-run` must never become the real thing.
 */
import { usageError } from "@belay/protocol/errors";
import type { OptionSpecs } from "./command.ts";
import { nearest } from "./nearest.ts";
import { tokensOf, type OptionToken } from "./tokens.ts";

/** A parsed command line. */
export interface ParsedLine {
  readonly options: Readonly<Record<string, string | boolean | string[]>>;
  readonly operands: string[];
  readonly dashesAt: number;
}

/** Parses words by their option specs; throws a usage error on anything unknown. */
export function parseWords(words: readonly string[], specs: OptionSpecs): ParsedLine {
  const options: Record<string, string | boolean | string[]> = {};
  const operands: string[] = [];
  let dashesAt: number | undefined;
  for (const token of tokensOf(words, specs)) {
    if (token.kind === "positional") operands.push(token.value);
    else if (token.kind === "option-terminator") dashesAt = operands.length;
    else addOption(options, token, specs);
  }
  return { options, operands, dashesAt: dashesAt ?? operands.length };
}

function addOption(
  options: Record<string, string | boolean | string[]>,
  token: OptionToken,
  specs: OptionSpecs,
): void {
  const spec = specs[token.name];
  if (spec === undefined || !Object.hasOwn(specs, token.name)) throw unknownOption(token.rawName, specs);
  if (spec.type === "boolean") {
    if (token.value !== undefined)
      throw usageError(`${token.rawName} takes no value.`, "Remove the = and what follows it.");
    options[token.name] = true;
    return;
  }
  const isLeftOut = token.value === undefined && spec.otherwise !== undefined;
  const value = isLeftOut ? spec.otherwise : valueOf(token, spec.value ?? "value");
  const before = options[token.name];
  options[token.name] = spec.multiple === true ? [...(Array.isArray(before) ? before : []), value] : value;
}

function valueOf(token: OptionToken, valueName: string): string {
  const { value, inlineValue, rawName } = token;
  // `--limit --json` lacks the number; a lone "-" means stdin or stdout
  if (value === undefined || (inlineValue !== true && value.startsWith("-") && value !== "-")) {
    throw usageError(
      `${rawName} needs a value: ${rawName} <${valueName}>.`,
      `A value that starts with a dash is written --${token.name}=<${valueName}>.`,
    );
  }
  return value;
}

function unknownOption(rawName: string, specs: OptionSpecs): Error {
  const close = nearest(rawName.replace(/^--/, ""), Object.keys(specs));
  return usageError(
    `Unknown option ${rawName}.`,
    close === undefined
      ? "Add --help to see the options. A path that starts with a dash goes after --."
      : `Did you mean --${close}?`,
  );
}
