/** How many rows of a list are shown: `--limit` and `--all`. */
import type { Call, OptionSpecs } from "./command.ts";
import { positiveNumber } from "./number-option.ts";

/** The default limit on a terminal; programs and files get all rows. */
const SCREENFUL = 20;

/** The options of commands that list. */
export const LIMIT_OPTIONS = {
  limit: {
    type: "string",
    short: "n",
    value: "n",
    about: `show at most n (default: ${SCREENFUL} on a terminal, otherwise all)`,
  },
  all: { type: "boolean", about: "show all" },
} as const satisfies OptionSpecs;

/** The limit that was asked for: undefined = the default, Infinity = everything. */
export function askedLimit({ options }: Pick<Call<typeof LIMIT_OPTIONS>, "options">): number | undefined {
  const given = positiveNumber("--limit", options.limit);
  return options.all === true ? Number.POSITIVE_INFINITY : given;
}

/** The number of rows to show. */
export function shownLimit(
  { json, output }: Pick<Call, "json" | "output">,
  asked: number | undefined,
): number {
  const isForScreen = output.isTerminal && !json;
  return asked ?? (isForScreen ? SCREENFUL : Number.POSITIVE_INFINITY);
}
