/** Belay's entries in the text of a settings file: added, recognised, removed. Pure. */
import { addItem, addMember, removeChild, replaceValue } from "./edit-jsonc.ts";
import { HOOK_MARK, type HookEntry, type HookFile, type JsonValue } from "./hook-file.ts";
import {
  JsoncError,
  memberOf,
  parseJsonc,
  valueOf,
  type JsonArray,
  type JsonNode,
  type JsonObject,
} from "./jsonc.ts";
import { SettingsRefused } from "./settings-file.ts";

/** A settings file that is also the user's. */
export type EntriesFile = Extract<HookFile, { kind: "entries" }>;

/** A text with our entries in it. */
export interface WithEntries {
  readonly text: string;
  /** Keys of lists and objects that were not there before, as paths. */
  readonly made: readonly (readonly string[])[];
}

/** The text with our entries in it; the same text when they are all there. */
export function addEntries(text: string, { entries, defaults }: EntriesFile): WithEntries {
  let edited = text.trim() === "" ? "{}\n" : text;
  const made: (readonly string[])[] = [];
  for (const [key, value] of Object.entries(defaults)) {
    const root = readObject(edited);
    if (memberOf(root, key) === undefined) edited = addMember(edited, root, [key, value]);
  }
  for (const entry of entries) {
    made.push(...missingKeys(edited, entry));
    edited = addEntry(edited, entry);
  }
  return { text: edited, made };
}

/** The text without anything of ours, whichever version put it there. */
export function removeEntries(text: string, made: readonly (readonly string[])[]): string {
  let edited = text;
  for (const event of hookLists(edited)) edited = removeFromList(edited, event);
  const deepestFirst = [...made].sort((a, b) => b.length - a.length);
  for (const path of deepestFirst) edited = removeIfEmpty(edited, path);
  return edited;
}

/** Whether any entry of ours is in the text. */
export function hasEntries(text: string): boolean {
  return text.includes(HOOK_MARK);
}

function addEntry(text: string, { at, value }: HookEntry): string {
  let object = readObject(text);
  for (const [depth, key] of at.entries()) {
    const member = memberOf(object, key);
    const rest = at.slice(depth + 1);
    if (member === undefined) return addMember(text, object, [key, nest(rest, [value])]);
    if (rest.length === 0) return addToList(text, asArray(member.value, at), value);
    object = asObject(member.value, at.slice(0, depth + 1));
  }
  return text;
}

function addToList(text: string, list: JsonArray, value: JsonValue): string {
  const wanted = JSON.stringify(value);
  const ours = list.items.find((item) => isOurs(valueOf(item)));
  if (ours === undefined) return addItem(text, list, value);
  const present = valueOf(ours);
  // An entry that the user shares with other commands is theirs to arrange.
  if (JSON.stringify(present) === wanted || otherHandlers(present).length > 0) return text;
  return replaceValue(text, ours, value);
}

function removeFromList(text: string, path: readonly string[]): string {
  let edited = text;
  for (;;) {
    const list = listAt(edited, path);
    const index = list?.items.findIndex((item) => isOurs(valueOf(item))) ?? -1;
    if (list === undefined || index === -1) return edited;
    const handlers =
      otherHandlers(valueOf(list.items[index]!)).length > 0 ? handlersOf(list.items[index]!) : undefined;
    edited =
      handlers === undefined
        ? removeChild(edited, list, index)
        : removeChild(
            edited,
            handlers,
            handlers.items.findIndex((item) => isOurs(valueOf(item))),
          );
  }
}

/** Every list below "hooks", by the names of its events. */
function hookLists(text: string): (readonly string[])[] {
  const hooks = memberOf(readObject(text), "hooks")?.value;
  if (hooks?.kind !== "object") return [];
  return hooks.members.filter(({ value }) => value.kind === "array").map(({ key }) => ["hooks", key]);
}

function removeIfEmpty(text: string, path: readonly string[]): string {
  const parent = path.slice(0, -1).reduce<JsonNode | undefined>(step, readObject(text));
  if (parent?.kind !== "object") return text;
  const member = memberOf(parent, path.at(-1)!);
  if (member === undefined || member.value.kind === "scalar") return text;
  const { value } = member;
  const isEmpty = (value.kind === "array" ? value.items : value.members).length === 0;
  const hasComment = text.slice(value.start + 1, value.end - 1).trim() !== "";
  return isEmpty && !hasComment ? removeChild(text, parent, parent.members.indexOf(member)) : text;
}

/** The keys on the way to the entry's list, the list's own included, that are not there yet. */
function missingKeys(text: string, { at }: HookEntry): (readonly string[])[] {
  const root = readObject(text);
  const paths = at.map((_key, depth) => at.slice(0, depth + 1));
  return paths.filter((path) => path.reduce<JsonNode | undefined>(step, root) === undefined);
}

function step(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === "object" ? memberOf(node, key)?.value : undefined;
}

function listAt(text: string, path: readonly string[]): JsonArray | undefined {
  const node = path.reduce<JsonNode | undefined>(step, readObject(text));
  return node?.kind === "array" ? node : undefined;
}

function handlersOf(item: JsonNode): JsonArray | undefined {
  const handlers = step(item, "hooks");
  return handlers?.kind === "array" ? handlers : undefined;
}

function isOurs(value: JsonValue): boolean {
  return JSON.stringify(value).includes(HOOK_MARK);
}

function otherHandlers(value: JsonValue): JsonValue[] {
  const handlers = typeof value === "object" && value !== null && "hooks" in value ? value.hooks : undefined;
  return Array.isArray(handlers) ? handlers.filter((handler) => !isOurs(handler)) : [];
}

function nest(keys: readonly string[], value: JsonValue): JsonValue {
  return keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
}

/** The text that was read last: entries are looked for one after the other, mostly in the same text. */
let lastRead: { readonly text: string; readonly object: JsonObject } | undefined;

function readObject(text: string): JsonObject {
  if (lastRead?.text === text) return lastRead.object;
  try {
    const object = asObject(parseJsonc(text), []);
    lastRead = { text, object };
    return object;
  } catch (error) {
    if (error instanceof JsoncError) throw new SettingsRefused(`it is not valid JSON (${error.message})`);
    throw error;
  }
}

function asObject(node: JsonNode, path: readonly string[]): JsonObject {
  if (node.kind === "object") return node;
  throw new SettingsRefused(`${path.length === 0 ? "the file" : `"${path.join(".")}"`} is not an object`);
}

function asArray(node: JsonNode, path: readonly string[]): JsonArray {
  if (node.kind === "array") return node;
  throw new SettingsRefused(`"${path.join(".")}" is not a list`);
}
