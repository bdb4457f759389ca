/** Which files the person has looked at, by their content: a later change makes a file new again. Kept in this browser. */
import { useState } from "react";

/** What is known of one file. */
export type Seen = "seen" | "new since you looked" | "not seen";

/** The marks of one thread, and how to change one. */
export function useSeen(thread: string): {
  readonly of: (path: string, content: string) => Seen;
  readonly mark: (path: string, content: string, isSeen: boolean) => void;
} {
  const key = `belay-seen-${thread}`;
  const [marks, setMarks] = useState<Readonly<Record<string, string>>>(() => read(key));
  return {
    of: (path, content) => {
      const known = marks[path];
      return known === undefined ? "not seen" : known === digest(content) ? "seen" : "new since you looked";
    },
    mark: (path, content, isSeen) => {
      const { [path]: _, ...rest } = marks;
      const next = isSeen ? { ...rest, [path]: digest(content) } : rest;
      localStorage.setItem(key, JSON.stringify(next));
      setMarks(next);
    },
  };
}

function read(key: string): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, string>;
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
