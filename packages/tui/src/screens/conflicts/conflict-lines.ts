/** A conflict as lines: both sides next to each other, the options, the result of one. */
import { box, fit, line, pad, span, withRemark, type Line } from "../../frame/line.ts";
import type { ConflictQuestion, ConflictQuestions, ConflictSide } from "../../questions/conflicts.ts";
import type { Signs } from "../../terminal/signs.ts";
import { visibleLine } from "../../text/visible.ts";
import { CONFLICTS } from "../../words.ts";

/** What is on the screen. */
export interface ConflictView {
  readonly questions: ConflictQuestions;
  /** The conflict that is shown. */
  readonly at: number;
  /** The option under the pointer. */
  readonly pointed: number;
  /** What was chosen so far. */
  readonly answers: readonly (string | undefined)[];
  /** The lines that the pointed option leads to take the place of the sides. */
  readonly result: readonly string[] | undefined;
  readonly width: number;
  readonly rows: number;
  readonly signs: Signs;
}

/** The head: which conflict, of what. */
export function conflictHead({ questions, at, width, signs }: ConflictView): Line[] {
  const { title, conflicts } = questions;
  return box([line(title)], { width, signs, title: CONFLICTS.title(at + 1, conflicts.length) });
}

/** The path and the reason, the titles of the sides, and the empty lines between. */
const FIXED_LINES = 6;
/** With fewer lines of each side there is nothing to decide by. */
const FEWEST_LINES = 3;

/** The conflict, its sides and options. */
export function conflictBody(view: ConflictView): Line[] {
  const { questions, at, width, signs, rows } = view;
  const conflict = questions.conflicts[at]!;
  const place = conflict.place === "" ? "" : `, ${conflict.place}`;
  const options = optionLines(view, conflict);
  const room = rows - FIXED_LINES - options.length;
  const decided = decidedLines(view);
  // what needs no decision gives way to what does
  const shown = room - decided.length >= FEWEST_LINES ? decided : [];
  const height = Math.max(1, room - shown.length);
  return [
    withRemark(line(`  ${visibleLine(conflict.path)}${place}`), line(`[${conflict.severity}]`), {
      width,
      signs,
    }),
    fit(line(`  ${visibleLine(conflict.why)}`), width, signs),
    [],
    ...(view.result === undefined
      ? sideLines(conflict, height, view)
      : resultLines(view.result, height, view)),
    [],
    ...options,
    ...shown,
  ];
}

function decidedLines({ questions, width, signs }: ConflictView): Line[] {
  const lines = questions.decided.map((text) =>
    fit(line(`  ${visibleLine(text)}`, { dim: true }), width, signs),
  );
  return lines.length === 0 ? [] : [[], ...lines];
}

/** Every decision, before anything is written. */
export function summaryBody({ questions, answers, width, signs }: ConflictView): Line[] {
  const lines = questions.conflicts.map((conflict, index) => {
    const option = conflict.options.find(({ id }) => id === answers[index]);
    return fit(
      [span(`    ${visibleLine(conflict.path)}  `), span(option?.text ?? "", { dim: true })],
      width,
      signs,
    );
  });
  return [
    line(`  ${CONFLICTS.summary}`),
    [],
    ...lines,
    ...questions.decided.map((text) => line(`    ${visibleLine(text)}`, { dim: true })),
  ];
}

function sideLines({ sides }: ConflictQuestion, room: number, { width, signs }: ConflictView): Line[] {
  const [left, right] = sides;
  const column = Math.floor((width - 3) / 2);
  const height = Math.max(1, Math.min(room, Math.max(left.lines.length, right.lines.length)));
  const row = (a: Line, b: Line): Line => [
    ...pad(a, column, signs),
    span(` ${signs.upright} `, { dim: true }),
    ...fit(b, width - column - 3, signs),
  ];
  const text = ({ lines }: ConflictSide, index: number): string => {
    const isLast = height > 1 && index === height - 1 && lines.length > height;
    return isLast ? CONFLICTS.moreLines(lines.length - height + 1) : visibleLine(lines[index] ?? "");
  };
  return [
    row(line(`  ${left.title}`, { bold: true }), line(right.title, { bold: true })),
    line(
      `  ${signs.across.repeat(Math.max(0, column - 1))}${signs.crossing}${signs.across.repeat(Math.max(0, width - column - 4))}`,
      { dim: true },
    ),
    ...Array.from({ length: height }, (_, index) =>
      row(line(`  ${text(left, index)}`), line(text(right, index))),
    ),
  ];
}

function resultLines(result: readonly string[], room: number, { width, signs }: ConflictView): Line[] {
  const shown = result.slice(0, room + 1);
  const lines =
    shown.length === 0
      ? [line(`  ${CONFLICTS.noLines}`, { dim: true })]
      : shown.map((text) => fit(line(`  ${visibleLine(text)}`), width, signs));
  return [line(`  ${CONFLICTS.result}`, { bold: true }), ...lines];
}

function optionLines(
  { pointed, answers, at, width, signs }: ConflictView,
  { options }: ConflictQuestion,
): Line[] {
  return options.map(({ id, text }, index) => {
    const isPointed = index === pointed;
    const chosen = answers[at] === id ? `  ${signs.done}` : "";
    const look = isPointed ? ({ colour: "cyan", bold: true } as const) : {};
    return fit(
      [span(`${isPointed ? signs.pointer : " "} ${index + 1}  ${visibleLine(text)}${chosen}`, look)],
      width,
      signs,
    );
  });
}
