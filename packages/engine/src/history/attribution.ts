/**
 * Whose doing a change is. Between two captures tool calls were open, and turns of threads that do not say when their
 * tools run. One of them: it is its doing. Several: that of the one whose input names the path, else shared. None:
 * outside. A call that is over without a word counts for what was changed in time, and is not certain to be the author.
 */
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import type { Attribution } from "./changes.ts";
import { callsAtWork, isCallOver, isTurnOver, lastMoment, type Moment } from "./liveness.ts";
import { continueStep, findStep, isOvertaken, openSteps, type Step } from "./steps.ts";
import { bracketsTools, moveCalls, type ToolCall } from "./tool-calls.ts";

/** What is known when changes are attributed. */
export interface AttributionMoment extends Moment {
  /** When the file at a path was last changed; undefined where that cannot be told. */
  changedAt(path: BytePath): number | undefined;
  /** A thread that is about to run its first tool. */
  readonly bracketing?: ThreadId | undefined;
  /** The call that ends with this capture; `unfinished`: no event told of its end. */
  readonly ended?: { readonly id: string; readonly unfinished: boolean } | undefined;
  /** When agents say that a thread's open calls were interrupted. */
  readonly interrupted?: readonly ThreadInterrupt[] | undefined;
}

/** An agent that says when it was interrupted. */
export interface ThreadInterrupt {
  readonly thread: ThreadId;
  readonly at: number;
}

/** A step that was at work. */
interface Window {
  readonly step: string;
  /** The paths it said it would write. */
  readonly names: readonly BytePath[];
  /** Set when it is doubtful that a path it did not name is its doing: the tool that ran. */
  readonly doubtful: string | null;
  /** Set when that is doubtful of a path that it named, too. */
  readonly untold: string | null;
  /** What was changed later is not its doing. */
  readonly until: number;
}

export interface AttributedEdit extends Edit, Attribution {}

/** The changes of a capture, each with its author. */
export function attributeChanges(
  db: Database,
  changes: readonly Edit[],
  moment: AttributionMoment,
): { changes: AttributedEdit[]; windows: string[] } {
  const windows = openWindows(db, moment);
  const isOpenFor = ({ path, from, to }: Edit) => {
    const isDirectory = (to ?? from)?.kind === "directory";
    return ({ until }: Window) =>
      until === Infinity || isDirectory || !((moment.changedAt(path) ?? 0) > until);
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
      until: turnUntil(db, step, moment),
    }));
  return [...calls, ...turns];
}

function turnUntil(db: Database, step: Step, moment: AttributionMoment): number {
  if (step.owner !== null || step.thread === null || !isTurnOver(db, step, moment)) return Infinity;
  return lastMoment(db, step.thread);
}

function windowOf(db: Database, call: ToolCall, step: string, moment: AttributionMoment): Window {
  const { ended } = moment;
  const interrupted = moment.interrupted?.find((each) => wasInterrupted(call, each));
  const isEdit = call.nature === "edit";
  if (interrupted !== undefined) {
    // how long a command may write on before it is gone
    const until = interrupted.at + ENDING_MS;
    return { step, names: call.paths, doubtful: isEdit ? call.tool : null, untold: null, until };
  }
  const isEnding = call.id === ended?.id;
  const isOver = isEnding ? ended.unfinished : isCallOver(db, call, moment);
  return {
    step,
    names: call.paths,
    doubtful: isOver || isEdit ? call.tool : null,
    // an edit takes no time: one that is open may be waiting for a yes
    untold: isOver || (isEdit && !isEnding) ? call.tool : null,
    until: isOver ? lastMoment(db, call.thread) : Infinity,
  };
}

const ENDING_MS = 1000;

/** A call that began before its thread was interrupted. */
export function wasInterrupted({ thread, openedAt }: ToolCall, interrupted: ThreadInterrupt): boolean {
  return thread === interrupted.thread && openedAt <= interrupted.at;
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

/** The path itself, what is below it, and the directories that had to be made for it. */
function covers(name: BytePath, path: BytePath): boolean {
  return isAtOrBelow(path, name) || isAtOrBelow(name, path);
}

/**
 * What a step does after it was undone, or after a restore of one's own, comes after that: the step goes on as one of
 * its own. The changes with the steps that they belong to then.
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

/** True when what the step does now is not to be one with what it did before. */
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
  // a turn that is over, and whose agent goes on, does not begin again
  if (!isOpen)
    db.run("UPDATE step SET state = 'empty', after = ?, closed_at = ? WHERE id = ?", before, now, next);
  return next;
}
