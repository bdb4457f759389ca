/** Options that are a number of things. */
import { usageError } from "@belay/protocol/errors";

export function positiveNumber(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && Number.isSafeInteger(number)) return number;
  throw usageError(`${name} ${given}: that is not a number from 1.`, `For example: ${name} 20`);
}

/** A port to listen on; 0 = any free one. */
export function portNumber(name: string, given = "0"): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number <= 65_535) return number;
  throw usageError(`${name} ${given}: that is not a port.`, `For example: ${name} 7420`);
}
