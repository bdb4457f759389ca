/** What going back did, in words, with its way back. */
import { copyText } from "../parts/copy.ts";
import type { Toast } from "../parts/toasts.tsx";
import { agentName, quantity, quoted, WORDS } from "../words.ts";
import type { DetailedPlan, PlanOutcome, PlanRequest } from "./request.ts";

/** What was planned, what came of it, and what opens the next preview. */
export interface PlanResult {
  readonly outcome: PlanOutcome;
  readonly made: DetailedPlan;
  readonly plan: (request: PlanRequest) => void;
  /** Shows what it changed; left out where there is no view for it. */
  readonly compare?: ((from: string, to: string) => void) | undefined;
  /** Conflicts were decided: what was done is a step of its own, and an undo takes it back. */
  readonly isOwnStep?: boolean;
}

/** "Restored 12 files to before “Add retry…”. Codex’s 2 files were left alone." with its way back. */
export function planResult(
  request: PlanRequest,
  { outcome, made, plan, compare, isOwnStep = false }: PlanResult,
): Toast {
  const { kind, name } = request;
  const files = quantity(outcome.created + outcome.modified + outcome.deleted, "file");
  const step = made.steps[0];
  const { conversation, safetyCheckpoint, newCheckpoint } = outcome;
  const what = {
    restore:
      conversation !== undefined && made.files.length === 0
        ? `The conversation went back to ${name}.`
        : `Restored ${files} to ${name}.`,
    undo: `Undid ${step === undefined ? "the last step" : quoted(step.prompt ?? step.description, 50)}: ${files}.`,
    redo: `Redid ${step === undefined ? "the step" : quoted(step.prompt ?? step.description, 50)}: ${files}.`,
    revert: `Undid only ${name}: ${files}.`,
    reset: `Reset ${files} of ${name}.`,
  }[kind];
  const alone = made.leftAlone.map(
    (left) =>
      `${agentName(left.agent)}’s ${quantity(left.files.length, "file")} ${left.files.length === 1 ? "was" : "were"} left alone.`,
  );
  const skipped = skippedWords(outcome);
  const displaced =
    outcome.displaced.length === 0
      ? []
      : [`Written meanwhile and kept: ${outcome.displaced.map(({ path }) => path).join(", ")}.`];
  const back = kind === "undo" && !isOwnStep ? ("redo" as const) : ("undo" as const);
  const told = [conversation?.warning, conversation?.advice].filter(
    (words) => words !== undefined && words !== null,
  );
  const resume = conversation?.resume;
  const again = skippedAgain(request, outcome);
  const more =
    again !== undefined
      ? { words: "Try these again", run: () => plan(again) }
      : typeof resume === "string"
        ? { words: "Copy the line", run: () => void copyText(resume) }
        : compare !== undefined && safetyCheckpoint !== null && newCheckpoint !== null
          ? { words: "Show diff", run: () => compare(safetyCheckpoint, newCheckpoint) }
          : undefined;
  return {
    text: [what, ...skipped, ...alone, ...displaced, ...told].join(" "),
    ...(more && { more }),
    made: newCheckpoint,
    isFailure: outcome.outcome === "partial",
    action: {
      words: back === "redo" ? "Redo" : "Undo",
      // as many steps as were taken out or put back; a restore is one, whatever it went back over
      run: () => plan({ kind: back, name: "", count: isOwnStep ? 1 : Math.max(1, made.steps.length) }),
    },
  };
}

/** So many of the paths that stayed as they were are named. */
const NAMED = 5;

/** [R1934] What stayed as it was although it was asked for, each with its reason. */
function skippedWords({ skipped, conflicts }: Pick<PlanOutcome, "skipped" | "conflicts">): string[] {
  const all = [...skipped, ...conflicts];
  if (all.length === 0) return [];
  const named = all.slice(0, NAMED).map(({ path, reason }) => `${path}, ${reason}`);
  if (all.length > NAMED) named.push(WORDS.more(all.length - NAMED));
  return [
    `${quantity(all.length, "file")} stayed as ${all.length === 1 ? "it is" : "they are"}: ${named.join("; ")}.`,
  ];
}

/** [R1934] The same once more, for what was skipped; steps and sessions are taken whole, so they have no such thing. */
function skippedAgain(
  request: PlanRequest,
  { skipped }: Pick<PlanOutcome, "skipped">,
): PlanRequest | undefined {
  if (request.kind !== "restore" || skipped.length === 0) return undefined;
  return { ...request, paths: skipped.map(({ path }) => path) };
}
