/** The details of a row: everything `belay show` says, with a file under the pointer to act on. */
import { useState, type ReactNode } from "react";
import type { Chosen } from "../../data/history-row.ts";
import { useSource } from "../../data/source.tsx";
import { useFrame, useKeys } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { box, line, span, withRemark, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import { clusters, displayWidth, padToWidth } from "../../text/display-width.ts";
import type { Signs } from "../../terminal/signs.ts";
import { lineCountColumns, lineCounts } from "../../text/line-counts.ts";
import { visibleLine } from "../../text/visible.ts";
import { DETAIL_WORDS } from "../../words.ts";
import { askName, askNote, askTags } from "../annotate.tsx";
import { countsOf, LETTERS, movedName } from "../diff/file-text.ts";
import { askExport } from "../export-patch.tsx";
import { HelpScreen } from "../help.tsx";
import { chosenTitle, isState } from "../timeline/marks.ts";
import { openRowDiff } from "../timeline/row-diff.tsx";
import { factLines, trouble } from "./facts.ts";
import { useDetails, type DetailedFile, type Details } from "./use-details.ts";

/** The row or step, and the keys of other screens that fit it. */
export interface DetailsProps {
  readonly chosen: Chosen;
  readonly actions?: RowActions;
}

/** Keys of other screens that go back from a row. */
export interface RowActions {
  readonly restore: Binding;
  /** Restore one file, undo only this. */
  others(file: string | undefined): readonly Binding[];
}

/** Where the names of files begin. */
const NAMES_FROM = 7;
const COUNTS_WIDTH = 10;
/** What the tools take at most, where a name needs the room. */
const TOOLS_WIDTH = 26;

/** The screen with the details of a row of the timeline. */
export function DetailsScreen({ chosen, actions }: DetailsProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const { row, step } = chosen;
  const { seq, id } = step ?? row;
  const details = useDetails(chosen);
  const [pointer, setPointer] = useState(0);
  const { columns: width, signs } = frame;
  const files = details.files ?? [];
  const at = Math.max(0, Math.min(pointer, files.length - 1));
  const file = files[at]?.path;
  const table: Binding[] = [
    ...(actions === undefined ? [] : [actions.restore]),
    {
      keys: ["d"],
      hint: { text: `diff of ${signs.pointer}` },
      help: { group: "Look", keys: "d", text: "diff of this file" },
      run: () => openRowDiff(frame, chosen, file),
    },
    ...(actions?.others(file) ?? []),
    {
      keys: ["n"],
      hint: { text: "note", line: 2 },
      help: { group: "Keep", keys: "n t m", text: "note, tag, rename" },
      run: () => askNote(frame, source, details.row),
    },
    { keys: ["t"], hint: { text: "tag", line: 2 }, run: () => askTags(frame, source, details.row) },
    { keys: ["m"], hint: { text: "rename", line: 2 }, run: () => askName(frame, source, details.row) },
    {
      keys: ["y"],
      hint: { text: "copy id", line: 2 },
      help: { group: "Keep", keys: "y", text: "copy id" },
      run: () => {
        frame.copy(id);
        frame.say([line(`${signs.done} ${DETAIL_WORDS.copied(id)}`)]);
      },
    },
    {
      keys: ["e"],
      hint: { text: "export patch", line: 2 },
      help: { group: "Keep", keys: "e", text: "export patch…" },
      run: () =>
        isState(row) ? frame.say([line(`  ${DETAIL_WORDS.noPatch}`)]) : askExport(frame, source, chosen),
    },
    { keys: ["esc", "q", "v"], hint: { text: "back", line: 2 }, run: () => frame.close() },
    {
      keys: ["up", "k", "down", "j"],
      help: { group: "Move", keys: signs.ascii ? "Up Down j k" : "↑ ↓ j k", text: "file" },
      run: (key) =>
        setPointer(Math.max(0, Math.min(files.length - 1, at + (key === "up" || key === "k" ? -1 : 1)))),
    },
    { keys: ["?"], run: () => frame.open(<HelpScreen table={table} />) },
  ];
  const keys = useKeys(table);
  const title = DETAIL_WORDS.title(seq, id.slice(0, 12));
  const head = box([line(chosenTitle(chosen))], { width, signs, title });
  const facts = factLines(details, { width, signs, clock: source.place.clock() });
  const last = trouble(details, width);
  const height = bodyRows(frame, { head, keys });
  const all = [...facts, [], ...fileLines(details, { at, width, signs }), [], ...last];
  // in a small window the lines go with the pointer: from the first file the facts are seen, from the last what is missing
  const below = at === files.length - 1 ? all.length : facts.length + 2 + at + 2;
  const from = Math.max(0, Math.min(below, all.length) - height);
  return <Page head={head} body={all.slice(from, from + height)} keys={keys} />;
}

function fileLines(
  { files, row, step, problem }: Details,
  { at, width, signs }: { at: number; width: number; signs: Signs },
): Line[] {
  if (problem !== undefined) return [line(`  ${problem}`, { colour: "yellow" })];
  if (files === undefined) return [line(`  ${DETAIL_WORDS.loading}`, { dim: true })];
  if (files.length === 0) return [line(`  ${DETAIL_WORDS.unchanged}`, { dim: true })];
  const { plus, minus } = step ?? row;
  const what = step === undefined ? DETAIL_WORDS.changed(row.kind, isState(row)) : DETAIL_WORDS.changedByStep;
  const heading = withRemark(line(`  ${what}`, { bold: true }), line(lineCounts({ plus, minus })), {
    width: Math.min(width - 1, 72),
    signs,
  });
  const widest = (texts: readonly string[]) =>
    texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
  const tools = Math.min(TOOLS_WIDTH, widest(files.map(({ by = "" }) => by)));
  const room = Math.max(20, width - NAMES_FROM - COUNTS_WIDTH - tools - 1);
  const column = Math.min(room, widest(files.map(nameOf)) + 2);
  const countsIn = lineCountColumns(files.map(countsOf));
  return [
    heading,
    ...files.map((file, index) => {
      const isChosen = index === at;
      const name = padToWidth(endOfName(nameOf(file), column, signs), column);
      const counts = padToWidth(countsIn(countsOf(file)), COUNTS_WIDTH);
      const text = `${LETTERS[file.type]}  ${name} ${counts}${file.by ?? ""}`;
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

/** Of a name that is too long, its end: the counts of all files stand in one column. */
function endOfName(name: string, width: number, { ellipsis }: Signs): string {
  const parts = [...clusters(name)];
  let over = displayWidth(name) - width;
  if (over <= 0) return name;
  over += ellipsis.length;
  while (over > 0 && parts.length > 0) over -= displayWidth(parts.shift()!);
  return ellipsis + parts.join("");
}
