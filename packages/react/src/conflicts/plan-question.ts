/** One conflict of a plan, or one file that it merged by lines, as a question: its versions, and its options in words. */
import type { DetailedPlan, PlanBody } from "../plans/request.ts";
import { agentName, clock, quoted, visible } from "../words.ts";
import { CONFLICT_WORDS, placeWords, sentence } from "./conflict-words.ts";
import type { Choice, ConflictQuestion, Excerpt, Option, Severity } from "./question.ts";

/** Which plan has the conflicts; a restore has none. */
export type DecidablePlan = PlanBody & { readonly kind: "undo" | "redo" | "revert" | "reset" };

/** A path in conflict. */
export type Conflict = DetailedPlan["conflicts"][number];
/** A path that was merged by lines. */
export type Merged = DetailedPlan["merged"][number];

/** The option of a merged file that is the merge itself. It is not a decision. */
export const AS_MERGED = "as-merged";

/** Both sides can be merged by lines, to be repaired afterwards. */
const UNPARSED = "the merge would not parse";

const CRITICAL: ReadonlySet<string> = new Set(["binary", "too large to merge", UNPARSED]);

/** How hard a conflict of a plan is. */
export function severityOf({ reason, ours }: Conflict): Severity {
  const isWhole = ours !== undefined && ours.line === null;
  return isWhole || CRITICAL.has(reason) ? "critical" : "high";
}

const REASONS: Readonly<Record<string, string>> = {
  "changed differently meanwhile": "changed again since, in the same place",
  binary: "changed again since, and binary: it cannot be merged",
  "too large to merge": "changed again since, and too large to merge",
  [UNPARSED]: "the merge would not parse",
  "shared with another thread": "changed while several agents were at work",
  "changed while restoring": "a program wrote to it while files were put in place",
  "cannot be saved": "what is there now cannot be saved first",
};

/** Reasons that a person cannot decide: the file has to become readable, or quiet, first. */
const UNDECIDABLE: ReadonlySet<string> = new Set(["cannot be saved", "changed while restoring"]);

/** Why a path of a plan is a conflict. */
export function reasonOf({ reason, sharedWith }: Conflict): string {
  if (sharedWith === undefined || sharedWith.length === 0) return REASONS[reason] ?? reason;
  const steps = sharedWith.map(
    ({ agent, prompt, description, at }) =>
      `${quoted(prompt ?? description, 40)} (${agentName(agent)}, ${clock(at)})`,
  );
  return `changed while ${steps.join(" and ")} was at work too`;
}

/** What is known besides the plan. */
export interface Told {
  /** What the file holds; undefined where it is not text. */
  readonly draft: string | undefined;
  /** What was decided before. */
  readonly chosen: Choice | undefined;
}

/** Keeping the file, and taking what the plan would make of it. */
function optionsOf(kind: DecidablePlan["kind"]): readonly [disk: Option, plan: Option] {
  const verb = CONFLICT_WORDS.verb[kind];
  return [
    {
      id: "disk",
      words: CONFLICT_WORDS.keepDisk,
      about: `The file stays as it is. The ${verb} leaves it out.`,
    },
    {
      id: "plan",
      words: CONFLICT_WORDS.take[kind],
      about: `The file as the ${verb} would have it. What is here now goes, and can be brought back.`,
    },
  ];
}

/** The merge by lines that does not parse. */
const MERGED_ANYWAY: Option = {
  id: "merged",
  words: CONFLICT_WORDS.merge,
  about: CONFLICT_WORDS.mergeAbout,
};

/** The question of a conflict. */
export function questionOf(
  conflict: Conflict,
  { kind }: DecidablePlan,
  { draft, chosen, step }: Told & { readonly step: DetailedPlan["steps"][number] | undefined },
): ConflictQuestion {
  const { path, ours, theirs, reason } = conflict;
  const [disk, plans] = optionsOf(kind);
  const since = step?.at;
  return {
    id: path,
    path,
    place: placeWords(ours?.line ?? null, (ours?.lines.length ?? 0) + (ours?.more ?? 0)),
    why: whyWords(conflict, kind),
    sides: [
      { id: "ours", title: CONFLICT_WORDS.onDisk, who: latestWords(conflict), excerpts: [excerptOf(ours)] },
      {
        id: "theirs",
        title: CONFLICT_WORDS.after[kind],
        who: since === undefined || kind === "redo" || kind === "reset" ? "" : `as before ${clock(since)}`,
        excerpts: [excerptOf(theirs)],
      },
    ],
    options: [
      disk,
      ...(UNDECIDABLE.has(reason) ? [] : [plans]),
      ...(reason === UNPARSED ? [MERGED_ANYWAY] : []),
    ],
    regionOptions: [],
    draft: UNDECIDABLE.has(reason) ? undefined : draft,
    chosen,
  };
}

/** A file that was merged by lines, as something to have otherwise. */
export function mergedQuestion(
  { path }: Merged,
  { kind }: DecidablePlan,
  { draft, chosen }: Told,
): ConflictQuestion {
  return {
    id: path,
    path,
    place: "",
    why: CONFLICT_WORDS.mergedWhy(CONFLICT_WORDS.verb[kind]),
    sides: [],
    options: [
      ...optionsOf(kind),
      { id: AS_MERGED, words: CONFLICT_WORDS.asMerged, about: CONFLICT_WORDS.asMergedAbout },
    ],
    regionOptions: [],
    draft,
    draftAbout: CONFLICT_WORDS.writeFromDisk,
    chosen: chosen ?? { take: AS_MERGED },
  };
}

/** [R1701] "you, 10:47": who made the file what it is now, where that is known. */
function latestWords({ latest }: Conflict): string {
  if (latest === undefined) return "";
  const who = { agent: agentName(latest.agent), hand: "you", outside: "outside any agent" };
  return visible(`${who[latest.by]}, ${clock(latest.at)}`);
}

/** "You changed these lines at 10:47, after the turn that is to be undone." */
function whyWords(conflict: Conflict, kind: DecidablePlan["kind"]): string {
  const { reason, latest, ours } = conflict;
  if (latest === undefined || reason !== "changed differently meanwhile")
    return sentence(visible(reasonOf(conflict)));
  const what = ours === undefined || ours.line === null ? "this file" : "these lines";
  const who = latest.by === "hand" ? "You" : agentName(latest.agent);
  const changed =
    latest.by === "outside"
      ? `${what[0]!.toUpperCase()}${what.slice(1)} changed outside any agent`
      : `${who} changed ${what}`;
  return visible(`${changed} at ${clock(latest.at)}, ${CONFLICT_WORDS.since[kind]}.`);
}

function excerptOf(side: Conflict["ours"]): Excerpt {
  if (side === undefined || side.line === null)
    return { line: null, lines: [], more: 0, instead: CONFLICT_WORDS.instead(side?.kind ?? "file") };
  return { line: side.line, lines: side.lines, more: side.more };
}
