/** Pieces of files as they are printed: where, and the first lines. */
import type { Hit } from "@belay/retrieval";
import type { Output } from "./output.ts";
import { visible } from "./visible.ts";

const SHOWN_LINES = 5;

/** Prints the hits of a search, best first. */
export function printHits(output: Output, hits: readonly Hit[]): void {
  if (hits.length === 0) return output.print("Nothing found.");
  const { style } = output;
  const pieces = hits.map(({ path, startLine, endLine, text }) => {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const shown = lines
      .slice(0, SHOWN_LINES)
      .map((line) => style.dim(`  ${visible(line).slice(0, output.width - 3)}`));
    return [`${style.cyan(visible(path))}:${startLine}-${endLine}`, ...shown].join("\n");
  });
  output.print(pieces.join("\n"));
}
