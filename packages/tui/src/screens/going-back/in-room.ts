/** Parts of a box in a window that may be too small for them: what a person has to know and press stays. */
import { line, type Line } from "../../frame/line.ts";
import { grouped } from "../../text/quantity.ts";
import { GOING_BACK } from "../../words.ts";

/** Lines that belong together, and how many of them stay in the smallest window. */
export interface BoxPart {
  readonly lines: readonly Line[];
  readonly least: number;
}

/** The parts with an empty line between them; where they do not fit, without those, and then cut from the last one on. */
export function inRoom(parts: readonly BoxPart[], room: number): Line[] {
  const shown = parts.filter(({ lines }) => lines.length > 0);
  const open = shown.flatMap(({ lines }, at) => (at === 0 ? [...lines] : [[], ...lines]));
  if (open.length <= room) return open;
  let over = shown.flatMap(({ lines }) => lines).length - room;
  const cut: (readonly Line[])[] = [];
  for (const { lines, least } of shown.toReversed()) {
    const gone = Math.max(0, Math.min(over, lines.length - least));
    over -= gone;
    cut.unshift(gone === 0 ? lines : shortened(lines, lines.length - gone));
  }
  return cut.flat();
}

function shortened(lines: readonly Line[], most: number): readonly Line[] {
  if (most === 0) return [];
  const more = line(`  ${GOING_BACK.more(grouped(lines.length - most + 1))}`);
  return [...lines.slice(0, most - 1), more];
}
