/** Checkpoints as rows: number, id, age, kind, name or description, changes. */
import { summarisePrompt as summarise } from "@belay/agents/uncaptured";
import type { Checkpoint, UncapturedTurn } from "@belay/engine";
import type { Output } from "./output.ts";
import { count, relativeTime } from "@belay/tui/text";
import type { Paint, Style } from "./style.ts";
import { table, type Cell } from "./table.ts";
import { visible } from "./visible.ts";

const [KIND, TITLE, CHANGES] = [3, 4, 5];

/** Newest first. Uncaptured turns are above the checkpoint they came after. */
export function checkpointTable(
  checkpoints: readonly Checkpoint[],
  output: Output,
  uncaptured: readonly UncapturedTurn[] = [],
): string {
  const letters = prefixLength(checkpoints.map(({ id }) => id));
  const left = [...uncaptured];
  const rows = checkpoints.flatMap((checkpoint) => {
    const later = left.findIndex(({ after }) => after < checkpoint.seq);
    const above = left.splice(0, later < 0 ? left.length : later);
    return [
      ...above.map((turn) => uncapturedRow(turn, output.style)),
      row(checkpoint, letters, output.style),
    ];
  });
  const oldest = left.map((turn) => uncapturedRow(turn, output.style));
  const { width } = output;
  return table([...rows, ...oldest], { width, flexible: TITLE, right: [0], dispensable: [KIND, CHANGES] });
}

function uncapturedRow({ at, prompt, problem }: UncapturedTurn, style: Style): Cell[] {
  const what = prompt === null ? "" : `: ${summarise(visible(prompt))}`;
  return [
    { text: "!", paint: style.red },
    { text: "" },
    { text: relativeTime(at) },
    { text: "lost", paint: style.red },
    { text: `not captured${what} (${visible(problem)})` },
    { text: "" },
  ];
}

/** A checkpoint's name inside a sentence: `12 kqzvnwxy "before the refactoring"`. */
export function checkpointLabel(checkpoint: Checkpoint, style: Style): string {
  const title = checkpoint.name === null ? visible(checkpoint.description) : `"${visible(checkpoint.name)}"`;
  return `${style.bold(String(checkpoint.seq))} ${style.dim(checkpoint.id.slice(0, SHORT_ID))} ${title}`;
}

/** How many entries were added, changed and deleted: `+1 ~2 -0`. */
export function changesText({ added, modified, deleted }: Checkpoint["changes"]): string {
  return `+${added} ~${modified} -${deleted}`;
}

/** How many files changed: `3 files` */
export function changedFilesText({ added, modified, deleted }: Checkpoint["changes"]): string {
  return count(added + modified + deleted, "file");
}

/** Colours `+1 ~2 -0`; zeros are dimmed. */
export function changesPaint(style: Style): Paint {
  return (text) =>
    text.replace(/[+~-]\d+/g, (part) => {
      if (part.endsWith("0") && part.length === 2) return style.dim(part);
      return part.startsWith("+")
        ? style.green(part)
        : part.startsWith("-")
          ? style.red(part)
          : style.yellow(part);
    });
}

const SHORT_ID = 8;

/** Eight letters distinguish checkpoints; more are shown only if they do not. */
function prefixLength(ids: readonly string[]): number {
  let length = SHORT_ID;
  while (length < 16 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1;
  return length;
}

function row(checkpoint: Checkpoint, letters: number, style: Style): Cell[] {
  return [
    { text: String(checkpoint.seq), paint: style.bold },
    { text: checkpoint.id.slice(0, letters), paint: style.dim },
    { text: relativeTime(checkpoint.createdAt) },
    { text: checkpoint.kind, paint: kindPaint(checkpoint, style) },
    { text: titleText(checkpoint), paint: titlePaint(checkpoint, style) },
    { text: lastCell(checkpoint), paint: changesPaint(style) },
  ];
}

/** The first checkpoint cannot be compared: it shows what it holds. */
function lastCell({ parents, files, changes }: Checkpoint): string {
  return parents.length === 0 ? count(files, "file") : changesText(changes);
}

function kindPaint({ kind }: Checkpoint, style: Style): Paint {
  if (kind === "manual") return style.cyan;
  return kind === "restore" || kind === "safety" ? style.yellow : style.blue;
}

function titleText(checkpoint: Checkpoint): string {
  const { name, description, tags, hasChanges, doubts, undoDropped } = checkpoint;
  const tooLate = TOO_LATE.filter((reason) => doubts.some((doubt) => doubt.reason === reason));
  return [
    ...(hasChanges === true ? ["•"] : []),
    visible(name ?? description),
    ...tooLate.map((reason) => `(${reason})`),
    ...(undoDropped === true ? ["(no undo)"] : []),
    ...tags.map((tag) => `[${visible(tag)}]`),
  ].join(" ");
}

/** Doubts about the checkpoint as a whole: part of it is from a later moment. */
const TOO_LATE = ["late", "missed"] as const;

function titlePaint({ name, rolledBack }: Checkpoint, style: Style): Paint {
  if (rolledBack) return style.dim;
  return name === null ? (text) => text : style.bold;
}
