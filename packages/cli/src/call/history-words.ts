/** Words that a search through the history is made of: plain ones, and fields such as `agent:codex`. */
import { usageError } from "@belay/protocol/errors";

const FIELD = /^(?:agent|thread|file|tag|kind|session|before|after|has|is):\S/;

/** Whether one of the words is a field of what happened, which checkpoints by themselves do not have. */
export function hasField(words: readonly string[]): boolean {
  return words.some((word) => word.split(/\s+/).some((part) => FIELD.test(part)));
}

/** Words as one search; a word of several words stays together. Throws where a field means nothing. */
export async function historySearch(words: readonly string[]): Promise<string> {
  const q = words.map(quoted).join(" ");
  const { createSystem, meaninglessField } = await import("@belay/engine");
  const wrong = meaninglessField(q, createSystem());
  if (wrong === undefined) return q;
  // a field with a value that no row can have is a typing error, not a search without a result
  throw usageError(`"${wrong.field}" means nothing.`, `It may be one of: ${wrong.allowed.join(", ")}.`);
}

function quoted(word: string): string {
  const [, ...rest] = word.split(/\s+/);
  // a whole search in one pair of quotes, as it was copied from the timeline
  const isWhole = rest.some((part) => FIELD.test(part));
  if (rest.length === 0 || isWhole || word.includes('"')) return word;
  return word.replace(
    /^([a-z]+:)?(.*)$/is,
    (_, field: string | undefined, text: string) => `${field ?? ""}"${text}"`,
  );
}
