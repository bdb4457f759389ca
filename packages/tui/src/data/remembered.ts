/**
 * What the screens remember from one run to the next: marks of what was seen, and how diffs are shown. Where nothing can be
 * kept, it lasts until the screens end.
 */
import type { Place } from "./connection.ts";

/** All of it. */
export interface Remembered {
  /** By what was seen, its content: both as hashes, so that no name or line of a file is kept here. */
  readonly seen: Readonly<Record<string, string>>;
  /** Diffs with both sides beside each other; null: as the window is wide. */
  readonly split: boolean | null;
}

/** Older marks give way. */
const MOST_SEEN = 5000;
const NOTHING: Remembered = { seen: {}, split: null };
/** What could not be written. */
const unwritten = new WeakMap<Place, Remembered>();

/** What is remembered. Anything but what was written here counts as nothing. */
export function recall(place: Place): Remembered {
  const last = unwritten.get(place);
  if (last !== undefined) return last;
  const text = place.memory?.read();
  if (text === undefined) return NOTHING;
  try {
    const { seen, split } = JSON.parse(text) as Partial<Remembered>;
    const marks = Object.entries(seen ?? {}).filter(([, content]) => typeof content === "string");
    return { seen: Object.fromEntries(marks), split: typeof split === "boolean" ? split : null };
  } catch {
    // a file that people or a crash changed: the marks are gone, nothing else depends on them
    return NOTHING;
  }
}

/** Changes what is remembered; says why it lasts only until the screens end, if so. */
export function remember(place: Place, change: Partial<Remembered>): string | undefined {
  const wanted = { ...recall(place), ...change };
  const next = { ...wanted, seen: Object.fromEntries(Object.entries(wanted.seen).slice(-MOST_SEEN)) };
  unwritten.set(place, next);
  try {
    place.memory?.write(JSON.stringify(next));
    if (place.memory !== undefined) unwritten.delete(place);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
