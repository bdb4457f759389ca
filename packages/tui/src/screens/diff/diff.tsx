/** The diff: one file at a time, hunk by hunk. */
import { useMemo, useRef, useState, type ReactNode } from "react";
import type { StatePair } from "../../data/comparisons.ts";
import { recall, remember } from "../../data/remembered.ts";
import { useSource } from "../../data/source.tsx";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import { fit, line, lineText, rule, span, withRemark, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import type { Signs } from "../../terminal/signs.ts";
import { displayWidth } from "../../text/display-width.ts";
import { lineCounts } from "../../text/line-counts.ts";
import { DIFF_WORDS, ROW_WORDS } from "../../words.ts";
import { diffKeys } from "./diff-keys.tsx";
import { DiffPainter, diffRows, type DiffRow, type DiffStyle } from "./diff-rows.ts";
import { countsOf, fileName, fileSentences } from "./file-text.ts";
import { useFind } from "./find.ts";
import { hunkAt, type Scroll, type TakeBack } from "./scroll.ts";
import { changedLines, useDiff, type Diff } from "./use-diff.ts";

/** What is compared, and what the two states are called. */
export interface DiffProps {
  readonly pair: StatePair;
  readonly title: { readonly from: string; readonly to: string };
  /** The file that is shown first. */
  readonly path?: string;
  /** What `f` and `h` do; without it they are not offered. */
  readonly takeBack?: TakeBack;
}

const SPLIT_COLUMNS = 140;

const START: Scroll = { top: 0, shift: 0, hunk: 0 };

/** The screen of a comparison: one file at a time, hunk by hunk. */
export function DiffScreen({ pair, title, path, takeBack }: DiffProps): ReactNode {
  const frame = useFrame();
  const diff = useDiff(pair, path);
  const { place } = useSource();
  const [split, setSplit] = useState(() => recall(place).split);
  const [scrolls, setScrolls] = useState<ReadonlyMap<number, Scroll>>(new Map());
  const { columns, signs } = frame;
  const isSplit = split ?? columns >= SPLIT_COLUMNS;
  const scroll = scrolls.get(diff.index) ?? START;
  const { top, shift, hunk } = scroll;
  const rows = useMemo(
    () => rowsOf(diff, isSplit),
    [diff.lines, diff.problem, diff.list, diff.file, diff.isLong, isSplit],
  );
  const painter = useMemo(
    () => new DiffPainter(diff.file?.path ?? "", diff.lines?.hunks ?? []),
    [diff.file, diff.lines],
  );
  const height = useRef(1);
  const scrollTo = (to: number, other: Partial<Scroll> = {}) => {
    const most = Math.max(0, rows.length - height.current);
    const wanted = Math.max(0, Math.min(to, most));
    const next = { ...scroll, top: wanted, hunk: wanted === top ? hunk : hunkAt(rows, wanted), ...other };
    setScrolls(new Map(scrolls).set(diff.index, next));
  };
  const find = useFind({ diff, rows, top, scrollTo });
  const table = find.isOpen
    ? find.keys
    : diffKeys({
        frame,
        diff,
        rows,
        scroll,
        page: () => height.current,
        scrollTo,
        find,
        takeBack,
        toggleSplit: () => {
          setSplit(!isSplit);
          // where it cannot be kept, the choice holds until the screens end
          remember(place, { split: !isSplit });
        },
      });
  const keys = useKeys(table, {
    ...(find.isOpen && { typed: find.field.typed }),
    mouse: (event) => "wheel" in event && scrollTo(top + event.wheel),
  });
  const head = [titleLine(title, diff, frame), rule(columns, signs)];
  const foot = find.lines(signs);
  height.current = bodyRows(frame, { head, foot, keys });
  const style: DiffStyle = { width: columns, signs, split: isSplit, shift, hunk, find: find.asked };
  const body = rows.slice(top, top + height.current).map((row) => painter.draw(row, style));
  return <Page head={head} body={body} foot={foot} keys={keys} />;
}

function titleLine(title: DiffProps["title"], { list, file, index }: Diff, { columns, signs }: Frame): Line {
  const right =
    file === undefined
      ? ""
      : `${DIFF_WORDS.position(index + 1, list!.filesTotal)}   ${lineCounts(countsOf(file))}`.trimEnd();
  const room = columns - right.length - 2;
  const arrow = `  ${signs.arrow}  `;
  const to = fit(line(title.to), Math.floor(room / 2), signs);
  const from = quotedFit(title.from, room - arrow.length - lineText(to).length, signs);
  return withRemark([...from.map((each) => ({ ...each, bold: true })), span(arrow), ...to], line(right), {
    width: columns,
    signs,
  });
}

/** What is quoted at the end of a title is cut inside its quotes. */
function quotedFit(text: string, width: number, signs: Signs): Line {
  if (!text.endsWith('"') || displayWidth(text) <= width) return fit(line(text), width, signs);
  return [...fit(line(text.slice(0, -1)), width - 1, signs), span('"')];
}

/** The rows of the file: its name, what is said of it, its hunks. */
function rowsOf({ list, file, lines, problem, isLong }: Diff, split: boolean): DiffRow[] {
  const text = (content: string, look = {}): DiffRow => ({ kind: "text", line: line(content, look) });
  if (problem !== undefined) return [text(problem, { colour: "yellow" })];
  if (list === undefined) return [text(ROW_WORDS.loading, { dim: true })];
  if (file === undefined) return [text(DIFF_WORDS.same)];
  const name = text(` ${fileName(file)}`, { bold: true });
  if (isLong) return [name, text(`   ${DIFF_WORDS.long(changedLines(file))}`)];
  if (lines === undefined) return [name, text(ROW_WORDS.loading, { dim: true })];
  return [name, ...fileSentences(lines).map((each) => text(`   ${each}`)), ...diffRows(lines.hunks, split)];
}
