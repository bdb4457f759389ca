/** The help: the keys of the screen it was opened from, by group. */
import { useState, type ReactNode } from "react";
import { Lines, useFrame, useKeys } from "../frame/frame.tsx";
import type { Binding, HelpGroup } from "../frame/keys.ts";
import { box, line, pad, plainWords, span, type Line } from "../frame/line.ts";
import type { Signs } from "../terminal/signs.ts";
import { wrap } from "../text/wrap.ts";
import { HELP_FOOT, HELP_SCROLL, HELP_SENTENCES, TITLES } from "../words.ts";

const PAIRS: readonly (readonly [HelpGroup, HelpGroup])[] = [
  ["Move", "Look"],
  ["Go back", "Keep"],
];
const SINGLE: readonly (readonly [HelpGroup])[] = [["Move"], ["Look"], ["Go back"], ["Keep"]];
const LEFT = { column: 34, keys: 13 };
const RIGHT = { keys: 9 };

/** With fewer columns the groups stand below each other. */
const TWO_COLUMNS = 78;
/** The edges of the box and the last line. */
const FRAME_ROWS = 3;

/** Shows what the keys of a screen do; what does not fit is scrolled to. */
export function HelpScreen({ table }: { readonly table: readonly Binding[] }): ReactNode {
  const frame = useFrame();
  const [top, setTop] = useState(0);
  const { columns: width, rows, signs } = frame;
  const has = (group: HelpGroup) => table.some(({ help }) => help?.group === group);
  const pairs = (width < TWO_COLUMNS ? SINGLE : PAIRS).filter((pair) => pair.some(has));
  const body = [
    ...pairs.flatMap((pair) => [...groupLines(table, pair, signs), []]),
    ...sentences(Math.max(20, width - 4)),
  ];
  const room = Math.max(1, rows - FRAME_ROWS);
  const most = Math.max(0, body.length - room);
  const scroll = (by: number) => setTop(Math.max(0, Math.min(most, Math.min(top, most) + by)));
  useKeys([
    { keys: ["?", "esc", "q"], run: () => frame.close() },
    { keys: ["down", "j"], run: () => scroll(1) },
    { keys: ["up", "k"], run: () => scroll(-1) },
    { keys: ["pagedown", "space"], run: () => scroll(room) },
    { keys: ["pageup"], run: () => scroll(-room) },
  ]);
  const from = Math.min(top, most);
  const foot = most === 0 ? HELP_FOOT : HELP_SCROLL(signs.upDown);
  return (
    <Lines
      lines={[
        ...box(body.slice(from, from + room), { width, signs, title: TITLES.keys }),
        line(foot, { dim: true }),
      ]}
    />
  );
}

function sentences(width: number): Line[] {
  return HELP_SENTENCES.flatMap((sentence) => wrap(sentence, width).split("\n")).map((text) => line(text));
}

function groupLines(
  table: readonly Binding[],
  groups: readonly [HelpGroup, HelpGroup?],
  signs: Signs,
): Line[] {
  const [left, right] = [groups[0], groups[1]].map((group) =>
    table.flatMap(({ help }) => (help !== undefined && help.group === group ? [help] : [])),
  ) as [NonNullable<Binding["help"]>[], NonNullable<Binding["help"]>[]];
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    beside(entry(left[index], LEFT.keys, signs), entry(right[index], RIGHT.keys, signs), signs),
  );
  const title = (group: HelpGroup | undefined, entries: readonly unknown[]) =>
    entries.length === 0 ? [] : [span(group ?? "", { bold: true })];
  return [beside(title(groups[0], left), title(groups[1], right), signs), ...rows];
}

/** Without a right side the left one has all the room. */
function beside(left: Line, right: Line, signs: Signs): Line {
  return right.length === 0 ? left : [...pad(left, LEFT.column, signs), ...right];
}

function entry(help: Binding["help"], width: number, signs: Signs): Line {
  if (help === undefined) return [];
  return [span(help.keys.padEnd(width), { colour: "cyan" }), span(plainWords(help.text, signs))];
}
