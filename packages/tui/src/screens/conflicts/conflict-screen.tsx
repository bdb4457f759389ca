/** The conflicts of an undo, redo or reset: decided here, planned again with the decisions, carried out as one step. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useSource } from "../../data/source.tsx";
import { useFrame, type Frame } from "../../frame/frame.tsx";
import { conflictQuestions, DECISIONS } from "../../plans/conflict-questions.ts";
import type { ConflictAnswers } from "../../questions/conflicts.ts";
import { editableConflict, isResolved, type EditableConflict } from "../../plans/editable-conflict.ts";
import type { Plan, PlanRequest } from "../../plans/plan.ts";
import { resultText } from "../../plans/result-text.ts";
import { editorOf, editorWords, runEditor } from "../../terminal/editor.ts";
import { CONFLICTS, GOING_BACK } from "../../words.ts";
import { RunningPlan } from "../going-back/running-plan.tsx";
import { sayResult } from "../going-back/say-result.ts";
import { useHeld } from "../going-back/use-held.ts";
import { usePlan } from "../going-back/use-plans.ts";
import { ConflictChooser } from "./conflict-chooser.tsx";

/** The plan that was refused, and the request that made it. */
export interface ConflictProps {
  readonly plan: Plan;
  readonly request: PlanRequest;
  /** The state that files go back to, for a reset. */
  readonly words?: string;
}

type Decisions = NonNullable<PlanRequest["decisions"]>;

/** The screen on which conflicts are decided, one after another. */
export function ConflictScreen({ plan: refused, request, words = "" }: ConflictProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const [decisions, setDecisions] = useState<Decisions>();
  // read when all are decided, which may be before the screen is drawn again
  const texts = useRef(new Map<string, string>());
  const [remark, setRemark] = useState<string>();
  const [running, setRunning] = useState<Plan>();
  const held = useHeld();
  const editable = useEditable(refused);
  const planned = usePlan(decisions === undefined ? undefined : { ...request, decisions });
  const { plan } = planned;
  const problem = decisions === undefined ? remark : problemOf(planned, remark);
  const refusedAgain = (text: string) => {
    held.refuse();
    setRemark(text);
    setRunning(undefined);
    planned.again();
  };
  if (running !== undefined)
    return (
      <RunningPlan
        plan={running}
        done={(outcome) => {
          sayResult(frame, resultText(running, outcome, { words, isOwnStep: true }));
          frame.closeToFirst();
        }}
        stale={() => refusedAgain(GOING_BACK.stale)}
        conflicts={() => refusedAgain(CONFLICTS.again)}
        failed={refusedAgain}
      />
    );
  return (
    <ConflictChooser
      questions={conflictQuestions(refused, {
        editable: new Set(editable.keys()),
        clock: source.place.clock(),
      })}
      remark={problem}
      left={() => frame.close()}
      choose={async (index, option) => {
        setRemark(undefined);
        if (option !== DECISIONS.text) return true;
        const { path } = refused.conflicts[index]!;
        const text = await edit(frame, path, editable.get(path)!, texts.current.get(path));
        if (typeof text !== "string") setRemark(text.problem);
        else texts.current.set(path, text);
        return typeof text === "string";
      }}
      answered={(answers) => setDecisions(answers && decisionsOf(refused, answers, texts.current))}
      apply={
        planned.isCurrent && plan && plan.conflictsTotal === 0
          ? () => held.isPressed() && setRunning(plan)
          : undefined
      }
    />
  );
}

function problemOf(
  { plan, isCurrent, error }: ReturnType<typeof usePlan>,
  remark: string | undefined,
): string | undefined {
  if (!isCurrent) return remark;
  return error ?? (plan && plan.conflictsTotal > 0 ? CONFLICTS.again : remark);
}

function decisionsOf(
  { conflicts }: Plan,
  answers: ConflictAnswers,
  texts: ReadonlyMap<string, string>,
): Decisions {
  return conflicts.map(({ path, pathBase64 }, index) => {
    const name = pathBase64 === undefined ? { path } : { path, pathBase64 };
    const take = answers[index] as Decisions[number]["take"];
    if (take !== "text") return { ...name, take };
    const text = texts.get(path);
    // [N0] a text that was not written is never taken for an empty one
    if (text === undefined) throw new Error(`no text was written for ${path}`);
    return { ...name, take, text };
  });
}

/** The conflicts that have a text to edit, if there is an editor. */
function useEditable({ conflicts }: Plan): ReadonlyMap<string, EditableConflict> {
  const source = useSource();
  const [found, setFound] = useState<ReadonlyMap<string, EditableConflict>>(new Map());
  useEffect(() => {
    if (editorOf(process.env) === undefined) return;
    for (const conflict of conflicts)
      editableConflict(source, source.place.workspace, conflict).then(
        (text) => text && setFound((before) => new Map(before).set(conflict.path, text)),
        // without its text the option is not offered
        () => undefined,
      );
  }, [source, conflicts]);
  return found;
}

/** Opens the editor on a copy outside the workspace; what was saved there, or why it does not count. */
async function edit(
  frame: Frame,
  path: string,
  { text, line }: EditableConflict,
  earlier: string | undefined,
): Promise<string | { readonly problem: string }> {
  const directory = mkdtempSync(join(tmpdir(), "belay-conflict-"));
  const file = join(directory, basename(path));
  try {
    writeFileSync(file, earlier ?? text, { mode: 0o600 });
    const editor = editorOf(process.env)!;
    let ended = false;
    await frame.suspend(async () => void (ended = await runEditor(editor, editorWords(editor, file, line))));
    if (!ended) return { problem: CONFLICTS.editorFailed };
    const written = readFileSync(file, "utf8");
    return isResolved(written) ? written : { problem: CONFLICTS.marksLeft };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
