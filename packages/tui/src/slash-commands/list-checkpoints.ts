/** `/checkpoint list`, and the timeline as text: what happened in the workspace, newest first. */
import type { CallOutput } from "@belay/protocol";
import { UNICODE } from "../terminal/signs.ts";
import { cutToWidth } from "../text/display-width.ts";
import { grouped } from "../text/quantity.ts";
import { clockSeconds } from "../text/relative-time.ts";
import { visibleLine } from "../text/visible.ts";
import { lineText } from "../frame/line.ts";
import { lostAround, type LostTurns } from "../screens/timeline/list-items.ts";
import { currentText } from "../screens/timeline/head.ts";
import {
  dayHeading,
  lostLines,
  rowLines,
  type RowState,
  type RowStyle,
} from "../screens/timeline/row-lines.ts";
import { COMMANDS, GOING_BACK, TITLES } from "../words.ts";
import { misused, succeeded, type CommandResult, type CommandScene } from "./scene.ts";

type History = CallOutput<"GET /api/history">;
type Row = History["rows"][number];

const LISTED = 20;
const WIDTH = 80;
/** Rows as the screen has them, without what only a screen has. */
const PLAIN: Omit<RowState, "lost"> = {
  selected: false,
  mark: undefined,
  unfolded: false,
  day: undefined,
};
const STYLE: Omit<RowStyle, "clock"> = {
  width: WIDTH,
  signs: UNICODE,
  compact: false,
  narrow: false,
  tall: false,
  marked: false,
};

/** The slash command that lists what can be gone back to. */
export async function listCheckpoints(scene: CommandScene, words: readonly string[]): Promise<CommandResult> {
  if (words.length > 0) return misused(scene, "");
  return print(scene, (row, { later, earlier }) => [
    ...lostLines(later, STYLE).map(lineText),
    listLine(row),
    ...lostLines(earlier, STYLE).map(lineText),
  ]);
}

/** Prints the timeline: each row with its agent and its files. */
export async function printTimeline(scene: CommandScene): Promise<CommandResult> {
  const lines = (row: Row, lost: LostTurns) =>
    rowLines(row, { ...PLAIN, lost }, { ...STYLE, clock: Date.now() }).map(lineText);
  return print(scene, lines, (history) => [`${TITLES.timeline} ${TITLES.current(currentText(history))}`]);
}

async function print(
  scene: CommandScene,
  linesOf: (row: Row, lost: LostTurns) => string[],
  head: (history: History) => string[] = () => [],
): Promise<CommandResult> {
  const query = { workspace: await scene.workspace(), limit: LISTED };
  const history = await scene.client.call("GET /api/history", { query });
  if (history.rows.length === 0) return succeeded(COMMANDS.empty);
  const rows = history.rows.slice(0, LISTED);
  const isComplete = history.next === null && rows.length === history.rows.length;
  const lines = rows.flatMap((row, index) => [
    ...dayLine(row, rows[index - 1]),
    ...linesOf(row, lostAround({ rows, uncaptured: history.uncaptured, isComplete }, index)),
  ]);
  const rest = (history.total ?? rows.length) - rows.length;
  const more = rest > 0 ? [GOING_BACK.more(grouped(rest))] : [];
  scene.write([...head(history), ...lines, ...more].map((line) => cutToWidth(line, WIDTH)).join("\n"));
  return succeeded();
}

function listLine({ at, sameAsNow, seq, id, title }: Row): string {
  return `${clockSeconds(at)} ${mark(sameAsNow)} ${seq} ${id.slice(0, 8)}  ${visibleLine(title)}`;
}

function mark(isCurrent: boolean | null): string {
  return isCurrent === true ? UNICODE.current : UNICODE.other;
}

/** A line with the day, where it is another than that of the row above it; today needs none. */
function dayLine(row: Row, above: Row | undefined): string[] {
  const day = dayHeading(row, above, Date.now());
  return day === undefined ? [] : [day];
}
