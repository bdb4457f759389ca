/** `/checkpoint list`, and the timeline as text: what happened in the workspace, newest first. */
import type { CallOutput } from "@belay/protocol";
import { UNICODE } from "../terminal/signs.ts";
import { cutToWidth } from "../text/display-width.ts";
import { grouped } from "../text/quantity.ts";
import { clockSeconds, dayAndTime } from "../text/relative-time.ts";
import { visibleLine } from "../text/visible.ts";
import { COMMANDS, GOING_BACK, TIMELINE } from "../words.ts";
import { misused, succeeded, type CommandResult, type CommandScene } from "./scene.ts";

type History = CallOutput<"GET /api/history">;
type Row = History["rows"][number];

const LISTED = 20;
const WIDTH = 80;

/** Lists what can be gone back to. */
export async function listCheckpoints(scene: CommandScene, words: readonly string[]): Promise<CommandResult> {
  if (words.length > 0) return misused(scene, "");
  return print(scene, (row) => [listLine(row)]);
}

/** Prints the timeline: each row with its agent and its files. */
export async function printTimeline(scene: CommandScene): Promise<CommandResult> {
  return print(scene, rowLines, (history) => [TIMELINE.title(currentTitle(history))]);
}

async function print(
  scene: CommandScene,
  linesOf: (row: Row) => string[],
  head: (history: History) => string[] = () => [],
): Promise<CommandResult> {
  const query = { workspace: await scene.workspace(), limit: LISTED };
  const history = await scene.client.call("GET /api/history", { query });
  if (history.rows.length === 0) return succeeded(COMMANDS.empty);
  const rows = history.rows.slice(0, LISTED);
  const lines = rows.flatMap((row, index) => [...dayLine(row, rows[index - 1]), ...linesOf(row)]);
  const rest = (history.total ?? rows.length) - rows.length;
  const more = rest > 0 ? [GOING_BACK.more(grouped(rest))] : [];
  scene.write([...head(history), ...lines, ...more].map((line) => cutToWidth(line, WIDTH)).join("\n"));
  return succeeded();
}

function listLine({ at, sameAsNow, seq, id, title }: Row): string {
  return `${clockSeconds(Date.parse(at))} ${mark(sameAsNow)} ${seq} ${id.slice(0, 8)}  ${visibleLine(title)}`;
}

/** The reference's lines of a row: time, mark and description; its agent; its files. */
function rowLines(row: Row): string[] {
  const { at, endedAt, agent, status, sameAsNow, title } = row;
  const { modified, added, deleted } = row;
  const seconds = (Date.parse(endedAt ?? new Date().toISOString()) - Date.parse(at)) / 1000;
  const sign = status === "completed" ? UNICODE.done : status === "failed" ? UNICODE.failed : UNICODE.warning;
  return [
    `  ${clockSeconds(Date.parse(at))} ${mark(sameAsNow)} ${visibleLine(title)}`,
    ...(row.kind === "turn" && agent !== null
      ? [`      ${UNICODE.agent} ${visibleLine(agent)} (${seconds.toFixed(1)}s) ${sign}`]
      : []),
    ...(modified + added + deleted > 0 ? [`      ${TIMELINE.files(modified, added, deleted)}`] : []),
  ];
}

function mark(isCurrent: boolean | null): string {
  return isCurrent === true ? UNICODE.current : UNICODE.other;
}

/** A line with the day, where it is another than that of the row above it; today needs none. */
function dayLine({ at }: Row, above: Row | undefined): string[] {
  const day = (moment: number) => dayAndTime(moment).slice(0, 10);
  const here = day(Date.parse(at));
  return here === (above === undefined ? day(Date.now()) : day(Date.parse(above.at))) ? [] : [here];
}

function currentTitle({ rows, now }: History): string {
  const current = rows.find(({ sameAsNow }) => sameAsNow === true);
  return current === undefined ? TIMELINE.now(now?.changed ?? null) : visibleLine(current.title);
}
