/**
 * Payloads of hooks come from other programs and are not trusted: anything may be missing, of another type,
 * or huge. These readers return a value of the requested type, or null.
 */
import { createHash } from "node:crypto";
import { words } from "./word-list.ts";

/** What an agent sent: an object, and nothing else is certain. */
export type Payload = Readonly<Record<string, unknown>>;

const LONGEST_TEXT = 1 << 20;
/** What is read of one event; the content of a written file is part of it. */
export const PAYLOAD_LIMIT = 16 << 20;
const SALVAGE_BYTES = 64 << 10;

/** The payload as an object; undefined when it is not one. */
export function parsePayload(text: string): Payload | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for an object that is not a list. */
export function isObject(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first of these keys that holds a text with something in it. */
export function textOf(payload: Payload, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = ownValue(payload, key);
    if (typeof value === "string" && value !== "") return value.slice(0, LONGEST_TEXT);
  }
  return null;
}

/** The first of these keys that holds an object; an empty one where none does. */
export function objectOf(payload: Payload, ...keys: readonly string[]): Payload {
  for (const key of keys) {
    const value = ownValue(payload, key);
    if (isObject(value)) return value;
  }
  return {};
}

/** The objects in a list, bounded; none where there is no list. */
export function listOf(payload: Payload, key: string): readonly Payload[] {
  const value = ownValue(payload, key);
  return Array.isArray(value) ? value.filter(isObject).slice(0, 1000) : [];
}

/** A moment as milliseconds, whether it came as a number or as ISO 8601; null when there is none. */
export function momentOf(payload: Payload, key: string): number | null {
  const value = ownValue(payload, key);
  if (typeof value === "number" && Number.isFinite(value)) return Math.trunc(value);
  const parsed = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(parsed) ? null : parsed;
}

/** A short name for any value: equal values, whatever the order of their keys, have equal names. */
export function digest(...values: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(values, inOrder)).digest("hex").slice(0, 16);
}

/**
 * What can be known about an event that was cut off for its size: agent and tool, from its first and last
 * bytes. A checkpoint before a huge write is worth more than a perfect description of it.
 */
export function salvagePayload(start: string, end: string): Payload {
  const salvaged: Record<string, string> = {};
  for (const key of SALVAGED_KEYS) {
    const pattern = new RegExp(`"${key}"\\s*:\\s*("(?:[^"\\\\]|\\\\.){0,4096}")`, "g");
    const found =
      pattern.exec(start.slice(0, SALVAGE_BYTES)) ?? lastMatch(end.slice(-SALVAGE_BYTES), pattern);
    const value = found === undefined ? undefined : parsePayload(`{"value":${found[1]}}`)?.["value"];
    if (typeof value === "string") salvaged[key] = value;
  }
  return salvaged;
}

const SALVAGED_KEYS = words(`
  session_id sessionId sessionID conversation_id transcript_path cwd hook_event_name tool_name
  toolName tool tool_use_id tool_call_id callID prompt_id turn_id agent_id agent_type
  parent_agent_id generation_id timestamp cursor_version belay_event
`);

function lastMatch(text: string, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = 0;
  return [...text.matchAll(pattern)].at(-1);
}

function ownValue(payload: Payload, key: string): unknown {
  return Object.hasOwn(payload, key) ? payload[key] : undefined;
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
