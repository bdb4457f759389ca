/** Conflicts of merges, asked for one by one on the screens of the terminal. */
import {
  displayPath,
  type ConflictChoice,
  type MergeConflict,
  type MergeOption,
  type Workspace,
} from "@belay/engine";
import type { ConflictOption, ConflictQuestion } from "@belay/tui";
import type { Call } from "../call/command.ts";
import { findPlace } from "../wiring/screen-place.ts";
import { editConflict } from "./edit-conflict.ts";

/** A conflict and what was chosen for it. */
export interface Answered {
  readonly conflict: MergeConflict;
  readonly choice: ConflictChoice;
}

/** What the person chose; undefined when they left, or did not say yes at the end. */
export async function askConflicts(
  call: Pick<Call, "directory" | "home" | "environment" | "output"> & { options: object },
  workspace: Workspace,
  conflicts: readonly MergeConflict[],
): Promise<readonly Answered[] | undefined> {
  const [found, { chooseConflicts }] = await Promise.all([findPlace(call), import("@belay/tui")]);
  if (found === undefined) return undefined;
  const merges = await workspace.merges.list();
  const asked = new Set(conflicts.map(({ merge }) => merge));
  const merged = merges.filter(({ id }) => asked.has(id)).flatMap((merge) => merge.merged);
  const names = [...new Set(conflicts.map(({ source }) => source))];
  const answers = await chooseConflicts(
    found.place,
    {
      title: `Merge ${names.join(", ")}`,
      conflicts: conflicts.map(questionOf),
      decided: merged.length === 0 ? [] : [decidedLine(merged)],
    },
    { environment: call.environment, ascii: false, colour: true, mouse: false },
  );
  if (answers === undefined) return undefined;
  const chosen: Answered[] = [];
  for (const [index, conflict] of conflicts.entries())
    chosen.push({ conflict, choice: await choiceOf(call, workspace, { conflict, answer: answers[index]! }) });
  return chosen;
}

async function choiceOf(
  call: Pick<Call, "environment" | "output">,
  workspace: Workspace,
  { conflict, answer }: { conflict: MergeConflict; answer: string },
): Promise<ConflictChoice> {
  if (answer !== "edit") return { take: answer as MergeOption };
  const marked = await workspace.merges.marked(conflict.id);
  return { content: await editConflict(call, conflict, marked), take: "edit" };
}

/** `merged by lines: src/util/sleep.ts [low], 2 more` */
function decidedLine(merged: readonly { path: MergeConflict["path"]; severity: string }[]): string {
  const [first, ...rest] = merged;
  const more = rest.length === 0 ? "" : `, ${rest.length} more`;
  return `merged by lines: ${displayPath(first!.path)} [${first!.severity}]${more}`;
}

function questionOf(conflict: MergeConflict): ConflictQuestion {
  const { path, severity, reason, agents, source, regions } = conflict;
  const [ours = "ours"] = agents.filter((agent) => agent !== source);
  return {
    path: displayPath(path),
    place: placeOf(conflict),
    severity,
    why: `${reason[0]?.toUpperCase() ?? ""}${reason.slice(1)}: ${agents.join(" and ")}.`,
    sides: [
      { title: `Here now (${ours})`, lines: sideLines(conflict, "ours") },
      { title: `In ${source}`, lines: sideLines(conflict, "theirs") },
    ],
    options: optionsOf(conflict, regions.length),
  };
}

function placeOf({ regions }: MergeConflict): string {
  const [first] = regions;
  if (first === undefined) return "";
  const [start, end] = first.ours;
  const lines = end - start > 1 ? `lines ${start + 1} to ${end}` : `line ${start + 1}`;
  return regions.length === 1 ? lines : `${lines} and ${regions.length - 1} more`;
}

/** The lines of all regions, or the beginning of a file that has none. */
function sideLines(conflict: MergeConflict, side: "ours" | "theirs"): string[] {
  const content = conflict.content(side);
  if (content === null) return ["(no such file)"];
  if (content.includes(0)) return [`(${content.length} bytes)`];
  const lines = content.toString("utf8").split("\n");
  if (conflict.regions.length === 0) return lines.slice(0, SHOWN_LINES);
  return conflict.regions.flatMap((region) => lines.slice(...region[side])).slice(0, SHOWN_LINES);
}

const SHOWN_LINES = 40;

function optionsOf(conflict: MergeConflict, regions: number): ConflictOption[] {
  const texts: Readonly<Record<MergeOption, string>> = {
    ours: "Keep what is here",
    theirs: `Take ${conflict.source}`,
    both: conflict.kind === "content" ? "Both, first what is here" : "Keep both files",
    base: "Neither: as it was before",
    proposal: "Take the proposed merge",
    merger: "Take what the merger made",
    delete: "Delete the file",
    keep: "Keep the file",
  };
  const options = conflict.options.map((id): ConflictOption => {
    const result = id === "ours" || id === "theirs" ? { result: sideLines(conflict, id) } : {};
    return { id, text: texts[id], ...result };
  });
  return regions === 0 ? options : [...options, { id: "edit", text: "Write it in your editor" }];
}
