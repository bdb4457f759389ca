/** A restore preview as lines: the choices, the warnings, every file with its box, what stays and why. */
import { fit, line, lineWidth, pad, span, withRemark, type Line, type Span } from "../../frame/line.ts";
import { fileRemarks } from "../../plans/plan-text.ts";
import type { Plan, PlanFile, PlanRequest } from "../../plans/plan.ts";
import type { Signs } from "../../terminal/signs.ts";
import { lineCountColumns } from "../../text/line-counts.ts";
import { grouped } from "../../text/quantity.ts";
import { reasonWords, shortGapWords } from "../../text/reasons.ts";
import { visibleLine } from "../../text/visible.ts";
import { wrap } from "../../text/wrap.ts";
import { GOING_BACK } from "../../words.ts";
import { itemKey, type Group, type Item } from "./preview-items.ts";

/** What the lines are made from. */
export interface Preview {
  readonly plan: Plan;
  readonly groups: readonly Group[];
  /** The item under the pointer. */
  readonly pointed: string | undefined;
  readonly unchecked: ReadonlySet<string>;
  /** Other threads' work, whether it is left alone or taken too. */
  readonly others: readonly Plan["leftAlone"][number][];
  /** Threads whose work was chosen too. */
  readonly taken: ReadonlySet<string>;
  /** Paths that an earlier plan did not have. */
  readonly fresh: ReadonlySet<string>;
  readonly width: number;
  readonly signs: Signs;
}

/** One line, and the item that stands on it. */
export interface PreviewLine {
  readonly line: Line;
  readonly key?: string;
}

/** `What: (f) files   c conversation   b both      Mode: (x) exactly   k keep new`, on two lines where one is too short. */
export function choiceLines(
  { scope = "files", keepNew = false }: Pick<PlanRequest, "scope" | "keepNew">,
  width: number,
): Line[] {
  const choice = (key: string, text: string, isChosen: boolean): Span =>
    isChosen ? span(`(${key}) ${text}`, { bold: true }) : span(`${key} ${text}`);
  const gap = span(width < WHAT_COLUMNS ? " " : "   ");
  const what = [
    span("  What: "),
    choice("f", "files", scope === "files"),
    gap,
    choice("c", "conversation", scope === "conversation"),
    gap,
    choice("b", "both", scope === "both"),
  ];
  const mode = [
    span("Mode: "),
    choice("x", "exactly", !keepNew),
    span("   "),
    choice("k", "keep new", keepNew),
  ];
  const whole = [...what, span("      "), ...mode];
  return lineWidth(whole) <= width ? [whole] : [what, [span("  "), ...mode]];
}

/** What the first line of the choices takes with gaps that are easy to read. */
const WHAT_COLUMNS = 44;

/** The warnings of a plan: at most two, the most serious first; the rest of a long one goes below it. */
export function warningLines({ warnings }: Plan, { width, signs }: { width: number; signs: Signs }): Line[] {
  return warnings.slice(0, 2).flatMap((text) =>
    wrap(visibleLine(text), Math.max(20, width - 4))
      .split("\n")
      .map((part, index) => [
        span(index === 0 ? `  ${signs.warning} ` : "    ", { colour: "yellow" }),
        span(part),
      ]),
  );
}

/** The groups, then other threads' work and what is kept. */
export function previewLines(given: Preview): PreviewLine[] {
  const { plan, groups, others } = given;
  const preview: Counted = { ...given, countsOf: lineCountColumns(plan.files) };
  const groupLines = groups.flatMap((group) => linesOfGroup(group, preview));
  return [
    ...(groupLines.length > 0 ? groupLines : [{ line: line(`  ${GOING_BACK.nothing}`) }]),
    ...others.map((work) => {
      const item = { is: "alone", work } as const;
      return { line: aloneLine(item, preview), key: itemKey(item) };
    }),
    ...keptLines(plan, preview),
  ];
}

interface Counted extends Preview {
  readonly countsOf: ReturnType<typeof lineCountColumns>;
}

function linesOfGroup(group: Group, preview: Counted): PreviewLine[] {
  const title = GOING_BACK.groups[group.change];
  const [first] = group.items;
  if (first?.is === "folded")
    return [
      { line: [...beside(title, group.total, preview, first), names(first.files)], key: itemKey(first) },
    ];
  return [
    { line: [span(`  ${title} `, { bold: true }), span(grouped(group.total))] },
    ...group.items.map((item) => ({ line: itemLine(item, preview), key: itemKey(item) })),
  ];
}

function itemLine(item: Item, preview: Counted): Line {
  if (item.is === "file") return fileLine(item.file, preview);
  const hidden = item.is === "more" ? item.hidden : 0;
  return [
    ...pointer(item, preview),
    span(`    ${GOING_BACK.more(grouped(hidden))} ${GOING_BACK.unfold}`, { dim: true }),
  ];
}

function fileLine(file: PlanFile, preview: Counted): Line {
  const { unchecked, fresh, width, signs, countsOf } = preview;
  const isChosen = !unchecked.has(file.path);
  const item: Item = { is: "file", file };
  const left = [
    ...pointer(item, preview),
    span(`[${isChosen ? "x" : " "}]${fresh.has(file.path) ? "*" : " "}`, isChosen ? {} : { dim: true }),
    span(visibleLine(file.path), isChosen ? {} : { dim: true }),
  ];
  const remarks = fileRemarks(file, countsOf);
  if (remarks === "") return fit(left, width, signs);
  const column = Math.min(REMARK_COLUMN, Math.floor(width / 2));
  const padded = pad(left, column, signs);
  return lineWidth(left) < column
    ? fit([...padded, span(remarks, { dim: true })], width, signs)
    : withRemark(left, line(remarks, { dim: true }), { width, signs });
}

/** Where remarks begin, if the names leave room. */
const REMARK_COLUMN = 44;

function aloneLine(item: Extract<Item, { is: "alone" }>, preview: Preview): Line {
  const { thread, agent, files, filesTotal } = item.work;
  const isTaken = preview.taken.has(thread);
  const title = isTaken ? GOING_BACK.takenToo : GOING_BACK.leftAlone;
  const left = [...beside(title, filesTotal, preview, item), span(isTaken ? "[x] " : "[ ] "), names(files)];
  const remark = GOING_BACK.workOf(visibleLine(agent ?? thread.slice(0, 8)));
  return withRemark(left, line(remark, { dim: true }), preview);
}

function keptLines(
  { kept, keptTotal, gaps, gapsTotal, limits }: Plan,
  { width, signs }: Preview,
): PreviewLine[] {
  const reasons = [
    ...kept.map(({ path, reason }) => ({ path, words: reasonWords(reason) })),
    ...gaps
      .filter((gap) => !kept.some(({ path }) => path === gap.path))
      .map((gap) => ({ path: gap.path, words: shortGapWords(gap, limits) })),
  ];
  const total = Math.max(keptTotal + gapsTotal, reasons.length);
  if (reasons.length === 0) return [];
  const [first] = reasons;
  const more = reasons.length > 1 ? ` ${GOING_BACK.more(grouped(reasons.length - 1))}` : "";
  const text = `${visibleLine(first!.path)}, ${visibleLine(first!.words)}${more}`;
  const title = `  ${GOING_BACK.kept} ${grouped(Math.min(total, reasons.length))}`;
  return [{ line: fit([span(title.padEnd(TITLE_COLUMN), { bold: true }), span(text)], width, signs) }];
}

/** A title, its number, and the pointer, on a line that goes on. */
function beside(title: string, total: number, preview: Preview, item: Item): Span[] {
  const isPointed = preview.pointed === itemKey(item);
  const mark = isPointed ? `${preview.signs.pointer} ` : "  ";
  return [
    span(mark, { colour: "cyan" }),
    span(`${title} ${grouped(total)}`.padEnd(TITLE_COLUMN - mark.length), { bold: true }),
  ];
}

const TITLE_COLUMN = 22;

function names(files: readonly { readonly path: string }[]): Span {
  return span(files.map(({ path }) => visibleLine(path)).join(", "));
}

function pointer(item: Item, { pointed, signs }: Preview): Span[] {
  const isPointed = pointed === itemKey(item);
  return [span(isPointed ? `  ${signs.pointer} ` : "    ", isPointed ? { colour: "cyan" } : {})];
}
