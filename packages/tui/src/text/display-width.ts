/** The columns text takes on a terminal; colour sequences take none. */
import { stripVTControlCharacters } from "node:util";

const PLAIN = /^[\x20-\x7e]*$/;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]/u;

let segmenter: Intl.Segmenter | undefined;

/** The number of columns that text takes. */
export function displayWidth(text: string): number {
  const bare = text.includes("\u001b") ? stripVTControlCharacters(text) : text;
  if (PLAIN.test(bare)) return bare.length;
  let width = 0;
  for (const cluster of clusters(bare)) width += clusterWidth(cluster);
  return width;
}

/** Cuts text to a width and marks the cut with "…"; cut text loses its colours. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let taken = 0;
  let cut = "";
  for (const cluster of clusters(stripVTControlCharacters(text))) {
    taken += clusterWidth(cluster);
    if (taken > width - 1) break;
    cut += cluster;
  }
  return `${cut}…`;
}

/** Pads with spaces; never cuts. */
export function padToWidth(text: string, width: number, side: "left" | "right" = "right"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "left" ? space + text : text + space;
}

/** The characters of a text as people count them: a letter with its accents, an emoji of several parts. */
export function* clusters(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function clusterWidth(cluster: string): number {
  if (WIDE.test(cluster)) return 2;
  return NO_WIDTH.test(cluster) ? 0 : 1;
}
