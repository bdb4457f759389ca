/**
 * JSON with comments and trailing commas, read with the place of every value, so that an edit can leave
 * everything else in the file as it is: formatting, comments, the order of keys, line endings.
 */
import type { JsonValue } from "./hook-file.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

/** An object, with where it stands in the text. */
export interface JsonObject extends Span {
  readonly kind: "object";
  readonly members: readonly JsonMember[];
}

/** A list, with where it stands in the text. */
export interface JsonArray extends Span {
  readonly kind: "array";
  readonly items: readonly JsonNode[];
}

/** A text, number, truth value or null, with where it stands. */
export interface JsonScalar extends Span {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}

/** A value, with where it stands in the text. */
export type JsonNode = JsonObject | JsonArray | JsonScalar;

/** `start` is where its key begins, `end` where its value ends. */
export interface JsonMember extends Span {
  readonly key: string;
  readonly value: JsonNode;
}

/** The text is not JSON with comments. */
export class JsoncError extends Error {}

const DEPTH_LIMIT = 200;
const SCALAR = /(?:"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const SPACE = /(?:[ \t\r\n]|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;

/** Parses JSON with comments and trailing commas; throws `JsoncError`. */
export function parseJsonc(text: string): JsonNode {
  const reader = new Reader(text);
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const node = reader.value(start, 0);
  const end = reader.skip(node.end);
  if (end !== text.length) throw reader.complaint(end, "expected the end of the file");
  return node;
}

/** The plain value of a node of JSONC. */
export function valueOf(node: JsonNode): JsonValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "array") return node.items.map(valueOf);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOf(value)]));
}

/** The member that counts: of several with the same key, the last. */
export function memberOf(node: JsonObject, key: string): JsonMember | undefined {
  return node.members.findLast((member) => member.key === key);
}

class Reader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the next thing that is neither space nor comment begins. */
  skip(at: number): number {
    SPACE.lastIndex = at;
    SPACE.test(this.#text);
    return Math.max(at, SPACE.lastIndex);
  }

  value(from: number, depth: number): JsonNode {
    const start = this.skip(from);
    if (depth > DEPTH_LIMIT) throw this.complaint(start, "nested too deeply");
    if (this.#text[start] === "{") return this.#object(start, depth);
    if (this.#text[start] === "[") return this.#array(start, depth);
    return this.#scalar(start);
  }

  complaint(at: number, problem: string): JsoncError {
    const lines = this.#text.slice(0, at).split("\n");
    return new JsoncError(`line ${lines.length}, column ${lines.at(-1)!.length + 1}: ${problem}`);
  }

  #object(start: number, depth: number): JsonObject {
    const members: JsonMember[] = [];
    const end = this.#children(start, "}", (at) => {
      const key = this.#scalar(at);
      if (typeof key.value !== "string") throw this.complaint(at, "expected a key in quotes");
      const colon = this.skip(key.end);
      if (this.#text[colon] !== ":") throw this.complaint(colon, "expected a colon");
      const value = this.value(colon + 1, depth + 1);
      members.push({ key: key.value, value, start: at, end: value.end });
      return value.end;
    });
    return { kind: "object", start, end, members };
  }

  #array(start: number, depth: number): JsonArray {
    const items: JsonNode[] = [];
    const end = this.#children(start, "]", (at) => {
      const item = this.value(at, depth + 1);
      items.push(item);
      return item.end;
    });
    return { kind: "array", start, end, items };
  }

  /** Reads children until the closing bracket; returns the place after it. */
  #children(start: number, close: string, child: (at: number) => number): number {
    let at = this.skip(start + 1);
    while (this.#text[at] !== close) {
      at = this.skip(child(at));
      if (this.#text[at] === ",") at = this.skip(at + 1);
      else if (this.#text[at] !== close) throw this.complaint(at, `expected a comma or ${close}`);
    }
    return at + 1;
  }

  #scalar(start: number): JsonScalar {
    SCALAR.lastIndex = start;
    const found = SCALAR.exec(this.#text)?.[0];
    if (found === undefined) throw this.complaint(start, "expected a value");
    try {
      const value = JSON.parse(found) as JsonScalar["value"];
      return { kind: "scalar", start, end: start + found.length, value };
    } catch {
      throw this.complaint(start, "not a valid value");
    }
  }
}
