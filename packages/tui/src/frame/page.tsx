/** The usual layout of a screen: a head, a body that fills the window, what the last action did, and the hints. */
import type { ReactNode } from "react";
import { Lines, useFrame, type Frame } from "./frame.tsx";
import { hintTexts, type Binding } from "./keys.ts";
import { line, lineText, lineWidth, rule, type Line } from "./line.ts";
import { wrap } from "../text/wrap.ts";

/** What a page shows. */
export interface PageProps {
  readonly head?: readonly Line[];
  readonly body: readonly Line[];
  /** Right above the hints. */
  readonly foot?: readonly Line[];
  /** The table that the hints are made from. */
  readonly keys: readonly Binding[];
}

/** The frame of a screen: title, content, and the keys at the bottom. */
export function Page({ head = [], body, foot = [], keys }: PageProps): ReactNode {
  const frame = useFrame();
  const bottom = [...foot, ...bottomLines(frame, keys)];
  // in a window that is too small the head gives way: what the keys do is always on the screen
  const shown = head.slice(0, Math.max(0, frame.rows - bottom.length - 1));
  const room = Math.max(0, frame.rows - shown.length - bottom.length);
  const filled = [
    ...body.slice(0, room),
    ...Array.from({ length: Math.max(0, room - body.length) }, () => []),
  ];
  return <Lines lines={[...shown, ...filled, ...bottom]} />;
}

/** How many lines of the window are left for the body. */
export function bodyRows(frame: Frame, { head = [], foot = [], keys }: Omit<PageProps, "body">): number {
  return Math.max(1, frame.rows - head.length - foot.length - bottomLines(frame, keys).length);
}

function bottomLines(frame: Frame, keys: readonly Binding[]): Line[] {
  const { columns: width, signs, notice } = frame;
  const hints = hintTexts(keys, { width, signs }).map((text) => line(text, { dim: true }));
  return [...notice.flatMap((each) => wrapped(each, width)), rule(width, signs), ...hints];
}

/** What was said is said whole: the rest of a long line goes below it. */
function wrapped(said: Line, width: number): Line[] {
  const [first] = said;
  if (first === undefined || lineWidth(said) <= width) return [said];
  const text = lineText(said);
  const margin = /^ */.exec(text)![0];
  return wrap(text.trim(), Math.max(1, width - margin.length - 2), "  ")
    .split("\n")
    .map((part) => [{ ...first, text: margin + part }]);
}
