/** Small edits of a JSON text: each adds or removes exactly one thing, in the style of its surroundings. */
import type { JsonValue } from "./hook-file.ts";
import type { JsonArray, JsonNode, JsonObject } from "./jsonc.ts";

interface Manner {
  readonly unit: string;
  readonly eol: string;
}

/** Adds a member at the end of an object. */
export function addMember(
  text: string,
  object: JsonObject,
  [key, value]: readonly [string, JsonValue],
): string {
  return addChild(
    text,
    object,
    (manner, indent) => `${JSON.stringify(key)}: ${write(value, manner, indent)}`,
  );
}

/** Adds an element at the end of an array. */
export function addItem(text: string, array: JsonArray, value: JsonValue): string {
  return addChild(text, array, (manner, indent) => write(value, manner, indent));
}

/** The text with another value in the place of one. */
export function replaceValue(text: string, node: JsonNode, value: JsonValue): string {
  const manner = mannerOf(text);
  const written = write(value, manner, isOneLine(text, node) ? null : indentAt(text, node.start));
  return text.slice(0, node.start) + written + text.slice(node.end);
}

/** Removes one member or element with its comma and the space before it; comments stay. */
export function removeChild(text: string, parent: JsonObject | JsonArray, index: number): string {
  const children = childrenOf(parent);
  const child = children[index]!;
  const before = children[index - 1];
  const limit = children[index + 1]?.start ?? parent.end;
  const end = commaAfter(text, child.end, limit);
  const from = before === undefined ? parent.start + 1 : commaAfter(text, before.end, child.start);
  // What stands between it and its comma is a comment of the user's.
  const remark = end === child.end ? "" : text.slice(child.end, end - 1).trimEnd();
  const rest = text.slice(parent.start + 1, child.start) + remark + text.slice(end, parent.end - 1);
  if (children.length === 1 && rest.trim() === "") {
    return text.slice(0, parent.start + 1) + text.slice(parent.end - 1);
  }
  const kept = text.slice(from, cutBefore(text, from, { start: child.start, end }));
  // A last child without a comma of its own takes the one before it along.
  const head = before !== undefined && end === child.end ? from - 1 : from;
  const gap = remark.includes("//") ? "\n" : "";
  return text.slice(0, head) + kept + remark + gap + text.slice(end);
}

function addChild(
  text: string,
  parent: JsonObject | JsonArray,
  written: (manner: Manner, indent: string | null) => string,
): string {
  const manner = mannerOf(text);
  const last = childrenOf(parent).at(-1);
  if (last === undefined) return fillEmpty(text, parent, { manner, written });
  if (isOneLine(text, parent)) return insert(text, last.end, `, ${written(manner, null)}`);
  const indent = indentAt(text, last.start);
  const comma = commaAfter(text, last.end, parent.end);
  const hasComma = comma !== last.end;
  // A comment at the end of its line belongs to the child before us.
  const remark = /^[ \t]*(?:\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)*(?:\/\/[^\r\n]*)?(?=\r?\n)/.exec(
    text.slice(comma),
  );
  const at = comma + (remark?.[0].length ?? 0);
  const added = `${manner.eol}${indent}${written(manner, indent)}${hasComma ? "," : ""}`;
  return text.slice(0, last.end) + (hasComma ? "" : ",") + text.slice(last.end, at) + added + text.slice(at);
}

interface Filling {
  readonly manner: Manner;
  readonly written: (manner: Manner, indent: string | null) => string;
}

function fillEmpty(text: string, parent: JsonObject | JsonArray, { manner, written }: Filling): string {
  const outer = indentAt(text, parent.start);
  const inner = outer + manner.unit;
  const content = text.slice(parent.start + 1, parent.end - 1).trimEnd();
  const filled = `${content}${manner.eol}${inner}${written(manner, inner)}${manner.eol}${outer}`;
  return text.slice(0, parent.start + 1) + filled + text.slice(parent.end - 1);
}

function childrenOf(parent: JsonObject | JsonArray): readonly { start: number; end: number }[] {
  return parent.kind === "object" ? parent.members : parent.items;
}

/** The place after the next comma that is not part of a comment; `from` when there is none. */
function commaAfter(text: string, from: number, limit: number): number {
  const pattern = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|,/y;
  for (let at = from; at < limit;) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === ",") return at + 1;
    at += found?.length ?? 1;
  }
  return from;
}

/** Where to cut before a child: its white space goes too, unless a comment would run into what follows. */
function cutBefore(text: string, from: number, child: { start: number; end: number }): number {
  const lead = text.slice(from, child.start);
  const runsOn = lead.includes("//") && !/^[ \t]*\r?\n/.test(text.slice(child.end));
  return runsOn ? child.start : from + lead.trimEnd().length;
}

function mannerOf(text: string): Manner {
  return {
    unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ",
    eol: /\r?\n/.exec(text)?.[0] ?? "\n",
  };
}

function isOneLine(text: string, { start, end }: { start: number; end: number }): boolean {
  return !text.slice(start, end).includes("\n");
}

/** The white space that the line of `at` begins with. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)![0];
}

/** On one line where `indent` is null. */
function write(value: JsonValue, { unit, eol }: Manner, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
}

function insert(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at);
}
