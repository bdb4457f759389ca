/** A line that a person types into: a filter, a note, a name. */
import { useState } from "react";
import { clusters } from "../text/display-width.ts";
import type { Binding } from "./keys.ts";
import { span, type Line } from "./line.ts";

/** The text, where the cursor stands, and what gives it its keys. */
export interface TextField {
  readonly text: string;
  /** The keys of editing; they come before the screen's own. */
  readonly table: readonly Binding[];
  readonly typed: (text: string) => void;
  set(text: string): void;
  /** The text with the cursor in it. */
  shown(cursor: string): Line;
}

/** A text field; `changed` learns of every change. */
export function useTextField(first = "", changed?: (text: string) => void): TextField {
  const [{ text, at }, setState] = useState({ text: first, at: lengthOf(first) });
  const characters = [...clusters(text)];
  const set = (next: string, position: number) => {
    setState({ text: next, at: position });
    if (next !== text) changed?.(next);
  };
  const move = (position: number) =>
    setState({ text, at: Math.max(0, Math.min(characters.length, position)) });
  const remove = (from: number, to: number) => {
    if (from < 0 || from >= to) return;
    set([...characters.slice(0, from), ...characters.slice(to)].join(""), from);
  };
  const wordStart = () => {
    const before = characters.slice(0, at).join("");
    return lengthOf(before.replace(/\S+\s*$/u, ""));
  };
  return {
    text,
    set: (next) => set(next, lengthOf(next)),
    typed: (added) => {
      const clean = added.replaceAll(/\p{Cc}/gu, "");
      const position = at + lengthOf(clean);
      set([...characters.slice(0, at), clean, ...characters.slice(at)].join(""), position);
    },
    table: [
      // terminals send DEL for the backspace key, and Ink names it "delete"
      { keys: ["backspace", "delete"], run: () => remove(at - 1, at) },
      { keys: ["ctrl+u"], run: () => remove(0, at) },
      { keys: ["ctrl+w"], run: () => remove(wordStart(), at) },
      { keys: ["left"], run: () => move(at - 1) },
      { keys: ["right"], run: () => move(at + 1) },
      { keys: ["home", "ctrl+a"], run: () => move(0) },
      { keys: ["end", "ctrl+e"], run: () => move(characters.length) },
    ],
    shown: (cursor) =>
      at === characters.length
        ? [span(text + cursor)]
        : [
            span(characters.slice(0, at).join("")),
            span(characters[at]!, { inverse: true }),
            span(characters.slice(at + 1).join("")),
          ],
  };
}

function lengthOf(text: string): number {
  return [...clusters(text)].length;
}
