/** Beside the list of a wide window: what the selected row changed. It follows the selection once that rests. */
import { useEffect, useRef, useState } from "react";
import {
  loadComparedFiles,
  loadComparedLines,
  type ComparedFiles,
  type ComparedLines,
} from "../../data/comparisons.ts";
import type { Chosen, HistoryRow, HistoryStep } from "../../data/history-row.ts";
import { useSource, type Source } from "../../data/source.tsx";
import { useThreads } from "../../data/use-threads.ts";
import type { Binding } from "../../frame/keys.ts";
import { fit, line, lineText, pad, span, withRemark, type Line } from "../../frame/line.ts";
import type { Signs } from "../../terminal/signs.ts";
import { displayWidth, padToWidth } from "../../text/display-width.ts";
import { lineCountColumns } from "../../text/line-counts.ts";
import { clockSeconds } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { BESIDE_WORDS, COMPARE_WORDS, ROW_WORDS } from "../../words.ts";
import { gitPlace } from "../details/facts.ts";
import { checkpointOf, toolsOf } from "../details/use-details.ts";
import { DiffPainter, diffRows } from "../diff/diff-rows.ts";
import { countsOf, fileName, fileSentences } from "../diff/file-text.ts";
import { chosenTitle } from "./marks.ts";
import { changePair } from "./row-diff.tsx";
import type { Choices } from "./use-choices.ts";

/** How the other side is drawn. */
export interface BesideStyle {
  readonly width: number;
  readonly height: number;
  readonly signs: Signs;
  /** It has the keys. */
  readonly hasKeys: boolean;
}

/** The other side. */
export interface Beside {
  readonly lines: readonly Line[];
  scroll(by: number): void;
}

const REST_MS = 80;
/** Files whose lines are loaded at once; the diff has them all. */
const MOST_FILES = 8;
const MOST_NAMES = 12;
const COUNTS_WIDTH = 12;

interface Loaded {
  /** What names the row or step. */
  readonly of: string;
  readonly files: ComparedFiles;
  readonly diffs: readonly ComparedLines[];
  /** Where git stood before it; null without git. */
  readonly git: string | null;
  /** Files that commands changed, and the tool. */
  readonly commands: ReadonlyMap<string, string>;
}

/** Loads and draws what a row or step changed; undefined: nothing is drawn. */
export function useBeside(chosen: Chosen | undefined, style: BesideStyle): Beside {
  const { loaded, problem } = useChanges(chosen);
  const [top, setTop] = useState(0);
  const row = chosen?.row;
  const name = nameOf(chosen);
  const thread = useThreads(row?.thread).get(row?.thread ?? "");
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (shown.current !== name) setTop(0);
    shown.current = name;
  }, [name]);
  if (chosen === undefined) return { lines: [], scroll: () => {} };
  const { width, height, signs } = style;
  const head = [
    line(chosenTitle(chosen), { bold: true }),
    line(facts(chosen, [thread?.title, loaded?.of === name ? loaded.git : null], style), { dim: true }),
    [],
  ];
  const body =
    loaded?.of === name ? changeLines(loaded, style) : [line(problem ?? ROW_WORDS.loading, { dim: true })];
  const all = [...head, ...body];
  const most = Math.max(0, all.length - height);
  const from = Math.min(top, most);
  const lines = all.slice(from, from + height);
  while (lines.length < height) lines.push([]);
  const hint = line(style.hasKeys ? BESIDE_WORDS.here : BESIDE_WORDS.there, { dim: true });
  lines[height - 1] = withRemark(lines[height - 1]!, hint, { width, signs });
  return { lines, scroll: (by) => setTop(Math.max(0, Math.min(most, from + by))) };
}

function nameOf(chosen: Chosen | undefined): string {
  return chosen === undefined ? "" : `${chosen.row.ref} ${chosen.step?.seq ?? ""}`;
}

function useChanges(chosen: Chosen | undefined): {
  loaded: Loaded | undefined;
  problem: string | undefined;
} {
  const source = useSource();
  const [loaded, setLoaded] = useState<Loaded>();
  const [problem, setProblem] = useState<string>();
  const row = chosen?.row;
  const key =
    row === undefined
      ? ""
      : `${nameOf(chosen)} ${row.before} ${row.after} ${row.added + row.modified + row.deleted}`;
  const wanted = useRef(chosen);
  wanted.current = chosen;
  useEffect(() => {
    const asked = wanted.current;
    if (asked === undefined) return undefined;
    let isWanted = true;
    const of = nameOf(asked);
    const load = async () => {
      const pair = changePair(asked);
      const files = await loadComparedFiles(source, pair);
      const { git } = (await checkpointOf(source, asked.step?.before ?? asked.row.id)).checkpoint;
      let shown: Loaded = { of, files, diffs: [], git: git && gitPlace(git), commands: new Map() };
      const show = (more: Partial<Loaded>) => void (isWanted && setLoaded((shown = { ...shown, ...more })));
      show({});
      for (const file of files.files.slice(0, MOST_FILES)) {
        if (!isWanted) return;
        show({ diffs: [...shown.diffs, await loadComparedLines(source, pair, file)] });
      }
      if (isWanted && asked.row.kind === "turn" && asked.step === undefined)
        show({ commands: await commandsOf(source, asked.row) });
    };
    const timer = setTimeout(() => {
      setProblem(undefined);
      load().catch((error: Error) => isWanted && setProblem(error.message));
    }, REST_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [source, key]);
  return { loaded, problem };
}

/** Files that no tool named, and a command changed. */
function commandsOf(source: Source, row: HistoryRow): Promise<ReadonlyMap<string, string>> {
  return toolsOf(source, row, { isWanted: ({ nature }) => nature === "command", named: toolName });
}

function toolName({ tool }: HistoryStep): string {
  return visibleLine(tool ?? "");
}

/** `claude-code · Payment retries · 10:42:03 to 10:43:15 · main 4f2c1a9`; a long title gives way. */
function facts(
  { row, step }: Chosen,
  [title, git]: readonly [string | null | undefined, string | null],
  { width, signs }: BesideStyle,
): string {
  const from = clockSeconds(step?.at ?? row.at);
  const to = step !== undefined || row.endedAt === null ? from : clockSeconds(row.endedAt);
  const time = from === to ? from : BESIDE_WORDS.stretch(from, to);
  const divider = signs.ascii ? ", " : ` ${signs.dot} `;
  const joined = (...parts: readonly (string | null | undefined)[]) =>
    parts
      .filter((part) => part !== null && part !== undefined && part !== "")
      .map((part) => visibleLine(part!))
      .join(divider);
  const room = width - displayWidth(joined(row.agent, time, git)) - divider.length;
  const shown = title ? lineText(fit(line(visibleLine(title)), Math.max(0, room), signs)) : "";
  return joined(row.agent, shown, time, git);
}

function changeLines({ files, diffs, commands }: Loaded, { width, signs }: BesideStyle): Line[] {
  if (files.files.length === 0) return [line(COMPARE_WORDS.same)];
  const names = files.files.slice(0, MOST_NAMES).map(fileName);
  const column = Math.min(width - COUNTS_WIDTH, Math.max(...names.map(displayWidth)));
  const columns = lineCountColumns(files.files.slice(0, MOST_NAMES).map(countsOf));
  const list = names.map((name, index) => {
    const file = files.files[index]!;
    const counts = padToWidth(columns(countsOf(file)), COUNTS_WIDTH - 2);
    const tool = commands.get(file.path);
    const by = tool === undefined ? "" : BESIDE_WORDS.by(tool);
    const about = span(`  ${counts}${by}`.trimEnd(), { dim: true });
    return fit([...pad(line(name), column, signs), about], width, signs);
  });
  const more = files.filesTotal - names.length;
  const uncounted = files.summary.linesAdded === null ? `; ${COMPARE_WORDS.uncounted}` : "";
  const style = { width, signs, split: false, shift: 0, hunk: -1, find: undefined, bare: true };
  return [
    ...list,
    ...(more > 0 ? [line(`${signs.ellipsis}and ${ROW_WORDS.more(more)}${uncounted}`, { dim: true })] : []),
    ...diffs.flatMap((diff) => {
      const painter = new DiffPainter(diff.file?.path ?? "", diff.hunks);
      return [
        [],
        line(visibleLine(diff.file?.path ?? ""), { bold: true }),
        ...fileSentences(diff).map((each) => line(each, { dim: true })),
        ...diffRows(diff.hunks, false)
          .filter(({ kind }) => kind !== "fold")
          .map((row) => painter.draw(row, style)),
      ];
    }),
  ];
}

/** The keys that go over to the other side, and scroll it. */
export function besideKeys(choices: Choices, beside: () => Beside, rows: number): Binding[] {
  const tab: Binding = { keys: ["tab", "shift+tab"], run: () => choices.toggleSide() };
  if (choices.side === "list") return [tab];
  const page = Math.max(1, rows - 8);
  return [
    tab,
    { keys: ["down", "j"], run: () => beside().scroll(1) },
    { keys: ["up", "k"], run: () => beside().scroll(-1) },
    { keys: ["pagedown"], run: () => beside().scroll(page) },
    { keys: ["pageup"], run: () => beside().scroll(-page) },
    { keys: ["g", "home"], run: () => beside().scroll(Number.NEGATIVE_INFINITY) },
    { keys: ["G", "end"], run: () => beside().scroll(Number.POSITIVE_INFINITY) },
  ];
}
