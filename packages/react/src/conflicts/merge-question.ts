/** One conflict of a merge as a question: its versions place by place, and its options in words. */
import type { CallOutput } from "@belay/protocol";
import { visible } from "../words.ts";
import { CONFLICT_WORDS } from "./conflict-words.ts";
import type { ConflictQuestion, Excerpt, Option, Side } from "./question.ts";

type Details = CallOutput<"GET /api/conflicts/:id">;
type Conflict = Details["conflict"];
type Version = Details["base"];

/** Lines around a place that both sides changed. */
const AROUND = 2;
const MOST_LINES = 200;

/** The versions and options of a conflict. */
export function questionOfMerge(
  details: Details,
  isClean: boolean,
): Pick<ConflictQuestion, "id" | "path" | "sides" | "options" | "draft"> {
  const { conflict, marked, proposal } = details;
  return {
    id: conflict.id,
    path: conflict.path,
    sides: sidesOf(details, isClean),
    options: conflict.options.map((option) => optionOf(option, details, isClean)),
    draft: (isClean ? proposal : marked)?.text ?? undefined,
  };
}

function sidesOf({ conflict, base, ours, theirs }: Details, isClean: boolean): Side[] {
  const [here = "here"] = conflict.agents.filter((agent) => agent !== conflict.source);
  const side = (id: Side["id"], version: Version, [title, who]: readonly [string, string]): Side => ({
    id,
    title,
    who,
    // no line of what was merged is in conflict
    excerpts: excerptsOf(id, conflict, version).map((each) =>
      isClean ? { ...each, marked: [0, 0] as const } : each,
    ),
  });
  return [
    side("ours", ours, [CONFLICT_WORDS.onDisk, visible(here)]),
    side("base", base, ["Before both", ""]),
    side("theirs", theirs, [`In ${visible(conflict.source)}`, ""]),
  ];
}

function excerptsOf(id: Side["id"], { regions }: Conflict, version: Version): Excerpt[] {
  if (version === null || version === undefined) return [without("absent")];
  if (version.text === null) return [without("file")];
  const lines = version.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (regions.length === 0)
    return [{ line: 1, lines: lines.slice(0, MOST_LINES), more: Math.max(0, lines.length - MOST_LINES) }];
  return regions.map((region): Excerpt => {
    const [start, end] = region[id];
    const from = Math.max(0, start - AROUND);
    const to = Math.min(lines.length, end + AROUND, from + MOST_LINES);
    return {
      line: from + 1,
      lines: lines.slice(from, to),
      marked: [start - from, end - from],
      more: Math.max(0, end + AROUND - to - AROUND),
    };
  });
}

function without(kind: string): Excerpt {
  return { line: null, lines: [], more: 0, instead: CONFLICT_WORDS.instead(kind) };
}

function optionOf(id: string, { conflict, merger }: Details, isClean: boolean): Option {
  const isText = conflict.kind === "content";
  const source = visible(conflict.source);
  const words: Readonly<Record<string, readonly [string, string]>> = {
    ours: [CONFLICT_WORDS.keepDisk, `The file stays as it is. What ${source} did in it is left out.`],
    theirs: [`Take ${source}`, `The file as ${source} has it. What is here goes, and can be brought back.`],
    both: isText
      ? ["Both", "Where both changed the same lines: what is here first, then the other."]
      : ["Keep both files", "The other one gets a name beside this one."],
    base: ["Neither", "As it was before both."],
    proposal: isClean
      ? [CONFLICT_WORDS.asMerged, CONFLICT_WORDS.asMergedAbout]
      : ["Proposed merge", "Put together by Belay; not certain enough to be taken unasked."],
    merger: ["What the merger made", merger?.explanation ?? ""],
    delete: ["Delete the file", "One side deleted it."],
    keep: ["Keep the file", "One side changed it."],
  };
  const [title, about] = words[id] ?? [id, ""];
  const dropped = id === "merger" ? (merger?.dropped.length ?? 0) : 0;
  return {
    id,
    words: title,
    about: dropped > 0 ? `${about} Lines it left out on purpose: ${dropped}.` : about,
  };
}

const REGION_OPTIONS = ["ours", "theirs", "both", "base"];

/** What a single place can become; none where the file is taken whole. */
export function regionOptionsOf({ kind, regions, ...conflict }: Conflict): Option[] {
  if (regions.length < 2 || kind === "rename" || kind === "binary") return [];
  const words: Readonly<Record<string, string>> = {
    ours: CONFLICT_WORDS.keepDisk,
    theirs: `Take ${visible(conflict.source)}`,
    both: "Both",
    base: "Neither",
  };
  return REGION_OPTIONS.map((id) => ({ id, words: words[id]!, about: "" }));
}

/** "kept what is on disk": a decision in the list. */
export function takenWords({ resolution, source }: Pick<Conflict, "resolution" | "source">): string {
  const words: Readonly<Record<string, string>> = {
    ours: "kept what is on disk",
    theirs: `took ${visible(source)}`,
    both: "took both",
    base: "as it was before",
    proposal: "took the proposal",
    merger: "took what the merger made",
    delete: "deleted",
    keep: "kept",
    edit: "your own text",
    file: "text of a file",
    regions: "place by place",
  };
  const take = resolution?.take ?? "";
  const by = resolution?.by === "merger" ? ", by the merger" : "";
  return `${words[take] ?? take}${by}`;
}
