/** Text in pieces of about 1000 characters that overlap by 200, cut where a reader would cut. */

/** A piece of a text, by characters and by lines. */
export interface Chunk {
  readonly start: number;
  readonly stop: number;
  /** Counted from 1. */
  readonly startLine: number;
  readonly endLine: number;
}

const CHARACTERS = 1000;
const OVERLAP = 200;
/** A cut is looked for in the last part of a piece; before that the piece would become too small. */
const EARLIEST_CUT = 600;

/** The pieces of a text; none for one that has nothing but space. */
export function chunksOf(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  if (text.trim() === "") return chunks;
  const lines = lineStarts(text);
  for (let start = 0; ;) {
    const stop = text.length - start <= CHARACTERS ? text.length : cutAfter(text, start);
    chunks.push({ start, stop, startLine: lineOf(lines, start), endLine: lineOf(lines, stop - 1) });
    if (stop === text.length) return chunks;
    start = nextStart(text, Math.max(start + 1, stop - OVERLAP), stop);
  }
}

/** After a blank line, else after a line, else after a space, else where the piece is full. */
function cutAfter(text: string, start: number): number {
  const piece = text.slice(start, start + CHARACTERS);
  for (const separator of ["\n\n", "\n", " "]) {
    const at = piece.lastIndexOf(separator);
    if (at >= EARLIEST_CUT) return start + at + separator.length;
  }
  return start + CHARACTERS - (isHighSurrogate(text, start + CHARACTERS - 1) ? 1 : 0);
}

/** At the beginning of a line where there is one in the overlap. */
function nextStart(text: string, earliest: number, stop: number): number {
  const line = text.indexOf("\n", earliest);
  if (line >= 0 && line + 1 < stop) return line + 1;
  return isHighSurrogate(text, earliest - 1) ? earliest + 1 : earliest;
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}
