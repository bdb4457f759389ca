/** A file's diff as rows of a screen: only the rows that show become lines. */
import type { ComparedLines } from "../../data/comparisons.ts";
import { beginning, line, pad, span, withRemark, type Line, type Look, type Span } from "../../frame/line.ts";
import type { Signs } from "../../terminal/signs.ts";
import { displayWidth } from "../../text/display-width.ts";
import { visibleLine } from "../../text/visible.ts";
import { DIFF_WORDS } from "../../words.ts";
import { changedWords, type Stretch } from "./changed-words.ts";
import { syntaxOf, type Token } from "./syntax.ts";

/** A hunk as the server gives it. */
export type Hunk = ComparedLines["hunks"][number];
type HunkLine = Hunk["lines"][number];

/** One row of the screen. */
export type DiffRow =
  | { readonly kind: "text"; readonly line: Line }
  | { readonly kind: "fold"; readonly count: number }
  | { readonly kind: "header"; readonly hunk: number }
  | { readonly kind: "code"; readonly hunk: number; readonly at: number }
  | {
      readonly kind: "pair";
      readonly hunk: number;
      readonly old: number | undefined;
      readonly new: number | undefined;
    };

/** How rows are drawn. */
export interface DiffStyle {
  readonly width: number;
  readonly signs: Signs;
  readonly split: boolean;
  /** Columns of code that are left out at the left. */
  readonly shift: number;
  /** The hunk that keys act on. */
  readonly hunk: number;
  /** Without line numbers. */
  readonly bare?: boolean;
  /** What is looked for, in lower case. */
  readonly find: string | undefined;
}

/** The rows of a diff that has hunks. */
export function diffRows(hunks: readonly Hunk[], split: boolean): DiffRow[] {
  const rows: DiffRow[] = [];
  hunks.forEach((hunk, index) => {
    const before = hunks[index - 1];
    const skipped = hunk.oldStart - (before === undefined ? 1 : before.oldStart + before.oldLines);
    if (before !== undefined && skipped > 0) rows.push(BLANK, { kind: "fold", count: skipped }, BLANK);
    rows.push({ kind: "header", hunk: index });
    if (split) rows.push(...pairs(hunk, index));
    else hunk.lines.forEach((_, at) => rows.push({ kind: "code", hunk: index, at }));
  });
  return rows;
}

const BLANK: DiffRow = { kind: "text", line: [] };

/** Removed lines stand beside the added ones that replaced them. */
function pairs({ lines }: Hunk, hunk: number): DiffRow[] {
  const rows: DiffRow[] = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at]!.type === " ") {
      rows.push({ kind: "pair", hunk, old: at, new: at });
      at += 1;
      continue;
    }
    const { removed, added, end } = blockAt(lines, at);
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      rows.push({ kind: "pair", hunk, old: removed[index], new: added[index] });
    at = end;
  }
  return rows;
}

/** The removed and the added lines that stand together from here on. */
function blockAt(
  lines: readonly HunkLine[],
  from: number,
): { removed: number[]; added: number[]; end: number } {
  const [removed, added]: [number[], number[]] = [[], []];
  let end = from;
  for (; lines[end]?.type === "-"; end += 1) removed.push(end);
  for (; lines[end]?.type === "+"; end += 1) added.push(end);
  return { removed, added, end };
}

/** Draws the rows of one file. */
export class DiffPainter {
  readonly #hunks: readonly Hunk[];
  readonly #syntax: ((line: string) => Token[]) | undefined;
  readonly #changed = new Map<number, Map<number, Stretch[]>>();
  readonly #digits: number;

  constructor(path: string, hunks: readonly Hunk[]) {
    this.#hunks = hunks;
    this.#syntax = syntaxOf(path);
    const last = hunks.at(-1);
    const highest =
      last === undefined ? 1 : Math.max(last.oldStart + last.oldLines, last.newStart + last.newLines);
    this.#digits = Math.max(4, String(highest).length + 1);
  }

  draw(row: DiffRow, style: DiffStyle): Line {
    const { signs, width } = style;
    if (row.kind === "text") return row.line;
    if (row.kind === "fold")
      return line(`     ${signs.ellipsis} ${DIFF_WORDS.unchanged(row.count)}`, { dim: true });
    if (row.kind === "header") {
      if (style.bare === true) return line(visibleLine(this.#hunks[row.hunk]!.header), { colour: "cyan" });
      const isChosen = row.hunk === style.hunk && this.#hunks.length > 1;
      const place = DIFF_WORDS.hunk(row.hunk + 1, this.#hunks.length);
      const header = visibleLine(this.#hunks[row.hunk]!.header);
      const remark = line(isChosen ? `${signs.pointer} ${place}` : place, { dim: !isChosen });
      return withRemark(line(header, { colour: "cyan", bold: isChosen }), remark, { width, signs });
    }
    if (row.kind === "code") return this.#unified(row.hunk, row.at, style);
    const half = Math.floor((width - 3) / 2);
    return [
      ...pad(this.#side(row.hunk, row.old, "old", style), half, signs),
      span(` ${signs.upright} `, { dim: true }),
      ...this.#side(row.hunk, row.new, "new", style).slice(),
    ];
  }

  #unified(hunk: number, at: number, style: DiffStyle): Line {
    const { type, old, new: now } = this.#hunks[hunk]!.lines[at]!;
    const number = (value: number | null) => (value === null ? "" : String(value)).padStart(this.#digits);
    const sign = span(type, { colour: colourOf(type), bold: type !== " " });
    if (style.bare === true) return [sign, span(" "), ...this.#code(hunk, at, style)];
    return [span(`${number(old)}${number(now)} `, { dim: true }), sign, ...this.#code(hunk, at, style)];
  }

  #side(hunk: number, at: number | undefined, side: "old" | "new", style: DiffStyle): Line {
    if (at === undefined) return [];
    const { type, ...numbers } = this.#hunks[hunk]!.lines[at]!;
    const number = String(numbers[side] ?? "").padStart(this.#digits);
    const half = Math.floor((style.width - 3) / 2);
    const code = this.#code(hunk, at, { ...style, width: half - this.#digits - 2 });
    return [span(`${number} `, { dim: true }), span(type, { colour: colourOf(type), bold: true }), ...code];
  }

  /** The text of a line: words that changed underlined, what is looked for inverse, code in its colours. */
  #code(hunk: number, at: number, { shift, find }: DiffStyle): Line {
    const { type, text: given, noNewline } = this.#hunks[hunk]!.lines[at]!;
    const text = shown(given);
    const base: Look = { colour: colourOf(type) };
    const tokens = this.#syntax?.(text) ?? [{ text, code: undefined }];
    const cuts = [
      ...(this.#wordsOf(hunk).get(at) ?? []).map((stretch) => ({ ...stretch, look: { underline: true } })),
      ...found(text, find).map((stretch) => ({ ...stretch, look: { inverse: true } })),
    ];
    const pieces = cutUp(tokens, cuts, base);
    const end = noNewline === true ? [span(` ${DIFF_WORDS.noNewline}`, { dim: true })] : [];
    return [...shifted(pieces, shift), ...end];
  }

  #wordsOf(index: number): ReadonlyMap<number, Stretch[]> {
    const known = this.#changed.get(index);
    if (known !== undefined) return known;
    const { lines } = this.#hunks[index]!;
    const words = new Map<number, Stretch[]>();
    for (let at = 0; at < lines.length;) {
      if (lines[at]!.type === " ") {
        at += 1;
        continue;
      }
      const { removed, added, end } = blockAt(lines, at);
      removed.forEach((old, place) => {
        const now = added[place];
        const changed =
          now === undefined ? undefined : changedWords(shown(lines[old]!.text), shown(lines[now]!.text));
        if (changed === undefined) return;
        words.set(old, changed[0]);
        words.set(now!, changed[1]);
      });
      at = end;
    }
    this.#changed.set(index, words);
    return words;
  }
}

/** A line of a file as it is shown: tabs as spaces, controls spelled out. */
export function shown(text: string): string {
  return visibleLine(text.replaceAll("\t", "    "));
}

function colourOf(type: HunkLine["type"]): Look["colour"] {
  return type === "+" ? "green" : type === "-" ? "red" : undefined;
}

function found(text: string, find: string | undefined): Stretch[] {
  if (find === undefined || find === "") return [];
  const places: Stretch[] = [];
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(find); at >= 0; at = lower.indexOf(find, at + find.length))
    places.push({ from: at, to: at + find.length });
  return places;
}

function cutUp(
  tokens: readonly Token[],
  cuts: readonly (Stretch & { readonly look: Look })[],
  base: Look,
): Span[] {
  const edges = new Set(cuts.flatMap(({ from, to }) => [from, to]));
  const pieces: Span[] = [];
  let at = 0;
  for (const { text, code } of tokens) {
    let start = 0;
    for (let end = 1; end <= text.length; end += 1) {
      if (end < text.length && !edges.has(at + end)) continue;
      const looks = cuts
        .filter(({ from, to }) => from <= at + start && at + start < to)
        .map(({ look }) => look);
      pieces.push(Object.assign({}, base, { code }, ...looks, { text: text.slice(start, end) }) as Span);
      start = end;
    }
    at += text.length;
  }
  return pieces;
}

/** Without the first columns. */
function shifted(pieces: readonly Span[], columns: number): Span[] {
  let rest = columns;
  return pieces.flatMap((piece) => {
    if (rest <= 0) return [piece];
    const gone = beginning(piece.text, rest);
    rest -= displayWidth(gone);
    const text = piece.text.slice(gone.length);
    return text === "" ? [] : [{ ...piece, text }];
  });
}
