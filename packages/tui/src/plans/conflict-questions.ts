/** The conflicts of a plan as questions: keep what is on disk, take what the plan wanted or both, or write it oneself. */
import type {
  ConflictOption,
  ConflictQuestion,
  ConflictQuestions,
  Severity,
} from "../questions/conflicts.ts";
import { grouped } from "../text/quantity.ts";
import { CONFLICTS } from "../words.ts";
import { conflictWhy, planTitle } from "./plan-text.ts";
import type { Conflict, Plan } from "./plan.ts";

/** The ids of the options. */
export const DECISIONS = { disk: "disk", plan: "plan", merged: "merged", text: "text" } as const;

/** What of the file an editor would show, where the protocol can give all of it. */
export type EditableText = ReadonlySet<string>;

/** The questions of a plan. `editable`: paths that an editor can be opened on; `clock`: today's times need no day. */
export function conflictQuestions(
  plan: Plan,
  { editable, clock }: { readonly editable: EditableText; readonly clock: number },
): ConflictQuestions {
  const { kind, merged, mergedTotal } = plan;
  const [first] = merged;
  return {
    title: planTitle(plan),
    conflicts: plan.conflicts.map((conflict) =>
      questionOf(conflict, kind, { isEditable: editable.has(conflict.path), clock }),
    ),
    decided: [
      ...(first === undefined ? [] : [CONFLICTS.merged(first.path, mergedTotal - 1)]),
      ...(plan.filesTotal > 0 ? [CONFLICTS.others(grouped(plan.filesTotal))] : []),
    ],
  };
}

/** Reasons that a person cannot decide: the file has to become readable, or quiet, first. */
const UNDECIDABLE = new Set(["cannot be saved", "changed while restoring"]);

/** Both sides can be merged by lines, to be repaired afterwards. */
const UNPARSED = "the merge would not parse";

function questionOf(
  conflict: Conflict,
  kind: Plan["kind"],
  { isEditable, clock }: { readonly isEditable: boolean; readonly clock: number },
): ConflictQuestion {
  const { path, ours, theirs, reason } = conflict;
  const linesOf = (side: Conflict["ours"]) => {
    if (side === undefined || side.line === null)
      return [CONFLICTS.sides[side?.kind ?? "file"] ?? CONFLICTS.noLines];
    return side.more > 0 ? [...side.lines, CONFLICTS.moreLines(side.more)] : side.lines;
  };
  const [now, wanted] = [linesOf(ours), linesOf(theirs)];
  const options: ConflictOption[] = [
    { id: DECISIONS.disk, text: CONFLICTS.keepDisk, result: now },
    ...(UNDECIDABLE.has(reason) ? [] : [{ id: DECISIONS.plan, text: CONFLICTS.take[kind], result: wanted }]),
    ...(reason === UNPARSED ? [{ id: DECISIONS.merged, text: CONFLICTS.merge }] : []),
    ...(isEditable ? [{ id: DECISIONS.text, text: CONFLICTS.editor }] : []),
  ];
  return {
    path,
    place: placeOf(ours),
    severity: severityOf(conflict),
    why: conflictWhy(conflict, clock),
    sides: [
      { title: CONFLICTS.onDisk, lines: now },
      { title: CONFLICTS.after[kind], lines: wanted },
    ],
    options,
  };
}

function placeOf(side: Conflict["ours"]): string {
  if (side === undefined || side.line === null) return "";
  const last = side.line + side.lines.length + side.more - 1;
  return last > side.line ? CONFLICTS.lines(side.line, last) : CONFLICTS.line(side.line);
}

const CRITICAL: ReadonlySet<string> = new Set(["binary", "too large to merge", UNPARSED]);

function severityOf({ reason, ours }: Conflict): Severity {
  const isWhole = ours !== undefined && ours.line === null;
  return isWhole || CRITICAL.has(reason) ? "critical" : "high";
}
