/** What a preview is asked for: going back to a state, or taking steps out or back in. */
import type { CallInput, CallOutput } from "@belay/protocol";
import type { DiffHunk } from "../diff/patch.ts";
import { agentName, clock, quoted } from "../words.ts";

/** The body of a plan's request. */
export type PlanBody = NonNullable<CallInput<"POST /api/plans">["body"]>;
/** A plan with everything people choose by. */
export type DetailedPlan = NonNullable<CallOutput<"POST /api/plans">["plan"]>;
/** A file of a plan. */
export type PlannedFile = DetailedPlan["files"][number];
/** What carrying out a plan did. */
export type PlanOutcome = CallOutput<"POST /api/plans/:id/apply"> & {
  /** The agent's conversation, where it went back too. */
  readonly conversation?: CallOutput<"POST /api/checkpoints/:id/fork">;
};

/** Lines of a state, from 1; where lines were only added, the one before them. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** What of a hunk tells which lines it changes. */
export interface ChangedHunk {
  readonly oldStart: number;
  readonly lines: readonly Pick<DiffHunk["lines"][number], "type">[];
}

/** The lines of the older side that a hunk changes. */
export function changedLines({ lines, oldStart }: ChangedHunk): LineRange {
  return rangeOf(lines, { gone: "-", start: oldStart });
}

/** Which hunks of a plan's diff touch these lines of the state it leads to. */
export function hunksAt(hunks: readonly DiffHunk[], { first, last }: LineRange): number[] {
  return hunks.flatMap(({ lines, newStart }, index) => {
    const its = rangeOf(lines, { gone: "+", start: newStart });
    return its.first <= last && first <= its.last ? [index] : [];
  });
}

/** Lines of one side that only this side has; of a stretch without any, the line before it. */
function rangeOf(
  lines: ChangedHunk["lines"],
  { gone, start }: { readonly gone: "-" | "+"; readonly start: number },
): LineRange {
  const touched: number[] = [];
  let at = start - 1;
  for (const { type } of lines) {
    if (type === " " || type === gone) at += 1;
    if (type !== " ") touched.push(at);
  }
  return { first: Math.min(...touched), last: Math.max(...touched) };
}

/** A preview to open. */
export interface PlanRequest {
  readonly kind: PlanBody["kind"];
  /** A checkpoint, for restore and "only this". */
  readonly target?: string;
  readonly thread?: string;
  /** How many steps at first, for undo and redo. */
  readonly count?: number;
  /** Only these paths, for one file of a diff. */
  readonly paths?: readonly string[];
  /** Of the one path only what changes these lines of the state: one hunk of a diff. */
  readonly lines?: LineRange;
  /** The state or the step in words: `before “…”`. */
  readonly name: string;
  /** When the state was. */
  readonly at?: string;
  readonly note?: string | null;
  /** A restore that also takes back the work of all other threads. */
  readonly takesAll?: boolean;
}

/** The verb of each kind of plan. */
export const VERBS = {
  restore: "Restore",
  undo: "Undo",
  redo: "Redo",
  revert: "Undo",
  reset: "Reset",
} as const;

/** "Restore 12 files", the one button that acts. */
export function confirmWords(kind: PlanBody["kind"], files: number): string {
  return `${VERBS[kind]} ${files.toLocaleString("en")} ${files === 1 ? "file" : "files"}`;
}

/** The title of the dialog of going back. */
export function titleWords({ kind, name }: PlanRequest, plan: DetailedPlan | null | undefined): string {
  const step = plan?.steps[0];
  switch (kind) {
    case "restore":
      return `Go back to ${name}`;
    case "revert":
      return `Undo only ${name}`;
    case "reset":
      return `Reset ${name} to what was approved`;
    default:
      if (step === undefined) return `${VERBS[kind]} the last step`;
      return `${VERBS[kind]} the last ${step.kind === "turn" ? `turn of ${agentName(step.agent)}` : "step"}, ${clock(step.at)}?`;
  }
}

/** The step in words, under the title of an undo or redo. */
export function stepWords(plan: DetailedPlan | null | undefined): string | undefined {
  const step = plan?.steps[0];
  return step === undefined ? undefined : quoted(step.prompt ?? step.description, 160);
}
