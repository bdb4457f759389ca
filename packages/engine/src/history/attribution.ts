/**
 * Whose doing a change is. Between two captures somebody was at work: tool calls that were open, and turns
 * of threads that do not say when their tools run. One of them: it is its doing. Several: that of the one
 * whose input names the path, else shared. None: somebody outside.
 */
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import type { Attribution } from "./changes.ts";
import { findStep, openStep, openSteps } from "./steps.ts";
import { bracketsTools, moveCalls, openCalls } from "./tool-calls.ts";

/** A step that was at work, and the paths it said it would write. */
interface Window {
  readonly step: string;
  readonly names: readonly BytePath[];
}

export interface AttributedEdit extends Edit, Attribution {}

/** The changes of a capture, each with its author. `bracketing`: a thread that is about to run its first tool. */
export function attributeChanges(
  db: Database,
  changes: readonly Edit[],
  moment: { now: number; bracketing?: ThreadId | undefined },
): { changes: AttributedEdit[]; windows: string[] } {
  const windows = openWindows(db, moment);
  const steps = [...new Set(windows.map(({ step }) => step))];
  return {
    changes: changes.map((change) => ({ ...change, ...authorOf(change, windows, steps) })),
    windows: steps,
  };
}

function openWindows(db: Database, moment: { now: number; bracketing?: ThreadId | undefined }): Window[] {
  const calls = openCalls(db, moment.now).flatMap(({ step, paths }) =>
    step === null ? [] : [{ step, names: paths }],
  );
  const turns = openSteps(db)
    .filter((step) => step.thread !== moment.bracketing && !bracketsTools(db, step))
    .map(({ id }) => ({ step: id, names: [] }));
  return [...calls, ...turns];
}

function authorOf({ path }: Edit, windows: readonly Window[], steps: readonly string[]): Attribution {
  if (steps.length === 0) return { attribution: "outside", step: null };
  if (steps.length === 1) return { attribution: "tool", step: steps[0]! };
  const named = new Set(
    windows.filter(({ names }) => names.some((name) => covers(name, path))).map(({ step }) => step),
  );
  return named.size === 1
    ? { attribution: "tool", step: [...named][0]! }
    : { attribution: "shared", step: null };
}

/** The path itself, what is below it, and the directories that had to be made for it. */
function covers(name: BytePath, path: BytePath): boolean {
  return isAtOrBelow(path, name) || isAtOrBelow(name, path);
}

/** What still works in a turn that was undone does not belong to what was undone: it goes on as a turn of its own. */
export function continueUndone(
  db: Database,
  fresh: { newId: () => string; now: number; before: number },
): void {
  for (const { step: id } of openCalls(db, fresh.now)) {
    const step = id === null ? undefined : findStep(db, id);
    if (step === undefined || step.state !== "undone") continue;
    const next = fresh.newId();
    openStep(db, { ...step, id: next, before: fresh.before, now: fresh.now });
    moveCalls(db, step.id, next);
  }
}
