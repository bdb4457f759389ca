/** Words of a request that become words of a command. */
import { ContractError } from "@belay/protocol/errors";

/** What may be the name of a remote, a line or a checkpoint: never an option of a command. */
const WORD = /^[\w.@][\w.@/-]{0,199}$/;

/** A word that is not an option; throws `BAD_REQUEST`. */
export function commandWord(text: string): string {
  if (WORD.test(text)) return text;
  throw new ContractError("BAD_REQUEST", "That cannot be the name of a remote, a line or a checkpoint.");
}

/** An option with its value as one word, which is never taken for another option; nothing without a value. */
export function commandOption(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}
