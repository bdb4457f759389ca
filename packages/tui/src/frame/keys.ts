/** Keys: one table a screen. The dispatch, the hints at the bottom and the help are made from it. */
import type { Key } from "ink";
import { displayWidth } from "../text/display-width.ts";
import type { Signs } from "../terminal/signs.ts";
import { plainWords } from "./line.ts";

/** A key by its name: a character as it is typed, or one of the named ones. */
export type KeyName = string;

/** A row of a screen's table. */
export interface Binding {
  /** `"d"`, `"R"`, `"up"`, `"enter"`, `"esc"`, `"space"`, `"tab"`, `"pageup"`, `"ctrl+u"` … */
  readonly keys: readonly KeyName[];
  /** What the bottom of the screen says; none: the key works without a hint. */
  readonly hint?: Hint | undefined;
  /** What the help says; none: the key is not in the help. */
  readonly help?: { readonly group: HelpGroup; readonly keys: string; readonly text: string };
  run(key: KeyName): void;
}

/** How a key shows at the bottom. */
export interface Hint {
  /** How the key is written, if not as its name: `↑↓`. */
  readonly key?: string;
  readonly text: string;
  /** 1: the first line, divided by bars. 2: the second. */
  readonly line?: 1 | 2;
  /** Only from this many columns on. */
  readonly from?: number;
}

/** The groups of the help. */
export type HelpGroup = "Move" | "Look" | "Go back" | "Keep";

const NAMED: readonly (readonly [keyof Key, KeyName])[] = [
  ["upArrow", "up"],
  ["downArrow", "down"],
  ["leftArrow", "left"],
  ["rightArrow", "right"],
  ["pageUp", "pageup"],
  ["pageDown", "pagedown"],
  ["home", "home"],
  ["end", "end"],
  ["return", "enter"],
  ["escape", "esc"],
  ["backspace", "backspace"],
  ["delete", "delete"],
];

/** The name of the key that Ink reports. */
export function keyName(input: string, key: Key): KeyName {
  if (key.tab) return key.shift ? "shift+tab" : "tab";
  const named = NAMED.find(([flag]) => key[flag] === true)?.[1];
  if (named !== undefined) return named;
  if (key.ctrl) return `ctrl+${input}`;
  if (key.meta) return `meta+${input}`;
  return input === " " ? "space" : input;
}

/** The row of a table that a key belongs to. */
export function bindingOf(table: readonly Binding[], name: KeyName): Binding | undefined {
  return table.find(({ keys }) => keys.includes(name));
}

/** The hint lines of a table; what does not fit a line leaves from its end, the help and the way out stay. */
export function hintTexts(
  table: readonly Binding[],
  { width, signs }: { readonly width: number; readonly signs: Signs },
): string[] {
  return ([1, 2] as const)
    .map((number) =>
      table
        .filter(({ hint }) => hint !== undefined && (hint.line ?? 1) === number && (hint.from ?? 0) <= width)
        .map(({ keys, hint }) => ({
          text: `${hint!.key ?? written(keys[0]!, signs)} ${plainWords(hint!.text, signs)}`,
          stays: keys.some((key) => STAYING.has(key)),
        })),
    )
    .map((hints, index) => joined(hints, index === 0 ? " | " : "  ", width))
    .filter((text) => text !== "");
}

const STAYING = new Set(["?", "q", "esc"]);

function joined(hints: readonly { text: string; stays: boolean }[], divider: string, width: number): string {
  let shown = [...hints];
  const text = () => shown.map((each) => each.text).join(divider);
  while (shown.length > 1 && displayWidth(text()) > width) {
    const going = shown.findLastIndex(({ stays }) => !stays);
    shown = shown.toSpliced(going < 0 ? shown.length - 1 : going, 1);
  }
  return text();
}

const WRITTEN: Readonly<Record<KeyName, string>> = {
  enter: "Enter",
  esc: "Esc",
  space: "Space",
  tab: "Tab",
  pageup: "PgUp",
  pagedown: "PgDn",
};

function written(name: KeyName, signs: Signs): string {
  if (name === "up") return signs.up;
  if (name === "down") return signs.down;
  return WRITTEN[name] ?? name;
}
