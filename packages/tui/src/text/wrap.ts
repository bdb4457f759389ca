/** Breaks text between words, so that no terminal breaks it inside one. */
import { displayWidth } from "./display-width.ts";

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

/** A line that fits stays exactly as it is; a longer one is wrapped. */
export function fitLine(line: string, width: number, indent = ""): string {
  return displayWidth(line) <= width ? line : wrap(line, width, indent);
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
