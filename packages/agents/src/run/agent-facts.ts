/** What an agent's program reports on its standard output while it works, and at its end. */
import { isFields, textAt, type Fields } from "../review/json-output.ts";
import type { Tokens } from "./run-record.ts";

/** Everything known so far. */
export interface AgentFacts {
  readonly session: string | null;
  /** [R102] Null until the agent reports one. */
  readonly cost: number | null;
  readonly tokens: Tokens | null;
  /** True once the agent said that it is done. */
  readonly finished: boolean;
  /** What it said went wrong. */
  readonly failure: string | null;
  /** Its last words. */
  readonly answer: string;
}

/** What is known of an agent that has said nothing. */
export const NO_FACTS: AgentFacts = {
  session: null,
  cost: null,
  tokens: null,
  finished: false,
  failure: null,
  answer: "",
};

/** Takes one line of output in. */
export type ReadFacts = (facts: AgentFacts, line: string) => AgentFacts;

/** Reads lines that are JSON objects; other lines tell nothing. */
export function ofObjects(read: (facts: AgentFacts, line: Fields) => AgentFacts): ReadFacts {
  return (facts, line) => {
    if (!line.startsWith("{")) return facts;
    try {
      const value: unknown = JSON.parse(line);
      return isFields(value) ? read(facts, value) : facts;
    } catch {
      return facts;
    }
  };
}

/** The number at a key; null where there is none. */
export function numberAt(value: unknown, key: string): number | null {
  const found = isFields(value) ? value[key] : undefined;
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? found : null;
}

/** Tokens of these numbers; null where none is known. */
export function tokensOf(tokens: Omit<Tokens, "total"> & { readonly total?: number | null }): Tokens | null {
  const { input, output, cached, total } = tokens;
  const known = [input, output, cached].filter((number) => number !== null);
  if (known.length === 0 && (total ?? null) === null) return null;
  return { input, output, cached, total: total ?? known.reduce((sum, number) => sum + number, 0) };
}

/** The sum of two reports. */
export function addTokens(a: Tokens | null, b: Tokens | null): Tokens | null {
  if (a === null || b === null) return a ?? b;
  const add = (x: number | null, y: number | null) => (x === null && y === null ? null : (x ?? 0) + (y ?? 0));
  return {
    input: add(a.input, b.input),
    output: add(a.output, b.output),
    cached: add(a.cached, b.cached),
    total: add(a.total, b.total),
  };
}

/** Any program: a line `{"cost","tokens","session"}`, the last of which counts; everything it prints is its answer. */
export const readAnyFacts: ReadFacts = (facts, line) => {
  const said = { ...facts, answer: lastWords(`${facts.answer}${line}\n`) };
  return ofObjects((known, object) => {
    if (!("cost" in object || "tokens" in object || "session" in object)) return known;
    const total = numberAt(object, "tokens");
    const parts = object["tokens"];
    const tokens = isFields(parts)
      ? tokensOf({
          input: numberAt(parts, "input"),
          output: numberAt(parts, "output"),
          cached: numberAt(parts, "cached"),
          total: numberAt(parts, "total"),
        })
      : total === null
        ? null
        : { input: null, output: null, cached: null, total };
    return {
      ...known,
      cost: numberAt(object, "cost"),
      tokens,
      session: textAt(object, "session") || null,
    };
  })(said, line);
};

/** Cut only when it is twice as long as what is kept: cut at every line, a flood of short ones would be copied for each. */
function lastWords(text: string): string {
  return text.length > 2 * LONGEST_ANSWER ? text.slice(-LONGEST_ANSWER) : text;
}

const LONGEST_ANSWER = 1 << 20;
