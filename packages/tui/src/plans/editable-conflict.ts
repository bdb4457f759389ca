/** A conflict as a text to edit: both sides whole, marked where they differ. */
import type { CallOutput } from "@belay/protocol";
import type { Caller, Conflict } from "./plan.ts";

type FileDiff = CallOutput<"GET /api/checkpoints/:a/files/:b/diff">;

/** Enough for all unchanged lines. */
const WHOLE_FILE = 100_000;
const MARKS = { disk: "<<<<<<< on disk now", middle: "=======", plan: ">>>>>>> wanted" } as const;

/** A text with marks, and the line of the first one. */
export interface EditableConflict {
  readonly text: string;
  readonly line: number;
}

/** Undefined where there is no text to edit: binary or large content, no file on a side, or bytes that are not UTF-8. */
export async function editableConflict(
  caller: Caller,
  workspace: string,
  { path, pathBase64, restoreFrom, ours, theirs }: Conflict,
): Promise<EditableConflict | undefined> {
  if (restoreFrom === undefined || ours?.kind !== "file" || theirs?.kind !== "file") return undefined;
  const diff = await caller.call("GET /api/checkpoints/:a/files/:b/diff", {
    params: { a: restoreFrom, b: "disk" },
    query: {
      workspace,
      ...(pathBase64 === undefined ? { path } : { pathBase64 }),
      context: WHOLE_FILE,
      large: "1",
    },
  });
  const isWhole = !diff.truncated && diff.hunks.length === 1 && diff.hunks[0]!.newStart <= 1;
  if (!isWhole || hasLostBytes(diff)) return undefined;
  return withMarks(diff.hunks[0]!.lines);
}

/** Whether all conflict marks were taken out of a text. */
export function isResolved(text: string): boolean {
  return !text.split("\n").some((line) => line === MARKS.disk || line === MARKS.plan);
}

/** The differing stretches, each with what is on disk first. */
function withMarks(lines: FileDiff["hunks"][number]["lines"]): EditableConflict {
  const text: string[] = [];
  let first = 0;
  for (let index = 0; index < lines.length;) {
    if (lines[index]!.type === " ") {
      text.push(lines[index]!.text);
      index += 1;
      continue;
    }
    const end = lines.findIndex((line, at) => at >= index && line.type === " ");
    const stretch = lines.slice(index, end < 0 ? undefined : end);
    const side = (type: "+" | "-") => stretch.filter((line) => line.type === type).map((line) => line.text);
    first ||= text.length + 1;
    text.push(MARKS.disk, ...side("+"), MARKS.middle, ...side("-"), MARKS.plan);
    index += stretch.length;
  }
  const ends = lines.filter(({ type }) => type !== "-").at(-1);
  return { text: text.join("\n") + (ends?.noNewline === true ? "" : "\n"), line: Math.max(1, first) };
}

function hasLostBytes({ hunks }: FileDiff): boolean {
  return hunks.some(({ lines }) => lines.some(({ text }) => text.includes("\ufffd")));
}
