/**
 * Which hunks the person has looked at, by their content: a later change makes a file new again. Kept in this browser as
 * digests, without a name or a line of any file but the paths.
 */
import { useState } from "react";

/** What is known of one file. */
export type Seen = "seen" | "new since you looked" | "in part" | "not seen";

/** What was marked in one file. */
interface Marks {
  /** The file as it was when all of it was marked. */
  readonly whole?: string;
  readonly hunks: readonly string[];
}

/** The marks of one thread, and how to change them. `hunks`: the text of each, as it is now. */
export interface SeenMarks {
  of(path: string, hunks: readonly string[]): Seen;
  isSeen(path: string, hunk: string): boolean;
  /** Marks some hunks of a file, or takes their marks away. */
  mark(
    file: { readonly path: string; readonly hunks: readonly string[] },
    some: readonly string[],
    isSeen: boolean,
  ): void;
}

/** The marks of what was seen of one thread. */
export function useSeen(thread: string): SeenMarks {
  const key = `belay-seen-${thread}`;
  const [marks, setMarks] = useState<Readonly<Record<string, Marks>>>(() => read(key));
  const isSeen = (path: string, hunk: string) => marks[path]?.hunks.includes(digest(hunk)) === true;
  return {
    isSeen,
    of: (path, hunks) => {
      const known = marks[path];
      if (known === undefined) return "not seen";
      if (hunks.every((hunk) => isSeen(path, hunk))) return "seen";
      if (known.whole !== undefined) return "new since you looked";
      return hunks.some((hunk) => isSeen(path, hunk)) ? "in part" : "not seen";
    },
    mark: ({ path, hunks }, some, isMarked) => {
      const changed = new Set(some.map(digest));
      const now = hunks.map(digest);
      // marks of hunks that are gone go with them
      const kept = now.filter((each) =>
        changed.has(each) ? isMarked : marks[path]?.hunks.includes(each) === true,
      );
      const { [path]: before, ...rest } = marks;
      const whole = kept.length === now.length ? now.join(" ") : isMarked ? before?.whole : undefined;
      const its = { hunks: kept, ...(whole !== undefined && { whole: digest(whole) }) };
      const next = kept.length === 0 && whole === undefined ? rest : { ...rest, [path]: its };
      localStorage.setItem(key, JSON.stringify(next));
      setMarks(next);
    },
  };
}

function read(key: string): Record<string, Marks> {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, Marks>;
    return Object.fromEntries(Object.entries(kept).filter(([, marks]) => Array.isArray(marks.hunks)));
  } catch {
    return {};
  }
}

/** Enough to notice a change; nothing depends on it but a mark. */
function digest(text: string): string {
  let sum = 2166136261;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 16777619);
  return `${text.length} ${sum >>> 0}`;
}
