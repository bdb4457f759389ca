/** Conflicts for people: each path with its reason, and the lines of both sides. */
import type { Conflict, ConflictSide } from "@belay/engine";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { conflictWords, count } from "@belay/tui/text";
import { stepLabel } from "../output/step-label.ts";
import { visibleLine } from "@belay/tui/text";
import { visible, visiblePath } from "../output/visible.ts";
import type { WayOut } from "./ways-out.ts";

/** The conflicts of a plan as a list for the terminal. */
export function conflictList(
  conflicts: readonly Conflict[],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(conflicts, { output, all }, (shown) =>
    shown.map((conflict) => conflictText(conflict, output)).join("\n"),
  );
}

function conflictText(conflict: Conflict, { style }: Output): string {
  const { path, sharedWith, ours, theirs } = conflict;
  const line = ours?.line ?? null;
  const place = line === null ? "" : `:${line}`;
  const why =
    sharedWith === undefined || sharedWith.length === 0
      ? conflictWords(conflict, Date.now())
      : `changed while ${sharedWith.map(stepLabel).join(" and ")} was at work too`;
  const head = `  ${visiblePath(path)}${place}  ${style.dim(why)}`;
  if (ours === undefined || theirs === undefined) return head;
  return [head, ...sideLines("now", ours, style.red), ...sideLines("wanted", theirs, style.green)].join("\n");
}

const LABEL_WIDTH = "wanted".length;

function sideLines(label: string, side: ConflictSide, paint: (text: string) => string): string[] {
  const more = side.more > 0 ? [`… and ${count(side.more, "more line")}`] : [];
  const lines =
    side.line === null || side.lines.length === 0 ? [withoutLines(side)] : side.lines.map(visibleLine);
  return [...lines, ...more].map(
    (line, index) => `    ${(index === 0 ? label : "").padEnd(LABEL_WIDTH)} │ ${paint(line)}`,
  );
}

const WITHOUT_LINES: Readonly<Record<ConflictSide["kind"], string>> = {
  absent: "(no file)",
  file: "(binary or large)",
  symlink: "(a link)",
  directory: "(a directory)",
  gap: "(not captured)",
};

function withoutLines({ kind, line }: ConflictSide): string {
  return line === null ? WITHOUT_LINES[kind] : "(these lines are not there)";
}

/** The commands that resolve the conflicts, one per line. */
export function waysOutText(ways: readonly WayOut[], { style }: Output): string {
  return ways.map(({ command, does }) => `${style.dim("→")} \`${visible(command)}\` ${does}.`).join("\n");
}
