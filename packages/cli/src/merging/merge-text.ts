/** Merges and conflicts in words. */
import {
  countChanges,
  type MergeConflict,
  type MergeOutcome,
  type MergePlan,
  type Severity,
} from "@belay/engine";
import { shellWords } from "@belay/protocol/command-text";
import { count, duration } from "@belay/tui/text";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import type { Paint, Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { writtenCounts } from "../output/written-counts.ts";

/** What a merge would do besides the list of files: what is combined, what is held back and why. */
export function mergeRemarks(
  { merge }: Pick<MergePlan, "merge">,
  output: Output,
  all: boolean | undefined,
): string[] {
  const { style } = output;
  const held = merge.sources.filter(({ outcome }) => outcome === "held").map(({ name }) => visible(name));
  const open = merge.conflicts.filter(({ state }) => state === "open");
  return [
    ...(merge.merged.length === 0
      ? []
      : [style.bold("Changed on both sides, combined:"), mergedList(merge.merged, output, all)]),
    ...(held.length === 0 ? [] : [style.bold(`Held back: ${held.join(", ")}`)]),
    ...(open.length === 0 ? [] : [conflictTable(open, output, all)]),
    ...(merge.notMerged.length === 0
      ? []
      : [
          style.bold("Not merged:"),
          table(
            merge.notMerged.map(({ path, reason }) => [
              { text: visiblePath(path) },
              { text: visible(reason), paint: style.dim },
            ]),
            { width: output.width, indent: "  ", flexible: 1 },
          ),
        ]),
  ];
}

function mergedList(merged: MergePlan["merge"]["merged"], output: Output, all: boolean | undefined): string {
  return listText(merged, { output, all }, (shown) =>
    table(
      shown.map(({ path, severity, how, agents }) => [
        { text: visiblePath(path) },
        { text: `[${severity}]`, paint: paintOf(severity, output.style) },
        { text: `${HOW[how]}: ${agents.map(visible).join(", ")}`, paint: output.style.dim },
      ]),
      { width: output.width, indent: "  ", flexible: 2 },
    ),
  );
}

const HOW: Readonly<Record<MergePlan["merge"]["merged"][number]["how"], string>> = {
  lines: "by lines",
  format: "only the layout of one",
  rename: "moved and changed",
  lock: "lock file",
  generated: "generated again",
};

/** Conflicts as rows: where, how hard, why, whose, and how they can be decided. */
export function conflictTable(
  conflicts: readonly MergeConflict[],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(conflicts, { output, all }, (shown) =>
    table(
      shown.map((conflict) => [
        { text: conflictName(conflict) },
        { text: `[${conflict.severity}]`, paint: paintOf(conflict.severity, output.style) },
        { text: visible(stateText(conflict)) },
        { text: conflict.agents.map(visible).join(", "), paint: output.style.dim },
        { text: conflict.id.slice(0, 8), paint: output.style.dim },
      ]),
      { width: output.width, indent: "  ", flexible: 2, dispensable: [4, 3] },
    ),
  );
}

/** Where a conflict is; what a check refuses is not a single path. */
function conflictName({ kind, path, source }: Pick<MergeConflict, "kind" | "path" | "source">): string {
  return kind === "check" ? `all of ${visible(source)}` : visiblePath(path);
}

function stateText({ reason, resolution, chosen, regions }: MergeConflict): string {
  if (resolution !== null) return `decided: ${resolution.take}, by ${resolution.by}`;
  const parts = Object.keys(chosen).length;
  return parts === 0 ? reason : `${parts} of ${regions.length} regions decided; ${reason}`;
}

function paintOf(severity: Severity, style: Style): Paint {
  return severity === "low" || severity === "medium"
    ? style.dim
    : severity === "high"
      ? style.yellow
      : style.red;
}

/** What a merge did, in words for the terminal. */
export function mergeOutcomeText(outcome: MergeOutcome, output: Output, all: boolean | undefined): string {
  const { merge } = outcome;
  const { style } = output;
  const held = merge.sources.filter((source) => source.outcome === "held").map(({ name }) => visible(name));
  const open = merge.conflicts.filter(({ state }) => state === "open");
  const came = outcome.steps.map(({ description }) => visible(description)).join("; ");
  const remarks = [...mergeRemarks(outcome, output, all), ...commitsText(outcome)];
  const next = nextText(open, output);
  const written = writtenCounts(outcome);
  const files = written.join(", ") || "no file changed";
  switch (outcome.outcome) {
    case "unchanged":
      return `Nothing to merge: ${merge.sources.map(({ name }) => visible(name)).join(", ")} ${merge.sources.length === 1 ? "has" : "have"} nothing new.`;
    case "conflicts":
      return [
        `${style.yellow("!")} Nothing was merged: ${held.join(", ")} ${held.length === 1 ? "has" : "have"} ${count(open.length, "conflict")}. No file was touched.`,
        ...remarks,
        ...next,
      ].join("\n");
    default:
      return [
        `${outcome.outcome === "applied" ? style.green("✓") : style.yellow("!")} ${came} (${files}; ${duration(outcome.durationMs)})`,
        ...remarks,
        ...next,
        // what changed no file is no step: `undo` would take the one before it
        ...(output.quiet || written.length === 0
          ? []
          : [`${style.dim("→")} \`belay undo\` takes this back.`]),
      ].join("\n");
  }
}

/** [R93] Commits stay in the fork; this is how git takes them over. */
function commitsText({ merge }: MergeOutcome): string[] {
  return merge.sources.flatMap(({ name, ownCommits }) => {
    if (ownCommits === null) return [];
    const { commits, path, refs } = ownCommits;
    const fetch = shellWords(["git", "fetch", path, ...refs.map((ref) => ref.replace(/^refs\/heads\//, ""))]);
    return [
      `${count(commits, "commit")} of ${visible(name)} ${commits === 1 ? "stays" : "stay"} in its fork: \`${visible(fetch)}\` takes ${commits === 1 ? "it" : "them"} over.`,
    ];
  });
}

function nextText(open: readonly MergeConflict[], output: Output): string[] {
  const [first] = open;
  if (first === undefined || output.quiet) return [];
  const decide = shellWords([
    "belay",
    "resolve",
    first.kind === "check" ? first.id.slice(0, 8) : visiblePath(first.path),
    "--take",
    first.options[0] ?? "ours",
  ]);
  return [
    `${output.style.dim("→")} \`belay conflicts\` shows them; \`${decide}\` decides one; \`belay resolve\` asks for each.`,
  ];
}

/** A plan of a merge, in one line: `3 files: 1 created, 2 changed` */
export function planCounts({ edits }: Pick<MergePlan, "edits">): string {
  const { added, modified, deleted } = countChanges(edits);
  const parts = [
    [added, "created"],
    [modified, "changed"],
    [deleted, "deleted"],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return `${count(added + modified + deleted, "file")}: ${named.join(", ")}`;
}

/** One conflict with its sides, region by region. */
export function conflictText(conflict: MergeConflict, output: Output): string {
  const { style } = output;
  const { severity, reasons, options, source, agents, otherPath, kind } = conflict;
  const head = `${style.bold(conflictName(conflict))} ${paintOf(severity, style)(`[${severity}]`)} ${kind}`;
  return [
    head,
    ...(otherPath === null ? [] : [`  the other name: ${visiblePath(otherPath)}`]),
    `  ${agents.map(visible).join(" and ")}; ours is the files here, theirs is ${visible(source)}`,
    ...reasons.map((reason) => `  ${visible(reasonText(reason))}`),
    ...regionsText(conflict, output),
    ...mergerText(conflict, output),
    `  ${style.dim("options:")} ${options.join(", ")}`,
    // an open one has said why already
    ...(stateText(conflict) === conflict.reason ? [] : [`  ${stateText(conflict)}`]),
  ].join("\n");
}

/** What a merger offers, why, and what of either side it left out: that is what has to be judged. */
function mergerText({ merger, path }: MergeConflict, { style }: Output): string[] {
  if (merger === null) return [];
  const look = shellWords(["belay", "resolve", visiblePath(path), "--take", "merger", "--dry-run"]);
  return [
    `  ${style.bold("merger")}: ${visible(merger.explanation)}`,
    ...merger.dropped.map(
      ({ side, text, reason }) => `    left out of ${side}: ${visible(text)} (${visible(reason)})`,
    ),
    `    ${style.dim("→")} \`${look}\` shows it`,
  ];
}

function reasonText({ code, detail }: MergeConflict["reasons"][number]): string {
  const isUnchecked = code === "syntax" && detail === "unchecked";
  return isUnchecked ? "its language is not one that is checked: only lines were compared" : detail;
}

const SHOWN_LINES = 12;

function regionsText(conflict: MergeConflict, output: Output): string[] {
  const { style } = output;
  return conflict.regions.flatMap((region, index) => {
    const side = (name: "base" | "ours" | "theirs", paint: Paint, mark: string) => {
      const [start, end] = region[name];
      const lines = linesOf(conflict.content(name)).slice(start, end);
      const more = lines.length - SHOWN_LINES;
      return [
        ...lines.slice(0, SHOWN_LINES).map((line) => paint(`    ${mark} ${visible(line)}`)),
        ...(more > 0 ? [style.dim(`    ${mark} … ${count(more, "more line")}`)] : []),
      ];
    };
    const taken = conflict.chosen[index + 1];
    return [
      `  ${style.bold(`region ${index + 1}`)} (${region.class})${taken === undefined ? "" : `: ${taken}`}`,
      ...side("base", style.dim, "|"),
      ...side("ours", style.green, "<"),
      ...side("theirs", style.cyan, ">"),
    ];
  });
}

function linesOf(content: Buffer | null): string[] {
  return content === null ? [] : content.toString("utf8").split("\n");
}
