/** The filter: the list narrows while words are typed. */
import { useEffect, useRef, useState } from "react";
import type { HistoryState } from "../../data/history.ts";
import type { Binding } from "../../frame/keys.ts";
import { line, span, withRemark, type Line } from "../../frame/line.ts";
import { useTextField, type TextField } from "../../frame/text-field.ts";
import type { Signs } from "../../terminal/signs.ts";
import { FILTER_WORDS } from "../../words.ts";
import type { RowList } from "./use-list.ts";

/** The filter of a screen. */
export interface Filter {
  /** While words are typed. */
  readonly isOpen: boolean;
  readonly field: TextField;
  /** What the rows are asked for; undefined without a filter. */
  readonly asked: string | undefined;
  readonly help: readonly Line[];
  open(): void;
  keep(): void;
  drop(): void;
}

/** Long enough that a word is asked for once, short enough not to be noticed. */
const REST_MS = 60;

/** Keeps the filter of the timeline. */
export function useFilter(): Filter {
  const [isOpen, setOpen] = useState(false);
  const [asked, setAsked] = useState<string | undefined>();
  const timer = useRef<NodeJS.Timeout>(undefined);
  const ask = (text: string) => setAsked(text.trim() === "" ? undefined : text.trim());
  const field = useTextField("", (text) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => ask(text), REST_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    isOpen,
    field,
    asked,
    help: FILTER_WORDS.help.map((text) => line(text, { dim: true })),
    open: () => setOpen(true),
    keep: () => {
      setOpen(false);
      clearTimeout(timer.current);
      ask(field.text);
    },
    drop: () => {
      setOpen(false);
      field.set("");
      clearTimeout(timer.current);
      setAsked(undefined);
    },
  };
}

/** The line of the filter and a blank one; none without a filter. */
export function filterLines(
  { isOpen, field, asked }: Filter,
  { state, whole }: { readonly state: HistoryState; readonly whole: number | null },
  { columns, signs }: { readonly columns: number; readonly signs: Signs },
): Line[] {
  if (!isOpen && asked === undefined) return [];
  const text = isOpen ? field.shown(signs.cursor) : [span(field.text)];
  const found =
    asked === undefined || state.total === null ? "" : FILTER_WORDS.found(state.total, whole ?? state.total);
  const place = { width: columns - 2, signs };
  return [
    withRemark([span(FILTER_WORDS.label, { bold: true }), ...text], line(found, { dim: true }), place),
    [],
  ];
}

/** The keys while words for the filter of the timeline are typed. */
export function filterKeys(filter: Filter, list: () => RowList, signs: Signs): Binding[] {
  return [
    { keys: ["enter"], hint: { text: "keep the filter" }, run: () => filter.keep() },
    { keys: ["esc"], hint: { text: "drop it" }, run: () => filter.drop() },
    {
      keys: ["up", "down"],
      hint: { key: signs.upDown, text: "move through what is found" },
      run: (key) => list().move(key === "up" ? -1 : 1),
    },
    { keys: ["pageup", "pagedown"], run: (key) => list().page(key === "pageup" ? -1 : 1) },
    ...filter.field.table,
  ];
}
