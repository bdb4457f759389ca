/** One turn for people: who, when, what it changed and with which tool calls. */
import type { FileChange, TimelineRow, TimelineStep } from "@belay/engine";
import { clockTime, count, dayAndTime, fitLine, relativeTime } from "@belay/tui/text";
import { changesText } from "./checkpoint-table.ts";
import { factTable, section } from "./facts.ts";
import { changedFileList, listText } from "./file-list.ts";
import { linesPaint, linesText, stateText } from "./history-table.ts";
import type { Output } from "./output.ts";
import { table } from "./table.ts";
import { visible } from "./visible.ts";

/** A turn with everything that is known of it. */
export interface ShownTurn {
  readonly row: TimelineRow;
  readonly files: readonly FileChange[];
  readonly steps: readonly TimelineStep[];
}

/** The text of a turn; with `patch` its lines follow, and the list of files is left out. */
export function turnText(
  turn: ShownTurn,
  output: Output,
  { all, patch }: { readonly all: boolean | undefined; readonly patch: boolean },
): string {
  const { row, files, steps } = turn;
  const { style } = output;
  const head = `${style.bold(row.ref)}  ${style.bold(visible(row.title))}`;
  const parts = [fitLine(head, output.width, "    "), factTable(factsOf(row, output), output)];
  if (files.length > 0 && !patch) parts.push(section("Changed", changedFileList(files, output, all), output));
  // a turn without tools, such as that of `belay run`, has one capture: its end
  if (steps.some(({ tool }) => tool !== null))
    parts.push(section("Steps", stepList(turn, output, all), output));
  if (!output.quiet && !patch)
    parts.push(`\n${fitLine(`${style.dim("→")} ${nextSteps(row)}`, output.width, "  ")}`);
  return parts.join("\n");
}

function factsOf(row: TimelineRow, { style }: Output) {
  const { agent, thread, name, note, tags, shared, gaps, late } = row;
  const files = row.added + row.modified + row.deleted;
  const lines = linesText(row);
  return [
    name === null ? undefined : (["name", style.bold(visible(name))] as const),
    agent === null ? undefined : (["agent", `${visible(agent)} ${style.dim(`thread ${thread}`)}`] as const),
    ["when", whenText(row)] as const,
    stateText(row) === "" ? undefined : (["state", stateText(row)] as const),
    note === null ? undefined : (["note", visible(note)] as const),
    tags.length === 0 ? undefined : (["tags", tags.map(visible).join(", ")] as const),
    [
      "changes",
      files === 0
        ? "nothing"
        : `${count(files, "file")} (${changesText(row)})${lines === "" ? "" : `, lines ${linesPaint(style)(lines)}`}`,
    ] as const,
    shared === 0
      ? undefined
      : (["shared", `${count(shared, "file")} that another turn may have changed instead`] as const),
    gaps === 0 ? undefined : (["not captured", style.yellow(count(gaps, "file"))] as const),
    late === 0 ? undefined : (["late", style.yellow(`${count(late, "file")} captured too late`)] as const),
    row.pruned
      ? (["undo", "no longer possible: checkpoints that it needs were dropped"] as const)
      : undefined,
  ];
}

function whenText({ at, endedAt }: TimelineRow): string {
  const began = `${relativeTime(at)} (${dayAndTime(at)}`;
  if (endedAt === null) return `${began}, under way)`;
  return `${began} to ${clockTime(endedAt, at)}, ${spanText(endedAt - at)})`;
}

/** 12 s, 3 min, 1 h 5 min */
function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function stepList({ row, steps }: ShownTurn, output: Output, all: boolean | undefined): string {
  const { style } = output;
  return listText(steps, { output, all }, (shown) =>
    table(
      shown.map((step) => [
        { text: offsetText(step.at - row.at), paint: style.dim },
        { text: visible(step.tool ?? "found later") },
        { text: visible(step.summary ?? count(step.added + step.modified + step.deleted, "file")) },
        { text: linesText(step), paint: linesPaint(style) },
      ]),
      { width: output.width, indent: "  ", flexible: 2, right: [0, 3] },
    ),
  );
}

/** From the beginning of the turn: 0:05, 12:40. */
function offsetText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function nextSteps({ ref, before, state, pruned }: TimelineRow): string {
  const lines = `\`belay show ${ref} -p\` shows the lines`;
  const restore = before === null ? "" : `; \`belay restore ${ref}\` goes back to before it`;
  const only = pruned || state === "undone" ? "" : `; \`belay revert ${ref}\` takes out only it`;
  return `${lines}${restore}${only}.`;
}

/** The state before a turn inside a sentence: `before “Add retry…” (T3, 10:42)`. */
export function beforeTurnLabel({ ref, title, at }: TimelineRow, { style }: Pick<Output, "style">): string {
  return `before ${turnLabel({ ref, title }, { style })} ${style.dim(clockTime(at))}`;
}

/** A turn inside a sentence: `T3 “Add retry…”`. */
export function turnLabel(
  { ref, title }: Pick<TimelineRow, "ref" | "title">,
  { style }: Pick<Output, "style">,
): string {
  return `${style.bold(ref)} “${visible(title)}”`;
}
