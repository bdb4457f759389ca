/**
 * Attributes changes to steps. Between two captures, tool calls were open, and turns of threads that do not
 * announce their tools. If one was open, the change is its own. If several were, it belongs to the one whose
 * input names the path, otherwise it is shared. If none was, it is outside. A call that ended without an
 * event counts for changes made in time, but is not certainly their author.
 */
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import type { Attribution } from "./changes.ts";
import { callsAtWork, isCallOver, isTurnOver, lastMoment, type Moment } from "./liveness.ts";
import { endOfCall, endOfTurn } from "./reported-ends.ts";
import { continueStep, findStep, isOvertaken, openSteps, type Step } from "./step-rows.ts";
import { bracketsTools, moveCalls, type ToolCall } from "./tool-calls.ts";

/** What is known when changes are attributed. */
export interface AttributionMoment extends Moment {
  /** When the file at a path was last changed; undefined when unknown. */
  changedAt(path: BytePath): number | undefined;
  /** The latest moment at which something can have gone from a path where nothing is. */
  goneBy(path: BytePath): number;
  /** A thread that is about to run its first tool. */
  readonly bracketing?: ThreadId | undefined;
  /** The call that ends with this capture; `unfinished`: no event reported its end. */
  readonly ended?: { readonly id: string; readonly unfinished: boolean } | undefined;
}

/** A step that may have made changes in this interval. */
interface Window {
  readonly step: string;
  /** The paths it announced. */
  readonly names: readonly BytePath[];
  /** The tool that ran, when it is doubtful that the step made changes it did not announce. */
  readonly doubtful: string | null;
  /** The tool that ran, when that is doubtful even for announced paths. */
  readonly untold: string | null;
  /** Changes after this moment are not the step's. */
  readonly until: number;
  /** True where that moment was reported, and not inferred: what may have come after it is not the step's either. */
  readonly isReported?: boolean;
}

/** An edit with its author. */
export interface AttributedEdit extends Edit, Attribution {}

/** Attributes the changes of a capture. */
export function attributeChanges(
  db: Database,
  changes: readonly Edit[],
  moment: AttributionMoment,
): { changes: AttributedEdit[]; windows: string[] } {
  const windows = openWindows(db, moment);
  const isOpenFor = ({ path, from, to }: Edit) => {
    const isDirectory = (to ?? from)?.kind === "directory";
    return ({ until, isReported }: Window) => {
      if (until === Infinity) return true;
      if (isReported === true) return (moment.changedAt(path) ?? moment.goneBy(path)) <= until;
      return isDirectory || !((moment.changedAt(path) ?? 0) > until);
    };
  };
  return {
    changes: changes.map((change) => ({ ...change, ...authorOf(change, windows.filter(isOpenFor(change))) })),
    windows: [...new Set(windows.map(({ step }) => step))],
  };
}

function openWindows(db: Database, moment: AttributionMoment): Window[] {
  const calls = callsAtWork(db, moment).flatMap((call) =>
    call.step === null ? [] : [windowOf(db, call, call.step, moment)],
  );
  const turns = openSteps(db)
    .filter((step) => step.thread !== moment.bracketing && !bracketsTools(db, step))
    .map((step) => ({
      step: step.id,
      names: [],
      doubtful: null,
      untold: null,
      ...turnUntil(db, step, moment),
    }));
  return [...calls, ...turns];
}

function turnUntil(
  db: Database,
  step: Step,
  moment: AttributionMoment,
): Pick<Window, "until" | "isReported"> {
  const reported = endOfTurn(step, moment.ends);
  if (reported !== undefined) return { until: reported, isReported: true };
  if (step.owner !== null || step.thread === null || !isTurnOver(db, step, moment))
    return { until: Infinity };
  return { until: lastMoment(db, step.thread) };
}

function windowOf(db: Database, call: ToolCall, step: string, moment: AttributionMoment): Window {
  const { ended } = moment;
  const isEdit = call.nature === "edit";
  const reported = endOfCall(call, moment.ends);
  if (reported !== undefined) {
    const { at, isOwn, isCutOff } = reported;
    const doubtful = isEdit || !isOwn ? call.tool : null;
    return {
      step,
      names: call.paths,
      doubtful,
      untold: isOwn ? null : call.tool,
      until: at,
      isReported: !isCutOff,
    };
  }
  const isEnding = call.id === ended?.id;
  const isOver = isEnding ? ended.unfinished : isCallOver(db, call, moment);
  return {
    step,
    names: call.paths,
    doubtful: isOver || isEdit ? call.tool : null,
    // an edit takes no time: an open one may be waiting for confirmation
    untold: isOver || (isEdit && !isEnding) ? call.tool : null,
    until: isOver ? lastMoment(db, call.thread) : Infinity,
  };
}

function authorOf({ path, from, to }: Edit, windows: readonly Window[]): Attribution {
  const steps = new Set(windows.map(({ step }) => step));
  if (steps.size === 0) return { attribution: "outside", step: null, during: null };
  const naming = windows.filter(({ names }) => names.some((name) => covers(name, path)));
  const named = new Set(naming.map(({ step }) => step));
  if (named.size === 1) return { attribution: "tool", step: naming[0]!.step, during: naming.at(-1)!.untold };
  if (steps.size > 1) return { attribution: "shared", step: null, during: null };
  const isDirectory = (to ?? from)?.kind === "directory";
  const isCertain = isDirectory || windows.some(({ doubtful }) => doubtful === null);
  return {
    attribution: "tool",
    step: windows[0]!.step,
    during: isCertain ? null : windows.at(-1)!.doubtful,
  };
}

/** True for the path itself, what is below it, and the parent directories created for it. */
function covers(name: BytePath, path: BytePath): boolean {
  return isAtOrBelow(path, name) || isAtOrBelow(name, path);
}

/**
 * A step's work after it was undone, or after a restore, comes later in the order: the step continues as a
 * new one. Returns the changes with the steps they then belong to.
 */
export function inOrder(
  db: Database,
  { changes, windows }: ReturnType<typeof attributeChanges>,
  fresh: { newId: () => string; now: number; before: number },
): ReturnType<typeof attributeChanges> {
  const concerned = new Set(changes.map(({ step }) => step));
  const isShared = changes.some(({ attribution }) => attribution === "shared");
  const pieces = new Map<string, string>();
  for (const id of windows) {
    const step = concerned.has(id) || isShared ? findStep(db, id) : undefined;
    if (step !== undefined && needsPiece(db, step)) pieces.set(id, goOn(db, step, fresh));
  }
  const pieceOf = (id: string) => pieces.get(id) ?? id;
  return {
    changes: changes.map((change) =>
      change.step === null ? change : { ...change, step: pieceOf(change.step) },
    ),
    windows: windows.map(pieceOf),
  };
}

/** True when the step's present work must not be merged with its earlier work. */
export function needsPiece(db: Database, step: Step): boolean {
  return step.state === "undone" || isOvertaken(db, step);
}

function goOn(
  db: Database,
  step: Step,
  { newId, now, before }: { newId: () => string; now: number; before: number },
): string {
  const next = newId();
  const isOpen = step.state === "open";
  continueStep(db, step, { id: next, before, now });
  moveCalls(db, step.id, next);
  // a finished turn whose agent keeps working is not reopened
  if (!isOpen)
    db.run("UPDATE step SET state = 'empty', after = ?, closed_at = ? WHERE id = ?", before, now, next);
  return next;
}
