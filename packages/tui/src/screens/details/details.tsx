/** The details of a row: everything `belay show` says, with a file under the pointer to act on. */
import { useState, type ReactNode } from "react";
import type { HistoryRow } from "../../data/history-row.ts";
import { useSource } from "../../data/source.tsx";
import { useFrame, useKeys } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { box, line, span, withRemark, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import { displayWidth, padToWidth } from "../../text/display-width.ts";
import { visibleLine } from "../../text/visible.ts";
import { DETAIL_WORDS } from "../../words.ts";
import { askName, askNote, askTags } from "../annotate.tsx";
import { countsOf, LETTERS, movedName } from "../diff/file-text.ts";
import { openRowDiff } from "../timeline/row-diff.tsx";
import { factLines, trouble } from "./facts.ts";
import { useDetails, type DetailedFile, type Details } from "./use-details.ts";

/** The row, and the keys of other screens that fit it. */
export interface DetailsProps {
  readonly row: HistoryRow;
  /** Restore, restore one file, undo only this: see `doors`. */
  readonly actions?: (file: string | undefined) => readonly Binding[];
}

const COUNTS_WIDTH = 10;

/** The screen. */
export function DetailsScreen({ row, actions }: DetailsProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const details = useDetails(row);
  const [pointer, setPointer] = useState(0);
  const { columns: width, signs } = frame;
  const files = details.files ?? [];
  const at = Math.max(0, Math.min(pointer, files.length - 1));
  const file = files[at]?.path;
  const keys = useKeys([
    ...(actions?.(file) ?? []),
    { keys: ["d"], hint: { text: `diff of ${signs.pointer}` }, run: () => openRowDiff(frame, row, file) },
    { keys: ["n"], hint: { text: "note", line: 2 }, run: () => askNote(frame, source, details.row) },
    { keys: ["t"], hint: { text: "tag", line: 2 }, run: () => askTags(frame, source, details.row) },
    { keys: ["m"], hint: { text: "rename", line: 2 }, run: () => askName(frame, source, details.row) },
    {
      keys: ["y"],
      hint: { text: "copy id", line: 2 },
      run: () => {
        frame.copy(row.id);
        frame.say([line(`${signs.done} ${DETAIL_WORDS.copied(row.id)}`)]);
      },
    },
    { keys: ["esc", "q", "v"], hint: { text: "back", line: 2 }, run: () => frame.close() },
    {
      keys: ["up", "k", "down", "j"],
      run: (key) =>
        setPointer(Math.max(0, Math.min(files.length - 1, at + (key === "up" || key === "k" ? -1 : 1)))),
    },
  ]);
  const title = DETAIL_WORDS.title(row.seq, row.id.slice(0, 12));
  const head = box([line(visibleLine(row.title))], { width, signs, title });
  const facts = factLines(details, { width, signs, clock: source.place.clock() });
  const last = trouble(details);
  const height = bodyRows(frame, { head, keys });
  const room = Math.max(1, height - facts.length - last.length - 3);
  const body = [...facts, [], ...fileLines(details, { at, room, width, signs }), [], ...last];
  return <Page head={head} body={body} keys={keys} />;
}

/** The files in a window around the pointer. */
function fileLines(
  { files, row, problem }: Details,
  {
    at,
    room,
    width,
    signs,
  }: { at: number; room: number; width: number; signs: Parameters<typeof withRemark>[2]["signs"] },
): Line[] {
  if (problem !== undefined) return [line(`  ${problem}`, { colour: "yellow" })];
  if (files === undefined) return [line(`  ${DETAIL_WORDS.loading}`, { dim: true })];
  if (files.length === 0) return [line(`  ${DETAIL_WORDS.unchanged}`, { dim: true })];
  const counts = countsOf({ linesAdded: row.plus, linesDeleted: row.minus });
  const heading = withRemark(line(`  ${DETAIL_WORDS.changed(row.kind)}`, { bold: true }), line(counts), {
    width: Math.min(width - 1, 72),
    signs,
  });
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), files.length - room));
  const shown = files.slice(from, from + room);
  const column = Math.min(
    Math.max(20, width - 44),
    Math.max(...shown.map((file) => displayWidth(nameOf(file)))) + 2,
  );
  return [
    heading,
    ...shown.map((file, index) => {
      const isChosen = from + index === at;
      const name = padToWidth(nameOf(file), column);
      const text = `${LETTERS[file.type]}  ${name} ${padToWidth(countsOf(file), COUNTS_WIDTH)}${file.by ?? ""}`;
      return [
        span(isChosen ? `  ${signs.pointer} ` : "    ", { colour: "cyan", bold: true }),
        span(text.trimEnd(), isChosen ? { bold: true } : {}),
      ];
    }),
  ];
}

function nameOf({ path, from }: DetailedFile): string {
  return from === undefined ? visibleLine(path) : movedName(from, path);
}
