/** Breaks text between words, so that no terminal breaks it inside one. */
import { clusters, displayWidth } from "./display-width.ts";

/**
 * Wraps text to a width. Empty lines separate paragraphs; other line ends count as spaces. `indent` is for all lines
 * but the first.
 */
export function wrap(text: string, width: number, indent = ""): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => wrapParagraph(paragraph.split(/\s+/), width, indent))
    .join("\n\n");
}

/** A line that fits stays exactly as it is; a longer one is wrapped, and begins where it began. */
export function fitLine(line: string, width: number, indent = ""): string {
  if (displayWidth(line) <= width) return line;
  const own = /^ */.exec(line)![0];
  const [first = "", ...words] = line.slice(own.length).split(/\s+/);
  return wrapParagraph([own + first, ...words], width, indent);
}

function wrapParagraph(words: readonly string[], width: number, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line].join("\n");
}

/**
 * Breaks a name or remark into pieces that fit, behind a space or slash where there is one in the second half. Nothing is
 * left out but spaces at the ends of pieces.
 */
export function pieces(text: string, width: number): string[] {
  const found: string[] = [];
  let piece = "";
  for (const cluster of clusters(text)) {
    if (piece !== "" && displayWidth(piece + cluster) > width) {
      const at = Math.max(piece.lastIndexOf(" "), piece.lastIndexOf("/")) + 1;
      const end = at > piece.length / 2 && cluster !== " " ? at : piece.length;
      found.push(piece.slice(0, end).trimEnd());
      piece = piece.slice(end).trimStart();
    }
    // a piece that ended before a space does not leave it to the next one
    if (piece !== "" || found.length === 0 || cluster !== " ") piece += cluster;
  }
  return [...found, piece];
}

/**
 * Makes every line fit: one that is too long is broken between words, and inside words that are longer than a line,
 * such as paths and hashes; a command in backticks stays whole. What follows is two columns further in. Colours stay.
 */
export function fitLines(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split("\n")
    .map((line) => (displayWidth(line) <= width ? line : brokenLine(line, width)))
    .join("\n");
}

function brokenLine(line: string, width: number): string {
  const own = /^ */.exec(line)![0].length;
  const indent = " ".repeat(Math.min(own + 2, Math.floor(width / 2)));
  const lines: string[] = [];
  let current = line.slice(0, Math.min(own, indent.length));
  let gap = "";
  for (const part of partsOf(line.slice(own), width - indent.length)) {
    if (/^ +$/.test(part)) {
      gap = part;
      continue;
    }
    let rest = part;
    if (displayWidth(current + gap + rest) > width && current.trim() !== "") {
      lines.push(current);
      [current, gap] = [indent, ""];
    }
    while (displayWidth(current + gap + rest) > width) {
      const [fitting, more] = splitAt(rest, width - displayWidth(current + gap));
      if (fitting === "") break;
      lines.push(current + gap + fitting);
      [current, gap, rest] = [indent, "", more];
    }
    current += gap + rest;
    gap = "";
  }
  return [...lines, current].join("\n");
}

/** Words and the spaces between them. A command in backticks is one word if it fits: it is there to be copied. */
function partsOf(line: string, width: number): string[] {
  const words = line.match(/(?:`[^`]*`|[^ `]|`)+| +/g) ?? [];
  return words.flatMap((piece) =>
    piece.startsWith(" ") || displayWidth(piece) <= width ? [piece] : piece.split(/( +)/),
  );
}

// oxlint-disable-next-line no-control-regex -- colours are what this is about
const COLOUR = /(\u001b\[\d+m)/;

/** Splits a word so that its beginning takes at most this many columns. */
function splitAt(word: string, width: number): [string, string] {
  let taken = 0;
  let end = 0;
  for (const part of word.split(COLOUR)) {
    if (COLOUR.test(part)) {
      end += part.length;
      continue;
    }
    for (const cluster of clusters(part)) {
      taken += displayWidth(cluster);
      if (taken > width) return [word.slice(0, end), word.slice(end)];
      end += cluster.length;
    }
  }
  return [word, ""];
}
