/** Options with a numeric value. */
import { usageError } from "@belay/protocol/errors";

/** A number of at least 1; undefined when the option was not given. */
export function positiveNumber(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && Number.isSafeInteger(number)) return number;
  const what = /^\d{16,}$/.test(given) ? "a smaller number" : "a whole number of at least 1";
  throw usageError(`${name} needs ${what}, not "${given}".`, `For example: ${name} 20`);
}

/** A port to listen on; 0 = any free one. */
export function portNumber(name: string, given = "0"): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number <= 65_535) return number;
  throw usageError(`${name} needs a port number, not "${given}".`, `For example: ${name} 7420`);
}
