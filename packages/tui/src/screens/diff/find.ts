/** Looks for text in a diff: in the file that is shown, then in those after it. */
import { useState } from "react";
import type { Binding } from "../../frame/keys.ts";
import { line, span, type Line } from "../../frame/line.ts";
import { useTextField, type TextField } from "../../frame/text-field.ts";
import type { Signs } from "../../terminal/signs.ts";
import { DIFF_WORDS } from "../../words.ts";
import { shown, type DiffRow } from "./diff-rows.ts";
import type { Diff } from "./use-diff.ts";

/** The search of a diff screen. */
export interface Find {
  readonly isOpen: boolean;
  readonly field: TextField;
  /** In lower case; undefined when nothing is looked for. */
  readonly asked: string | undefined;
  readonly keys: readonly Binding[];
  open(): void;
  lines(signs: Signs): Line[];
}

interface Place {
  readonly diff: Diff;
  readonly rows: readonly DiffRow[];
  readonly top: number;
  scrollTo(row: number): void;
}

/** Keeps the search within a diff. */
export function useFind({ diff, rows, top, scrollTo }: Place): Find {
  const [isOpen, setOpen] = useState(false);
  const [last, setLast] = useState<{ text: string; row: number }>();
  const field = useTextField();
  const asked = isOpen && field.text !== "" ? field.text.toLowerCase() : undefined;
  const matches = asked === undefined ? [] : matchesIn(diff, rows, asked);
  const at = last?.text === asked ? matches.indexOf(last?.row ?? -1) : -1;
  const go = (step: 1 | -1) => {
    if (matches.length === 0) {
      if (diff.list !== undefined && diff.index + 1 < diff.list.files.length) diff.goTo(diff.index + 1);
      return;
    }
    const from = at < 0 ? matches.findIndex((row) => row >= top) : at + step;
    if (from >= matches.length && diff.list !== undefined && diff.index + 1 < diff.list.files.length) {
      diff.goTo(diff.index + 1);
      return;
    }
    const row = matches[(from + matches.length) % matches.length]!;
    setLast({ text: asked!, row });
    scrollTo(Math.max(0, row - 3));
  };
  return {
    isOpen,
    field,
    asked,
    open: () => setOpen(true),
    keys: [
      { keys: ["enter", "down"], hint: { key: "Enter", text: "next" }, run: () => go(1) },
      { keys: ["up"], hint: { text: "previous" }, run: () => go(-1) },
      { keys: ["esc"], hint: { text: "end the search" }, run: () => setOpen(false) },
      ...field.table,
    ],
    lines: (signs) =>
      isOpen
        ? [
            [
              span(DIFF_WORDS.find, { bold: true }),
              ...field.shown(signs.cursor),
              ...line(asked === undefined ? "" : `   ${DIFF_WORDS.matches(at + 1, matches.length)}`, {
                dim: true,
              }),
            ],
          ]
        : [],
  };
}

/** The rows whose code has the text. */
function matchesIn({ lines }: Diff, rows: readonly DiffRow[], asked: string): number[] {
  const hunks = lines?.hunks ?? [];
  const has = (hunk: number, at: number | undefined) =>
    at !== undefined && shown(hunks[hunk]!.lines[at]!.text).toLowerCase().includes(asked);
  return rows.flatMap((row, index) => {
    if (row.kind === "code") return has(row.hunk, row.at) ? [index] : [];
    return row.kind === "pair" && (has(row.hunk, row.old) || has(row.hunk, row.new)) ? [index] : [];
  });
}
