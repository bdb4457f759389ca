/**
 * The chooser: one conflict after the other, then a summary that only `y` answers. Nothing is written before that, and
 * leaving it leaves everything as it is.
 */
import { useState, type ReactNode } from "react";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import type { ConflictAnswers, ConflictQuestions } from "../../questions/conflicts.ts";
import { CONFLICTS } from "../../words.ts";
import { conflictBody, conflictHead, summaryBody } from "./conflict-lines.ts";

/** What is asked, and what follows. */
export interface ChooserProps {
  readonly questions: ConflictQuestions;
  /** All are decided; undefined: one was taken up again. Nothing is written yet. */
  answered(answers: ConflictAnswers | undefined): void;
  /** What y in the summary does; undefined while it is being worked out. */
  readonly apply: (() => void) | undefined;
  left(): void;
  /** Called when an option was chosen; false: it does not count, the reason was said. */
  choose?(conflict: number, option: string): Promise<boolean>;
  readonly remark?: string | undefined;
}

/** Asks for each conflict. */
export function ConflictChooser(props: ChooserProps): ReactNode {
  const { questions, remark } = props;
  const frame = useFrame();
  const choosing = useChoosing(props);
  const { at, isSummary, options, pointed, answers, isResult } = choosing;
  const keys = useKeys(isSummary ? summaryKeys(props, choosing) : chooseKeys(frame, props, choosing));
  const result = isResult ? (options[pointed]?.result ?? []) : undefined;
  const { columns: width, signs } = frame;
  const view = { questions, at, pointed, answers, result, width, rows: 0, signs };
  const head = conflictHead({ ...view, at: Math.min(at, questions.conflicts.length - 1) });
  const foot = remark === undefined ? [] : [line(`  ${remark}`, { colour: "yellow" })];
  const rows = bodyRows(frame, { head, foot, keys });
  const body = isSummary ? summaryBody(view) : conflictBody({ ...view, rows });
  return <Page head={head} body={body} foot={foot} keys={keys} />;
}

/** Where the person stands, and what was decided so far. */
function useChoosing({ questions, answered, choose }: ChooserProps) {
  const { conflicts } = questions;
  const [at, setAt] = useState(0);
  const [answers, setAnswers] = useState<readonly (string | undefined)[]>(conflicts.map(() => undefined));
  const [pointed, setPointed] = useState(0);
  const [isResult, setResult] = useState(false);
  const options = conflicts[at]?.options ?? [];
  const show = (next: number) => {
    setResult(false);
    setAt(next);
    setPointed(0);
  };
  return {
    at,
    answers,
    pointed,
    options,
    isResult,
    isSummary: at === conflicts.length,
    point: (index: number) => setPointed(Math.max(0, Math.min(options.length - 1, index))),
    toggleResult: () => setResult(!isResult),
    goTo: (next: number) => show(Math.max(0, Math.min(conflicts.length - 1, next))),
    back() {
      answered(undefined);
      show(0);
    },
    async take(index: number) {
      const option = options[index];
      if (option === undefined) return;
      setPointed(index);
      if (choose !== undefined && !(await choose(at, option.id))) return;
      const next = answers.map((answer, each) => (each === at ? option.id : answer));
      setAnswers(next);
      const open = next.indexOf(undefined);
      show(open < 0 ? conflicts.length : open);
      if (open < 0) answered(next.map((answer) => answer!));
    },
  };
}

type Choosing = ReturnType<typeof useChoosing>;

function chooseKeys({ signs }: Frame, { left }: ChooserProps, choosing: Choosing): Binding[] {
  const { at, options, pointed, point, goTo, take, toggleResult } = choosing;
  return [
    {
      keys: options.map((_, index) => String(index + 1)),
      hint: { key: `1-${options.length}`, text: CONFLICTS.chooseHint(signs.upDown) },
      run: (key) => void take(Number(key) - 1),
    },
    { keys: ["up"], run: () => point(pointed - 1) },
    { keys: ["down"], run: () => point(pointed + 1) },
    { keys: ["enter"], run: () => void take(pointed) },
    { keys: ["v"], hint: { text: "see the result" }, run: toggleResult },
    { keys: [".", ","], hint: { key: ". ,", text: "move" }, run: (key) => goTo(at + (key === "." ? 1 : -1)) },
    { keys: ["esc"], hint: { text: "leave all as it is" }, run: left },
  ];
}

function summaryKeys({ apply, left }: ChooserProps, { back }: Choosing): Binding[] {
  const text = apply === undefined ? CONFLICTS.planning : CONFLICTS.apply;
  return [
    { keys: ["y"], hint: { text }, run: () => apply?.() },
    { keys: [","], hint: { text: "back" }, run: back },
    { keys: ["esc"], hint: { text: "leave all as it is" }, run: left },
  ];
}
