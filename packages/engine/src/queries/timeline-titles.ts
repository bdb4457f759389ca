/** What a row of the timeline is called. A state is called "before “…”" or "after “…”", never by a number. */
import { readEnds, type EndFacts, type StepFacts } from "../history/timeline-facts.ts";
import { turnOfEnd } from "../history/turn-numbers.ts";
import type { Database } from "../store/database.ts";

const TITLE_CHARACTERS = 200;

/** The prompt in one line, without what the agent told its model. */
export function turnTitle({ prompt, description }: Pick<StepFacts, "prompt" | "description">): string {
  if (prompt === null) return inOneLine(description);
  const beginning = description.replace(/( \(continued\))?$/, "").replace(/…$/, "");
  const isContinuedTurn = description.endsWith(" (continued)");
  // a description that the prompt does not begin with is the adapter's: it left out what is not the user's
  const words = prompt.startsWith(beginning) ? inOneLine(prompt) : inOneLine(description);
  return isContinuedTurn && prompt.startsWith(beginning) ? `${words} (continued)` : words;
}

/** Where a restore in the timeline went, if that checkpoint is still there. */
export function backTarget(db: Database, { target }: StepFacts): EndFacts | undefined {
  return target === null ? undefined : readEnds(db, [target]).get(target);
}

/** The title of a restore, revert or reset in the timeline. */
export function backTitle(db: Database, step: StepFacts, target = backTarget(db, step)): string {
  if (step.kind === "revert") return revertTitle(step.description);
  if (step.kind === "reset") return "Reset to the approved state";
  const isPart = step.description.endsWith(IN_PART);
  if (target !== undefined && !isPart && step.description.startsWith("Restored to "))
    return `Restored to ${stateTitle(db, target)}`;
  // without numbers: "Restored a.ts from checkpoint 12 (Before …)"
  return inOneLine(step.description.replace(/ (?:from|to) checkpoint \d+ \(.*$/s, isPart ? IN_PART : ""));
}

const IN_PART = " (in part)";

const REVERTS: Readonly<Record<string, string>> = {
  Reverted: "Undid only",
  Undid: "Undid",
  Redid: "Redid",
};

/** [R2471] An undo or redo of a part, or with decisions about conflicts, is a step of its own too. */
function revertTitle(description: string): string {
  const isPart = description.endsWith(IN_PART);
  const whole = isPart ? description.slice(0, -IN_PART.length) : description;
  const [, verb = "", paths, what = whole] =
    /^(Reverted|Undid|Redid)(?: (.+?) of)?: (.*)$/s.exec(whole) ?? [];
  const did = REVERTS[verb] ?? REVERTS["Reverted"];
  const files = paths === undefined ? "" : ` ${inOneLine(paths)} of`;
  return `${did}${files} “${inOneLine(what)}”${isPart ? IN_PART : ""}`;
}

/** A state by what stands on one side of it. */
function stateTitle(db: Database, end: EndFacts): string {
  if (end.name !== null) return `“${inOneLine(end.name)}”`;
  const turn = turnOfEnd(db, end.seq);
  if (turn !== undefined) return `${turn.side} “${turnTitle(turn)}”`;
  if (end.kind === "initial")
    return end.thread === null ? "“Initial checkpoint”" : "the beginning of a thread";
  return `“${inOneLine(end.description)}”`;
}

/** What a checkpoint of its own row is called. */
export function pointTitle({ kind, name, description, session, thread }: EndFacts): string {
  if (kind === "initial") return thread === null ? "Initial checkpoint" : "A thread begins";
  if (kind === "approve") {
    const said = name ?? (description === UNSAID ? "" : description);
    return inOneLine(`Approved ${session ?? "session"}${said === "" ? "" : `: ${said}`}`);
  }
  return inOneLine(name ?? description);
}

/** How an approval without a message describes itself. */
const UNSAID = "Approved session";

/** Text of any length in one line of bounded length. */
export function inOneLine(text: string): string {
  const line = text
    .slice(0, 4 * TITLE_CHARACTERS)
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= TITLE_CHARACTERS && text.length <= 4 * TITLE_CHARACTERS
    ? line
    : `${characters.slice(0, TITLE_CHARACTERS).join("")}…`;
}
