/** Undo, redo and undo only this: the box names the step, whose it is, what would change and what stays. */
import { useState, type ReactNode } from "react";
import { useSource } from "../../data/source.tsx";
import { Lines, useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { box, fit, line, lineWidth, pad, span, type Line } from "../../frame/line.ts";
import { conflictReason, fileRemarks, SIGNS, stayLines, stepQuestion } from "../../plans/plan-text.ts";
import type { Conflict, Plan, PlanFile, PlanRequest } from "../../plans/plan.ts";
import { resultText } from "../../plans/result-text.ts";
import { lineCountColumns, lineCounts } from "../../text/line-counts.ts";
import { count, grouped } from "../../text/quantity.ts";
import { displayWidth } from "../../text/display-width.ts";
import { visibleLine } from "../../text/visible.ts";
import { wrap } from "../../text/wrap.ts";
import { GOING_BACK, STEPS, VERBS } from "../../words.ts";
import { ConflictScreen } from "../conflicts/conflict-screen.tsx";
import { inRoom } from "./in-room.ts";
import { openPlanDiff } from "./open-plan-diff.tsx";
import { RunningPlan } from "./running-plan.tsx";
import { sayResult } from "./say-result.ts";
import { useHeld } from "./use-held.ts";
import { usePlan } from "./use-plans.ts";

/** Which step moves. */
export interface StepProps {
  readonly kind: "undo" | "redo" | "revert";
  /** The row of an undo of only this. */
  readonly target?: string;
  /** Only a part of it. */
  readonly part?: Pick<PlanRequest, "paths" | "hunks" | "basedOn">;
}

const WIDTH = 64;

/** The screen that previews an undo, a redo or the undoing of one step, and carries it out. */
export function StepScreen({ kind, target, part }: StepProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const [steps, setSteps] = useState(1);
  const [remark, setRemark] = useState<string>();
  const [running, setRunning] = useState<{ plan: Plan; bestEffort: boolean }>();
  const request: PlanRequest = target === undefined ? { kind, count: steps } : { kind, target, ...part };
  const { plan, isCurrent, error, code, again } = usePlan(request);
  const held = useHeld();
  const run = (bestEffort: boolean) =>
    isCurrent && plan && held.isPressed() && setRunning({ plan, bestEffort });
  const refused = (text: string | undefined) => {
    held.refuse();
    setRemark(text);
    setRunning(undefined);
    again();
  };
  const missing = isCurrent && code === "STEPS_MISSING" && steps > 1;
  const keys =
    running !== undefined
      ? []
      : missing
        ? [{ keys: ["esc", "enter", "-"], run: () => setSteps(steps - 1) }]
        : plan && plan.conflictsTotal > 0
          ? refusalKeys(frame, plan, { run: () => run(true), request })
          : questionKeys(frame, {
              kind,
              plan: isCurrent ? plan : undefined,
              run: () => run(false),
              more: () => setSteps(steps + 1),
            });
  useKeys(keys);
  if (running !== undefined)
    return (
      <RunningPlan
        {...running}
        done={(outcome) => {
          sayResult(frame, resultText(running.plan, outcome));
          frame.closeToFirst();
        }}
        stale={() => refused(GOING_BACK.stale)}
        conflicts={() => refused(undefined)}
        failed={refused}
      />
    );
  const width = Math.min(Math.max(WIDTH, widthFor(plan, frame)), frame.columns);
  const inside = width - 4;
  const body =
    plan === undefined
      ? waitingLines(error, { inside, missing })
      : plan === null
        ? [line(STEPS.nothing[kind]), [], line(STEPS.close)]
        : plan.conflictsTotal > 0
          ? refusalLines(plan, frame, { inside, clock: source.place.clock() })
          : questionLines(plan, { kind, frame, inside, remark });
  return <Lines lines={box(body, { width, signs: frame.signs })} />;
}

function waitingLines(
  error: string | undefined,
  { inside, missing }: { inside: number; missing: boolean },
): Line[] {
  if (error === undefined) return [line(GOING_BACK.planning)];
  const text = wrap(visibleLine(missing ? GOING_BACK.noEarlier : error), inside).split("\n");
  return [...text.map((each) => line(each)), [], line(STEPS.close)];
}

function questionKeys(
  frame: Frame,
  {
    kind,
    plan,
    run,
    more,
  }: { kind: StepProps["kind"]; plan: Plan | null | undefined; run: () => void; more: () => void },
): Binding[] {
  const [first] = plan?.files ?? [];
  return [
    { keys: ["y"], run },
    { keys: ["d"], run: () => plan && first && openPlanDiff(frame, plan, first) },
    ...(kind === "revert" ? [] : [{ keys: ["+"], run: () => plan && more() }]),
    { keys: ["esc"], run: () => frame.close() },
  ];
}

function questionLines(
  plan: Plan,
  {
    kind,
    frame,
    inside,
    remark,
  }: { kind: StepProps["kind"]; frame: Frame; inside: number; remark: string | undefined },
): Line[] {
  const [title = "", ...prompts] = stepQuestion(plan, kind);
  const stays = stayLines(plan).flatMap((text) => wrapped(text, inside - 2));
  const remarks =
    remark === undefined
      ? []
      : wrapped(remark, inside - 2).map((text) => line(`  ${text}`, { colour: "yellow" }));
  const answers = [
    `y ${VERBS[kind].ask} ${plan.filesTotal === 0 ? GOING_BACK.noFile : count(plan.filesTotal, "file")}`,
    ...(plan.filesTotal > 0 ? ["d diff"] : []),
    ...(kind === "revert" ? [] : ["+ one more step"]),
    "Esc cancel",
  ];
  const answerLines = inLines(answers, inside - 2).map((text) => line(`  ${text}`));
  const head = [
    ...wrapped(title, inside).map((text) => line(text, { bold: true })),
    ...prompts.map((text) => line(text)),
  ];
  const stayed = stays.map((text) => line(`  ${text}`));
  const others = [head, stayed, remarks, answerLines].filter((lines) => lines.length > 0);
  const fixed = others.flat().length + others.length;
  const files = fileLines(plan, { inside, frame, most: Math.max(1, frame.rows - EDGES - fixed) });
  return inRoom(
    [
      { lines: head, least: head.length - prompts.length },
      { lines: files, least: 1 },
      { lines: stayed, least: 0 },
      { lines: remarks, least: remarks.length },
      { lines: answerLines, least: answerLines.length },
    ],
    frame.rows - EDGES,
  );
}

/** The upper and the lower edge of a box. */
const EDGES = 2;

/** The files with their signs; what does not fit is counted. */
function fileLines(
  { files, filesTotal }: Plan,
  { inside, frame, most }: { inside: number; frame: Frame; most: number },
): Line[] {
  const shown = filesTotal > most ? files.slice(0, Math.max(1, most - 1)) : files;
  const column = Math.min(widestName(shown), Math.floor(inside / 2));
  const countsOf = lineCountColumns(shown);
  const lines = shown.map((file) => fit(fileLine(file, { column, frame, countsOf }), inside, frame.signs));
  const hidden = filesTotal - shown.length;
  return hidden > 0 ? [...lines, line(`  ${GOING_BACK.more(grouped(hidden))}`)] : lines;
}

const COLOURS = { delete: "red", change: "yellow", create: "green", mode: "cyan" } as const;

function widestName(files: readonly PlanFile[]): number {
  return Math.max(...files.map(({ path }) => displayWidth(visibleLine(path))), 0);
}

/** The width at which no line of a box is cut, as far as its files go. */
function widthFor(plan: Plan | null | undefined, frame: Frame): number {
  if (plan === undefined || plan === null || plan.conflictsTotal > 0) return 0;
  const files = plan.files.slice(0, frame.rows);
  const place = { column: widestName(files), frame, countsOf: lineCountColumns(files) };
  return Math.max(...files.map((file) => lineWidth(fileLine(file, place))), 0) + 4;
}

interface FileColumns {
  readonly column: number;
  readonly frame: Frame;
  readonly countsOf: ReturnType<typeof lineCountColumns>;
}

function fileLine(file: PlanFile, { column, frame: { signs }, countsOf }: FileColumns): Line {
  const name = [
    span(`  ${SIGNS[file.change]} `, { colour: COLOURS[file.change] }),
    span(visibleLine(file.path)),
  ];
  const what = file.change === "change" ? "" : GOING_BACK.changed[file.change];
  // a word in place of the counts needs no column for them
  const counts = fileRemarks(file, file.change === "change" ? countsOf : lineCounts);
  const remarks = [what, counts].filter((part) => part !== "").join("  ");
  const end = column + 8;
  return lineWidth(name) <= end - 2
    ? [...pad(name, end, signs), span(remarks, { dim: true })]
    : [...name, span(`  ${remarks}`, { dim: true })];
}

function refusalKeys(
  frame: Frame,
  plan: Plan,
  { run, request }: { run: () => void; request: PlanRequest },
): Binding[] {
  return [
    {
      keys: ["enter"],
      run: () => frame.open(<ConflictScreen plan={plan} request={request} />, { question: true }),
    },
    ...(plan.filesTotal > 0 ? [{ keys: ["b"], run }] : []),
    { keys: ["esc"], run: () => frame.close() },
  ];
}

function refusalLines(
  plan: Plan,
  { rows, signs }: Frame,
  { inside, clock }: { readonly inside: number; readonly clock: number },
): Line[] {
  const { kind, conflicts, conflictsTotal, filesTotal } = plan;
  const answers = [
    "Enter decide for each",
    ...(filesTotal > 0 ? [`b ${VERBS[kind].ask} the other ${grouped(filesTotal)}`] : []),
    "Esc leave it",
  ];
  const title = GOING_BACK.conflicts(VERBS[kind].not, conflictsTotal, conflictsTotal + filesTotal);
  const head = [
    ...wrapped(title, inside).map((text) => line(text, { bold: true })),
    line(GOING_BACK.nothingChanged),
  ];
  const answerLines = inLines(answers, inside - 2).map((text) => line(`  ${text}`));
  const room = Math.max(1, rows - EDGES - head.length - answerLines.length - 2);
  const shown = conflicts.slice(0, conflictsTotal > room ? Math.max(1, room - 1) : room);
  const hidden = conflictsTotal - shown.length;
  const paths = [
    ...shown
      .flatMap((conflict) => conflictLines(conflict, inside, clock))
      .map((each) => fit(each, inside, signs)),
    ...(hidden > 0 ? [line(`    ${GOING_BACK.more(grouped(hidden))}`)] : []),
  ];
  return inRoom(
    [
      { lines: head, least: head.length },
      { lines: paths, least: 1 },
      { lines: answerLines, least: answerLines.length },
    ],
    rows - EDGES,
  );
}

/** A path and its reason, below each other where one line is too short. */
function conflictLines(conflict: Conflict, inside: number, clock: number): Line[] {
  const name = `    ${visibleLine(conflict.path).padEnd(Math.min(26, inside))}`;
  const reason = conflictReason(conflict, clock);
  if (displayWidth(name) + displayWidth(reason) <= inside) return [[span(name), span(reason, { dim: true })]];
  return [
    line(name.trimEnd()),
    ...wrapped(reason, inside - 6).map((part) => line(`      ${part}`, { dim: true })),
  ];
}

function wrapped(text: string, width: number): string[] {
  return wrap(text, width).split("\n");
}

/** Answers side by side, as many to a line as fit. */
function inLines(answers: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const answer of answers) {
    const longer = `${lines.at(-1) ?? ""}   ${answer}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(answer);
  }
  return lines;
}
