/**
 * Which rows of a long list the window shows. The pointer is the anchor: its row keeps its line of the window whatever
 * comes or goes above it, so nothing moves under the eye.
 */
import type { Line } from "../../frame/line.ts";

/** A list whose rows take one line or more; only those that show are ever asked for. */
export interface TallList {
  readonly count: number;
  /** The lines of a row. */
  lines(index: number): readonly Line[];
}

/** The pointer's row, and the line of the window its first line stands on. */
export interface Anchor {
  readonly pointer: number;
  readonly line: number;
}

/** What a window shows. */
export interface WindowView {
  readonly lines: Line[];
  readonly anchor: Anchor;
  /** The rows that show at least in part. */
  readonly first: number;
  readonly last: number;
  /** The row of each line. */
  readonly owners: readonly number[];
}

/** The part of the list that a window of so many lines shows. */
export function viewOf(list: TallList, anchor: Anchor, rows: number): WindowView {
  if (list.count === 0) return { lines: [], anchor: { pointer: 0, line: 0 }, first: 0, last: -1, owners: [] };
  const pointer = Math.max(0, Math.min(anchor.pointer, list.count - 1));
  const own = list.lines(pointer).length;
  const wanted = Math.max(0, Math.min(anchor.line, rows - own));
  const above = linesAbove(list, pointer, wanted);
  const shown = above.slice(Math.max(0, above.length - wanted));
  const line = shown.length;
  for (let index = pointer; index < list.count && shown.length < rows; index += 1)
    for (const each of list.lines(index)) shown.push({ line: each, index });
  const cut = shown.slice(0, rows);
  return {
    lines: cut.map((each) => each.line),
    anchor: { pointer, line },
    first: cut[0]!.index,
    last: cut.at(-1)!.index,
    owners: cut.map(({ index }) => index),
  };
}

/** The anchor after the pointer went to another row: the window follows only as far as it has to. */
export function movedTo(list: TallList, { pointer, line }: Anchor, wanted: number, rows: number): Anchor {
  const to = Math.max(0, Math.min(wanted, list.count - 1));
  let distance = 0;
  const [from, until] = to > pointer ? [pointer, to] : [to, pointer];
  for (let index = from; index < until && distance <= rows; index += 1) distance += list.lines(index).length;
  return { pointer: to, line: Math.max(0, to > pointer ? line + distance : line - distance) };
}

interface Owned {
  readonly line: Line;
  readonly index: number;
}

/** At least so many lines of the rows above, if there are that many. */
function linesAbove(list: TallList, pointer: number, wanted: number): Owned[] {
  let lines: Owned[] = [];
  for (let index = pointer - 1; index >= 0 && lines.length < wanted; index -= 1)
    lines = [...list.lines(index).map((line) => ({ line, index })), ...lines];
  return lines;
}
