/** The help: the keys of the screen it was opened from, by group. */
import type { ReactNode } from "react";
import { Lines, useFrame, useKeys } from "../frame/frame.tsx";
import type { Binding, HelpGroup } from "../frame/keys.ts";
import { box, line, pad, span, type Line } from "../frame/line.ts";
import type { Signs } from "../terminal/signs.ts";
import { HELP_FOOT, HELP_SENTENCES, TITLES } from "../words.ts";

const PAIRS: readonly (readonly [HelpGroup, HelpGroup])[] = [
  ["Move", "Look"],
  ["Go back", "Keep"],
];
const LEFT = { column: 34, keys: 13 };
const RIGHT = { keys: 9 };

/** Shows what the keys of a table do. */
export function HelpScreen({ table }: { readonly table: readonly Binding[] }): ReactNode {
  const frame = useFrame();
  useKeys([{ keys: ["?", "esc", "q"], run: () => frame.close() }]);
  const { columns: width, signs } = frame;
  const has = (group: HelpGroup) => table.some(({ help }) => help?.group === group);
  const pairs = PAIRS.filter((pair) => pair.some(has));
  const body = [...pairs.flatMap((pair) => [...groupLines(table, pair, signs), []]), ...sentences()];
  return (
    <Lines
      lines={[
        ...box(body.slice(0, Math.max(1, frame.rows - 3)), { width, signs, title: TITLES.keys }),
        line(HELP_FOOT, { dim: true }),
      ]}
    />
  );
}

function sentences(): Line[] {
  return HELP_SENTENCES.map((sentence) => line(sentence));
}

function groupLines(
  table: readonly Binding[],
  groups: readonly [HelpGroup, HelpGroup],
  signs: Signs,
): Line[] {
  const [left, right] = groups.map((group) =>
    table.flatMap(({ help }) => (help?.group === group ? [help] : [])),
  ) as [NonNullable<Binding["help"]>[], NonNullable<Binding["help"]>[]];
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [
    ...pad(entry(left[index], LEFT.keys), LEFT.column, signs),
    ...entry(right[index], RIGHT.keys),
  ]);
  const title = (index: 0 | 1) =>
    span([left, right][index]!.length === 0 ? "" : groups[index], { bold: true });
  const head = [...pad([title(0)], LEFT.column, signs), title(1)];
  return [head, ...rows];
}

function entry(help: Binding["help"], width: number): Line {
  if (help === undefined) return [];
  return [span(help.keys.padEnd(width), { colour: "cyan" }), span(help.text)];
}
