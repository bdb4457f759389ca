/** Two marks: what they compare, and their keys. */
import { useEffect, useState } from "react";
import { loadComparedFiles } from "../../data/comparisons.ts";
import { useSource } from "../../data/source.tsx";
import type { Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { fit, line, lineText, type Line } from "../../frame/line.ts";
import { displayWidth } from "../../text/display-width.ts";
import type { Signs } from "../../terminal/signs.ts";
import { COMPARE_WORDS } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";
import { pairOf, stateName, type Marks } from "./marks.ts";
import type { Choices } from "./use-choices.ts";
import type { RowList } from "./use-list.ts";

/** What the marks compare, in two lines; none without marks. */
export function useComparison(marks: Marks, columns: number, signs: Signs): Line[] {
  const source = useSource();
  const [counts, setCounts] = useState({ of: "", text: "" });
  const pair = pairOf(marks);
  const key = pair === undefined ? "" : `${pair.from} ${pair.to}`;
  useEffect(() => {
    const [from, to] = key.split(" ");
    if (from === undefined || to === undefined) return;
    loadComparedFiles(source, { from, to })
      .then(({ filesTotal, summary }) => {
        const { linesAdded, linesDeleted } = summary;
        const text =
          filesTotal === 0 ? COMPARE_WORDS.same : COMPARE_WORDS.counts(filesTotal, linesAdded, linesDeleted);
        setCounts({ of: key, text });
      })
      .catch((error: Error) => setCounts({ of: key, text: error.message }));
  }, [source, key]);
  if (pair === undefined) return [];
  return [line(sentence(marks, columns, signs)), line(counts.of === key ? counts.text : "")];
}

/** The names give way to the width, both alike. */
function sentence(marks: Marks, columns: number, signs: Signs): string {
  const say = (names: readonly string[]) =>
    names.length === 1 ? COMPARE_WORDS.disk(names[0]!) : COMPARE_WORDS.two(names[0]!, names[1]!);
  const names = marks.map(stateName);
  const widths = names.map(displayWidth);
  let excess = displayWidth(say(names)) - columns;
  for (; excess > 0 && Math.max(...widths) > LEAST_NAME; excess -= 1)
    widths[widths.indexOf(Math.max(...widths))]! -= 1;
  return say(names.map((name, index) => lineText(fit(line(name), widths[index]!, signs))));
}

const LEAST_NAME = 12;

/** The keys that marks add to the timeline. */
export function markKeys(choices: Choices, frame: Frame, list: () => RowList): Binding[] {
  const { marks } = choices;
  return [
    {
      keys: ["d"],
      hint: { text: "open the diff" },
      run: () => frame.open(<DiffScreen pair={pairOf(marks)!} title={diffTitle(marks)} />),
    },
    {
      keys: ["space"],
      hint: { text: "unmark" },
      run: () => {
        const row = list().selected;
        if (row !== undefined) choices.mark(row);
      },
    },
    { keys: ["x"], hint: { text: "swap A and B" }, run: () => choices.swapMarks() },
    { keys: ["esc"], hint: { text: "clear both marks" }, run: () => choices.clearMarks() },
  ];
}

function diffTitle([a, b]: Marks): { from: string; to: string } {
  return { from: stateName(a!), to: b === undefined ? COMPARE_WORDS.onDisk : stateName(b) };
}
