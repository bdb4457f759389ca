/** What an action did goes to the bottom of the screen, until the next one. */
import type { Frame } from "../../frame/frame.tsx";
import { line, span } from "../../frame/line.ts";
import type { Result } from "../../plans/result-text.ts";
import { wrap } from "../../text/wrap.ts";

/** Says it, its first line with a sign, cut to the width of the window. */
export function sayResult({ say, signs, columns }: Frame, { isWhole, lines }: Result): void {
  const [first = "", ...rest] = lines.flatMap((text) => wrap(text, Math.max(20, columns - 4)).split("\n"));
  const sign = isWhole ? span(`  ${signs.done} `, { colour: "green" }) : span("  ! ", { colour: "yellow" });
  say([[sign, span(first)], ...rest.map((text) => line(`    ${text}`))]);
}
