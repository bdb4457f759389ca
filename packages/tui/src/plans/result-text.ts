/** What going back did, in the lines that stay on the screen until the next change. */
import { cutToWidth } from "../text/display-width.ts";
import { count, duration, grouped } from "../text/quantity.ts";
import { reasonWords } from "../text/reasons.ts";
import { visibleLine } from "../text/visible.ts";
import { GOING_BACK, VERBS } from "../words.ts";
import { stepLabel } from "./plan-text.ts";
import type { Forked, Outcome, Plan } from "./plan.ts";

/** The lines; the first says whether everything was done. */
export interface Result {
  readonly isWhole: boolean;
  readonly lines: readonly string[];
}

/** What a result needs besides the outcome. */
export interface ResultContext {
  /** The state that files went back to: `before "…"`. */
  readonly words?: string;
  /** An undo that is a step of its own, because it took only a part: another undo takes it back, not a redo. */
  readonly isOwnStep?: boolean;
  /** The conversation that went back too. */
  readonly forked?: Forked | undefined;
  /** No file was to change. */
  readonly isConversation?: boolean;
}

/** What going back did, in words for the screens. */
export function resultText(
  plan: Plan,
  outcome: Outcome,
  { words = "", isOwnStep = false, forked, isConversation = false }: ResultContext = {},
): Result {
  const left = [...outcome.skipped, ...outcome.conflicts, ...outcome.leftOut];
  const isWhole = left.length === 0 && outcome.displacedTotal === 0;
  return {
    isWhole,
    lines: [
      `${isConversation ? GOING_BACK.rewound(quotedShort(words)) : doneText(plan, outcome, words)} (${duration(outcome.durationMs)}).`,
      ...reasoned(GOING_BACK.notDone, left),
      ...(outcome.displaced.length === 0
        ? []
        : [
            GOING_BACK.displaced(
              outcome.displaced.map(({ path }) => visibleLine(path)).join(", "),
              outcome.displaced[0]!.checkpoint,
            ),
          ]),
      ...(isConversation ? [] : stays(plan, outcome)),
      ...conversationLines(forked),
      ...outcome.warnings.filter((warning) => !plan.warnings.includes(warning)).map(visibleLine),
      plan.kind === "undo" && !isOwnStep ? GOING_BACK.redoes : GOING_BACK.undoes,
    ],
  };
}

/** How the conversation goes on, or why it stays as it is. */
export function conversationLines(forked: Forked | undefined): string[] {
  if (forked === undefined) return [];
  const { resume, warning, advice } = forked;
  const remark = warning ?? (resume === null ? advice : null);
  return [
    ...(remark === null ? [] : [visibleLine(remark)]),
    // on a line of its own: it is there to be copied
    ...(resume === null ? [] : [GOING_BACK.resume, `  ${visibleLine(resume)}`]),
  ];
}

function doneText(plan: Plan, outcome: Outcome, words: string): string {
  const { created, modified, deleted } = outcome;
  const files = count(created + modified + deleted, "file");
  const { done } = VERBS[plan.kind];
  if (outcome.outcome === "unchanged") return GOING_BACK.nothingChanged.slice(0, -1);
  if (plan.kind === "restore" || plan.kind === "reset") return `${done} ${files} to ${quotedShort(words)}`;
  return `${done}: ${plan.steps.map((step) => quotedShort(stepLabel(step))).join(", ")}, ${files}`;
}

function stays({ kind, leftAlone, gaps, gapsTotal }: Plan, { kept, keptTotal }: Outcome): string[] {
  const alone = leftAlone.map(
    ({ agent, files, filesTotal }) =>
      `${visibleLine(agent ?? "another thread")}'s ${listed(files, filesTotal)}`,
  );
  // an undo does not go back to a recorded state, so nothing can be missing from one
  const missing =
    kind === "restore" ? gaps.filter(({ path }) => !kept.some((each) => each.path === path)) : [];
  const missingTotal = gapsTotal - (gaps.length - missing.length);
  const parts = [
    ...(alone.length > 0 ? [`${GOING_BACK.leftAlone}: ${alone.join("; ")}.`] : []),
    ...(kept.length > 0 ? [`${GOING_BACK.kept}: ${listed(kept, keptTotal)}.`] : []),
    ...(missing.length > 0 ? [`${GOING_BACK.untouched}: ${listed(missing, missingTotal)}.`] : []),
  ];
  return parts.length === 0 ? [] : [parts.join(" ")];
}

/** First five with their reasons, then how many more. */
function reasoned(
  title: string,
  paths: readonly { readonly path: string; readonly reason: string }[],
): string[] {
  if (paths.length === 0) return [];
  const shown = paths
    .slice(0, 5)
    .map(({ path, reason }) => `${visibleLine(path)} (${visibleLine(reasonWords(reason))})`);
  const more = paths.length > shown.length ? [GOING_BACK.more(grouped(paths.length - shown.length))] : [];
  return [`${title} ${[...shown, ...more].join(", ")}`];
}

function listed(files: readonly { readonly path: string }[], total: number): string {
  const shown = files.slice(0, 3).map(({ path }) => visibleLine(path));
  return total > shown.length
    ? `${shown.join(", ")} ${GOING_BACK.more(grouped(total - shown.length))}`
    : shown.join(", ");
}

/** How much of it is shown: a result for hundreds of files is one line in 80 columns. */
const QUOTED = 43;

/** A result is one line: of a long prompt its beginning is enough. */
function quotedShort(words: string): string {
  const short = cutToWidth(words, QUOTED);
  return short === words || !words.endsWith('"') ? short : `${short}"`;
}
