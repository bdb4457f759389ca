/**
 * The lines a screen is made of. A screen computes its lines for the size of the window; one component draws them. So
 * no line is ever wider than the window, and a screen's text can be read in a test without a terminal.
 */
import { stripVTControlCharacters } from "node:util";
import { clusters, displayWidth } from "../text/display-width.ts";
import type { ColourDepth } from "../terminal/colours.ts";
import type { Signs } from "../terminal/signs.ts";

/** The look of a piece of text. Meaning never hangs on it alone: a word or a sign says the same. */
export interface Look {
  readonly colour?: Colour | undefined;
  /** Comes before `colour` where there are 256 colours. */
  readonly code?: CodePart | undefined;
  readonly bold?: boolean | undefined;
  readonly dim?: boolean | undefined;
  readonly underline?: boolean | undefined;
  readonly strike?: boolean | undefined;
  readonly inverse?: boolean | undefined;
}

/** The colours of the screens. */
export type Colour = keyof typeof COLOURS;

const COLOURS = { green: 32, red: 31, yellow: 33, blue: 34, magenta: 35, cyan: 36, gray: 90 };

/** The parts of code that have a colour where there are 256. */
export type CodePart = keyof typeof CODE_COLOURS;

/** Readable on dark and on light ground. */
const CODE_COLOURS = { keyword: 133, string: 65, comment: 244, number: 130 };

/** A piece of a line in one look. */
export interface Span extends Look {
  readonly text: string;
}

/** One line of a screen. */
export type Line = readonly Span[];

/** A piece of text in a look. */
export function span(text: string, look: Look = {}): Span {
  return { text, ...look };
}

/** A line of one piece. */
export function line(text = "", look: Look = {}): Line {
  return text === "" ? [] : [span(text, look)];
}

/** The columns a line takes. */
export function lineWidth(pieces: Line): number {
  return pieces.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** The text of a line, without its look. */
export function lineText(pieces: Line): string {
  return pieces.map(({ text }) => text).join("");
}

/** Cuts a line to a width and marks the cut; pieces keep their look. */
export function fit(pieces: Line, width: number, signs: Signs): Line {
  if (lineWidth(pieces) <= width) return pieces;
  const mark = signs.ellipsis.slice(0, Math.max(0, width));
  const room = width - mark.length;
  const kept: Span[] = [];
  let taken = 0;
  for (const piece of pieces) {
    const text = beginning(piece.text, room - taken);
    kept.push({ ...piece, text });
    taken += displayWidth(text);
    if (text.length < piece.text.length) break;
  }
  const last = kept.at(-1);
  return last === undefined ? [] : [...kept.slice(0, -1), { ...last, text: last.text + mark }];
}

/** What of a text fits a width, without a mark. */
export function beginning(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let taken = 0;
  let kept = "";
  for (const cluster of clusters(text)) {
    taken += displayWidth(cluster);
    if (taken > width) break;
    kept += cluster;
  }
  return kept;
}

/** A line filled with spaces up to a width, or cut to it. */
export function pad(pieces: Line, width: number, signs: Signs): Line {
  const cut = fit(pieces, width, signs);
  const missing = width - lineWidth(cut);
  return missing <= 0 ? cut : [...cut, span(" ".repeat(missing))];
}

/** Text with a remark at the right edge; the text gives way, with at least two columns between them. */
export function withRemark(left: Line, right: Line, { width, signs }: { width: number; signs: Signs }): Line {
  const remark = fit(right, width, signs);
  const room = width - lineWidth(remark);
  if (lineWidth(remark) === 0 || room < 4) return fit(left, width, signs);
  return [...pad(fit(left, room - 2, signs), room, signs), ...remark];
}

/** A rule across the window. */
export function rule(width: number, signs: Signs): Line {
  return line(signs.across.repeat(width), { dim: true });
}

/** Lines in a box of a width, with a title in its upper edge if there is one. */
export function box(
  lines: readonly Line[],
  { width, signs, title, look = {} }: { width: number; signs: Signs; title?: string; look?: Look },
): Line[] {
  const [topLeft, topRight, bottomLeft, bottomRight] = signs.corners;
  const head =
    title === undefined ? [] : fit([span(`${signs.across} `), span(title), span(" ")], width - 3, signs);
  const rest = signs.across.repeat(Math.max(0, width - 2 - lineWidth(head)));
  return [
    [span(topLeft, look), ...head.map((piece) => ({ ...look, ...piece })), span(rest + topRight, look)],
    ...lines.map((each) => [
      span(`${signs.upright} `, look),
      ...pad(each, width - 4, signs),
      span(` ${signs.upright}`, look),
    ]),
    [span(bottomLeft + signs.across.repeat(Math.max(0, width - 2)) + bottomRight, look)],
  ];
}

/** What our own words have beyond ASCII, each by a character of the same width. */
const PLAIN_SIGNS: Readonly<Record<string, string>> = { "…": ".", "“": '"', "”": '"', "’": "'", "·": "," };

/** A line for a terminal that draws ASCII only; foreign text stays what it is. */
export function inAscii(pieces: Line): Line {
  return pieces.map((piece, index) => ({
    ...piece,
    text: asciiText(piece.text, index === pieces.length - 1),
  }));
}

/** Three dots where nothing after them moves: for two spaces before, or at the end of the line. */
function asciiText(text: string, isLast: boolean): string {
  const dotted = text.replaceAll(/ {2}…(?=\S)/g, "...");
  const ended = isLast ? dotted.replace(/ ?…$/, "...") : dotted;
  return ended.replaceAll(/[…“”’·]/g, (sign) => PLAIN_SIGNS[sign]!);
}

/** Our own words before they are laid out: there is room for three dots. */
export function plainWords(text: string, { ascii, ellipsis }: Signs): string {
  return ascii ? text.replaceAll("…", ellipsis) : text;
}

/** A line as the terminal gets it. Foreign text was made visible before; a control that slipped through is dropped. */
export function ansi(pieces: Line, depth: ColourDepth): string {
  return pieces.map((piece) => paint(piece, depth)).join("");
}

function paint({ text: given, ...look }: Span, depth: ColourDepth): string {
  const text = stripVTControlCharacters(given).replaceAll(/\p{Cc}/gu, "\ufffd");
  if (depth === "plain" || text === "") return text;
  const [opening, closing] = codesOf(look, depth);
  return opening === "" ? text : `\u001b[${opening}m${text}\u001b[${closing}m`;
}

function codesOf(look: Look, depth: ColourDepth): [string, string] {
  const pairs: [string | number, number][] = [];
  if (look.bold) pairs.push([1, 22]);
  if (look.dim) pairs.push([2, 22]);
  if (look.underline) pairs.push([4, 24]);
  if (look.inverse) pairs.push([7, 27]);
  if (look.strike) pairs.push([9, 29]);
  const code = depth === "many" ? look.code : undefined;
  if (code !== undefined) pairs.push([`38;5;${CODE_COLOURS[code]}`, 39]);
  else if (look.colour !== undefined && depth !== "none") pairs.push([COLOURS[look.colour], 39]);
  return [pairs.map(([open]) => open).join(";"), pairs.map(([, close]) => close).join(";")];
}
