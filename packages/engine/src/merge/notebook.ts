/**
 * Jupyter notebooks, merged cell by cell. Cells are matched by their id, or by their source where the format has none.
 * A notebook that this module would not write back byte for byte is left to the merge by lines.
 */
import { diffLines, joinLines, splitLines } from "../diff/lines.ts";
import { hashBytes } from "../model/object-hash.ts";
import { mergePieces, mergeText } from "./merge3.ts";
import type { Contested, Taken } from "./verdict.ts";

interface Contents {
  readonly base: Buffer;
  readonly ours: Buffer;
  readonly theirs: Buffer;
}

/** The part of nbformat 4 that a merge has to know. */
interface Notebook {
  readonly cells: readonly Cell[];
  readonly metadata: unknown;
  readonly nbformat: 4;
  readonly nbformat_minor: number;
}

interface Cell {
  readonly id?: string;
  readonly cell_type: string;
  readonly source: string | readonly string[];
  readonly metadata: unknown;
  readonly outputs?: readonly unknown[];
  readonly execution_count?: number | null;
}

/** True for the file name of a notebook. */
export function isNotebook(path: string): boolean {
  return path.endsWith(".ipynb");
}

/** Merges notebooks; undefined where one of them is not in the form that Jupyter writes. */
export function mergeNotebook(contents: Contents): Taken | Contested | undefined {
  const [base, ours, theirs] = [contents.base, contents.ours, contents.theirs].map(parse);
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  const told: Told = { clashes: [], dropped: [] };
  const { clashes, dropped } = told;
  const cells = mergeCells({ base, ours, theirs }, told);
  const minor = Math.max(ours.nbformat_minor, theirs.nbformat_minor);
  const fields = mergeFields(base, ours, {
    ...theirs,
    cells: ours.cells,
    nbformat_minor: ours.nbformat_minor,
  });
  if (fields === undefined) clashes.push("both sides changed the metadata of the notebook");
  if (fields === undefined || clashes.length > 0)
    return {
      taken: false,
      kind: "content",
      severity: "high",
      facts: clashes.map((detail) => ({ code: "notebook", line: null, detail })),
      regions: [],
      options: ["ours", "theirs", "base"],
      proposal: null,
    };
  const content = write({ ...fields, cells, nbformat_minor: minor }, contents.ours);
  return { taken: true, content, severity: "medium", how: "lines", dropped };
}

/** What merging the cells has to report. */
interface Told {
  readonly clashes: string[];
  readonly dropped: string[];
}

function parse(content: Buffer): Notebook | undefined {
  try {
    const notebook = JSON.parse(content.toString()) as Partial<Notebook>;
    const isKnown = notebook.nbformat === 4 && Array.isArray(notebook.cells) && notebook.cells.every(isCell);
    return isKnown && write(notebook as Notebook, content).equals(content)
      ? (notebook as Notebook)
      : undefined;
  } catch {
    return undefined;
  }
}

function isCell(cell: Partial<Cell>): boolean {
  return (
    typeof cell.cell_type === "string" && (typeof cell.source === "string" || Array.isArray(cell.source))
  );
}

/** In the layout of an earlier content: its indentation and its last line break. */
function write(notebook: Notebook, like: Buffer): Buffer {
  const text = like.toString();
  const indent = /^\{\n( +)"/.exec(text)?.[1] ?? 0;
  return Buffer.from(JSON.stringify(notebook, null, indent) + (text.endsWith("\n") ? "\n" : ""));
}

type Cells = ReadonlyMap<string, Cell>;

function mergeCells(
  { base, ours, theirs }: Record<"base" | "ours" | "theirs", Notebook>,
  told: Told,
): Cell[] {
  const hasIds = [base, ours, theirs].every(hasUniqueIds);
  const byKey = [base, ours, theirs].map((side) => keyed(base, side, hasIds)) as [Cells, Cells, Cells];
  const pieces = mergePieces(...(byKey.map((cells) => [...cells.keys()]) as [string[], string[], string[]]));
  if (pieces.some(({ conflict }) => conflict !== undefined)) {
    told.clashes.push("both sides added, removed or moved cells at the same place");
    return [];
  }
  const keys = pieces.flatMap((piece) => (piece.conflict === undefined ? piece.lines : []));
  if (new Set(keys).size < keys.length) told.clashes.push("both sides moved a cell, to different places");
  if (byKey.some((cells) => [...cells].some(([key, cell]) => isChangedAndGone(key, cell, { keys, byKey }))))
    told.clashes.push("one side removed a cell that the other changed");
  return keys.flatMap((key, at) => {
    const versions = byKey.map((cells) => cells.get(key)) as [Cell?, Cell?, Cell?];
    return mergeCell(versions, at + 1, told) ?? [];
  });
}

function isChangedAndGone(
  key: string,
  cell: Cell,
  { keys, byKey: [base] }: { keys: readonly string[]; byKey: [Cells, Cells, Cells] },
): boolean {
  const before = base.get(key);
  return !keys.includes(key) && before !== undefined && !isSame(before, cell);
}

/** Jupyter gives each cell an id of its own; some tools copy cells with their ids. */
function hasUniqueIds({ cells }: Notebook): boolean {
  const ids = new Set(cells.map(({ id }) => id));
  return ids.size === cells.length && !ids.has(undefined);
}

/** Cells by their id; where ids do not tell them apart, a side's cell has the key of the base cell that it came from. */
function keyed(base: Notebook, side: Notebook, hasIds: boolean): Cells {
  if (hasIds) return new Map(side.cells.map((cell) => [cell.id!, cell]));
  const [before, after] = [base, side].map(({ cells }) => cells.map((cell) => JSON.stringify(textOf(cell))));
  const keys = after!.map((source, at) => `new ${hashBytes(Buffer.from(source))} ${at}`);
  const name = (from: number, to: number, count: number) => {
    for (let at = 0; at < count; at++) keys[to + at] = `base ${from + at}`;
  };
  let [from, to] = [0, 0];
  for (const [start, end, sideStart, sideEnd] of diffLines(before!, after!)) {
    name(from, to, start - from);
    // as many cells as before: each is the one that stood there
    if (end - start === sideEnd - sideStart) name(start, sideStart, end - start);
    [from, to] = [end, sideEnd];
  }
  name(from, to, before!.length - from);
  return new Map(side.cells.map((cell, at) => [keys[at]!, cell]));
}

function mergeCell(
  [base, ours, theirs]: [Cell?, Cell?, Cell?],
  number: number,
  told: Told,
): Cell | undefined {
  if (ours === undefined || theirs === undefined) return ours ?? theirs;
  if (isSame(ours, theirs) || (base !== undefined && isSame(base, theirs))) return ours;
  if (base !== undefined && isSame(base, ours)) return theirs;
  const [before, left, right] = [base ?? { ...ours, source: "" }, ours, theirs].map(textOf);
  const source = mergeText(Buffer.from(before!), Buffer.from(left!), Buffer.from(right!));
  const { source: own, outputs, execution_count } = ours;
  const fields = mergeFields(base ?? {}, ours, { ...theirs, source: own, outputs, execution_count });
  if (!source.clean || fields === undefined || ours.cell_type !== theirs.cell_type) {
    told.clashes.push(`both sides changed cell ${number}`);
    return undefined;
  }
  const text = source.content.toString();
  const cell = { ...fields, source: typeof own === "string" ? text : splitText(text) };
  if (outputs === undefined) return cell;
  const isChanged = { ours: left !== before, theirs: right !== before };
  // outputs belong to the source they came from; of two changed sources neither has them any more
  if (isChanged.ours && isChanged.theirs) {
    told.dropped.push(`the outputs of cell ${number} were cleared: both sides changed its source`);
    return { ...cell, outputs: [], execution_count: null };
  }
  const isRun = (side: Cell) => !isSame(side.outputs, base?.outputs);
  const isTheirs = isChanged.theirs || (!isChanged.ours && !isRun(ours));
  const [from, other] = isTheirs ? [theirs, ours] : [ours, theirs];
  if (isRun(other) && !isSame(other.outputs, from.outputs))
    told.dropped.push(
      isChanged.ours || isChanged.theirs
        ? `the outputs of cell ${number} are those of its new source: the other side ran the old one again`
        : `the outputs of cell ${number} are ours: both sides ran it again`,
    );
  return { ...cell, outputs: from.outputs ?? [], execution_count: from.execution_count ?? null };
}

function textOf({ source }: Cell): string {
  return typeof source === "string" ? source : source.join("");
}

function splitText(text: string): string[] {
  return splitLines(Buffer.from(text)).map((line) => joinLines([line]).toString());
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Each field as the side that changed it has it; undefined when both sides changed one differently. */
function mergeFields<Fields extends object>(
  base: Partial<Fields>,
  ours: Fields,
  theirs: { readonly [Key in keyof Fields]: Fields[Key] | undefined },
): Fields | undefined {
  const merged: [keyof Fields, unknown][] = [];
  for (const key of new Set(Object.keys({ ...ours, ...theirs }) as (keyof Fields)[])) {
    const [before, left, right] = [base[key], ours[key], theirs[key]];
    const isOurs = isSame(left, right) || isSame(before, right);
    if (!isOurs && !isSame(before, left)) return undefined;
    const value = isOurs ? left : right;
    if (value !== undefined) merged.push([key, value]);
  }
  return Object.fromEntries(merged) as Fields;
}
