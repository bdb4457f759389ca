/** Options that are a number of things. */
import { usageError } from "./command-error.ts";

export function positiveNumber(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && Number.isSafeInteger(number)) return number;
  throw usageError(`${name} ${given}: that is not a number from 1.`, `For example: ${name} 20`);
}
