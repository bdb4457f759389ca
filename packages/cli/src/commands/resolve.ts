import type {
  ConflictChoice,
  FileChange,
  MergeConflict,
  MergeOption,
  MergeOutcome,
  ResolvedConflict,
  TriedDecision,
  Workspace,
} from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import {
  mergeConflictJson,
  mergeOutcomeJson,
  resolvedConflictJson,
  triedDecisionJson,
} from "@belay/server/json";
import { ALL_ENTRIES, ANY_NUMBER, defineCommand, GOING_BACK_EXITS, YES, type Call } from "../call/command.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { conflictRef } from "../command-parts/conflict-ref.ts";

export default defineCommand({
  usage:
    "resolve <conflict|path> --take <option> [--region n] [--dry-run] | resolve <conflict|path> --file f [--dry-run] | resolve <conflict|path> --edit | resolve <conflict|path> --reopen | resolve [conflict|path] --agent [-- <command…>] | resolve --regenerate | resolve",
  about: `Decides a conflict of a merge: with one of its options, region by region, with the content of a file, or in your
editor. A decision can be taken back with --reopen until the last one is made: that one brings in what was held back,
as one step that can be undone. Without anything, on a terminal: asks for each conflict in turn.

With --agent a program of yours, or the merger of \`agents.roles.merger\`, is asked to combine conflicts of text, in a copy of
the project: it finds the task in $BELAY_TASK and writes its answer to $BELAY_ANSWER. What it answers is checked: it may change nothing else, leave no marks,
and must account for every line. What does not overlap is taken then; the rest becomes the option "merger". With --regenerate
package managers write lock files again, and commands of \`merge.generators\` other files, in a copy of the merge; the first
use of each is asked about, and --yes agrees to all of them.`,
  options: {
    take: {
      type: "string",
      value: "option",
      about: "ours, theirs, both, base, proposal, merger, delete or keep",
    },
    region: { type: "string", value: "n", about: "only this region, counted from 1" },
    file: { type: "string", value: "f", about: "take the content of this file" },
    edit: { type: "boolean", about: "write it in your editor" },
    reopen: { type: "boolean", about: "take a decision back" },
    agent: { type: "boolean", about: "ask the merger of config.json, or the command after --" },
    regenerate: { type: "boolean", about: "have lock files and generated files written again" },
    merge: { type: "string", value: "merge", about: "with --agent and --regenerate: only of this merge" },
    "dry-run": { type: "boolean", about: "only show what the decision would change; with --take and --file" },
    all: ALL_ENTRIES,
    yes: YES,
  },
  operands: { min: 0, max: ANY_NUMBER },
  examples: ["belay resolve src/parser.ts --take ours"],
  exits: { ...GOING_BACK_EXITS, 3: "refused, or conflicts are left; nothing is lost" },
  run: (call) => {
    const way = wayOf(call);
    return withWorkspace(call, (workspace) => way(call, workspace));
  },
});

type ResolveCall = Pick<
  Call,
  "json" | "output" | "operands" | "dashesAt" | "directory" | "home" | "environment"
> & {
  readonly options: {
    take?: string;
    region?: string;
    file?: string;
    edit?: boolean;
    reopen?: boolean;
    agent?: boolean;
    regenerate?: boolean;
    merge?: string;
    "dry-run"?: boolean;
    all?: boolean;
    yes?: boolean;
  };
};

type Way = (call: ResolveCall, workspace: Workspace) => Promise<number>;

function wayOf({ options, operands, dashesAt, output, json }: ResolveCall): Way {
  const { take, region, file, edit, reopen, "dry-run": dryRun } = options;
  if (dryRun === true && (operands.length === 0 || (take === undefined && file === undefined)))
    throw usageError("--dry-run goes with --take and --file.", "`belay conflicts <path>` shows the options.");
  if (options.agent === true) {
    if (dashesAt > 1 || [take, region, file, edit, reopen, options.regenerate].some(Boolean))
      throw usageError(
        "--agent takes a conflict, and a command after --.",
        "`belay resolve --agent -- my-merger`",
      );
    return askProgram;
  }
  if (options.regenerate === true) {
    if (operands.length > 0 || [take, region, file, edit, reopen].some(Boolean))
      throw usageError("--regenerate takes nothing else but --merge.", "`belay resolve --regenerate`");
    return regenerate;
  }
  if (operands.length > 1) throw usageError("resolve takes one conflict.", "`belay conflicts` lists them.");
  const asked = [take !== undefined, file !== undefined, edit === true, reopen === true].filter(
    Boolean,
  ).length;
  if (region !== undefined && (take === undefined || !/^[1-9]\d{0,5}$/.test(region)))
    throw usageError(
      "--region takes a number, and goes with --take.",
      "`belay conflicts <path>` numbers them.",
    );
  if (operands.length === 0) {
    if (asked > 0) throw usageError("resolve needs a conflict or its path.", "`belay conflicts` lists them.");
    if (json || !output.canAsk)
      throw usageError("resolve needs a conflict, or a terminal to ask on.", "`belay conflicts` lists them.");
    return askForEach;
  }
  if (asked !== 1)
    throw usageError(
      "resolve takes one of --take, --file, --edit and --reopen.",
      "`belay conflicts <path>` shows the options.",
    );
  return reopen === true ? openAgain : decideOne;
}

const openAgain: Way = async (call, workspace) => {
  const conflict = await workspace.reopen(await refOf(call, workspace));
  if (call.json) call.output.json({ conflict: mergeConflictJson(conflict) });
  else if (!call.output.quiet) call.output.print(`${visiblePath(conflict.path)} is to be decided again.`);
  return EXIT.done;
};

const decideOne: Way = async (call, workspace) => {
  const ref = await refOf(call, workspace);
  const { openSyntax } = await import("../wiring/open-syntax.ts");
  const syntax = await openSyntax();
  const choice = { ...(await choiceOf(call, workspace, ref)), ...(syntax && { syntax }) };
  if (call.options["dry-run"] === true) return showTried(call, await workspace.merges.tryOut(ref, choice));
  return settled(call, workspace, await workspace.resolve(ref, choice));
};

/** [R1758] What a decision would come to; nothing is recorded. */
async function showTried(call: ResolveCall, tried: TriedDecision): Promise<number> {
  const { output } = call;
  if (call.json) {
    output.json(triedDecisionJson(tried));
    return EXIT.done;
  }
  const { diffForPeople } = await import("../output/diff-text.ts");
  warn(call, tried.warnings);
  const left = tried.isWhole ? [] : ["Regions are left to decide."];
  const diff =
    tried.files.length === 0 ? "Nothing would change." : diffForPeople(tried.files.map(withText), output);
  output.print([...left, diff].join("\n"));
  return EXIT.done;
}

/** The change of a file with its lines as text, as far as it has any. */
function withText({ file, hunks }: TriedDecision["files"][number]): FileChange {
  if (hunks.length === 0) return file;
  const path = visiblePath(file.path);
  const lines = hunks.flatMap((hunk) => [
    hunk.header,
    ...hunk.lines.map(({ type, text }) => `${type}${text}`),
  ]);
  return { ...file, diff: `${[`--- a/${path}`, `+++ b/${path}`, ...lines].join("\n")}\n` };
}

function warn({ output }: ResolveCall, warnings: ResolvedConflict["warnings"]): void {
  for (const { line, detail } of warnings)
    output.warn(
      `${output.noteStyle.yellow("warning:")} ${line === null ? "" : `line ${line}: `}${visible(detail)}`,
    );
}

async function choiceOf(call: ResolveCall, workspace: Workspace, ref: string): Promise<ConflictChoice> {
  const { take, region, file } = call.options;
  if (take !== undefined)
    return { take: take as MergeOption, ...(region !== undefined && { region: Number(region) }) };
  if (file !== undefined) return { content: await contentOf(call, file), take: "file" };
  const { editConflict } = await import("../merging/edit-conflict.ts");
  const content = await editConflict(
    call,
    await workspace.merges.conflict(ref),
    await workspace.merges.marked(ref),
  );
  return { content, take: "edit" };
}

async function contentOf({ directory }: ResolveCall, file: string): Promise<Buffer> {
  const { readFileSync } = await import("node:fs");
  const { resolve } = await import("node:path");
  try {
    return readFileSync(resolve(directory, file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ContractError("FILE_SYSTEM", `${file} cannot be read: ${reason}. Nothing was changed.`, {
      facts: { path: file, operation: "read" },
    });
  }
}

function refOf(call: ResolveCall, workspace: Workspace): Promise<string> {
  return conflictRef(call, workspace, call.operands[0]!);
}

/** Reports a decision; the last one brings in the rest. */
async function settled(call: ResolveCall, workspace: Workspace, done: ResolvedConflict): Promise<number> {
  const { output } = call;
  const isLast = done.open === 0 && done.conflict.state === "resolved";
  if (!call.json) {
    warn(call, done.warnings);
    if (!output.quiet && !isLast) output.print(decidedText(done));
  }
  if (!isLast) {
    if (call.json) output.json(resolvedConflictJson(done));
    return EXIT.done;
  }
  const { bringIn } = await import("../merging/bring-in.ts");
  return bringIn(call, workspace, done);
}

function decidedText({ conflict, open }: ResolvedConflict): string {
  const { path, state, chosen, regions, resolution } = conflict;
  const what =
    state === "resolved"
      ? `${visiblePath(path)}: ${resolution?.take}`
      : `${visiblePath(path)}: ${Object.keys(chosen).length} of ${regions.length} regions decided`;
  return `${what}; ${open} left to decide.`;
}

const askProgram: Way = async (call, workspace) => {
  const { operands, dashesAt } = call;
  const words = operands.slice(dashesAt);
  const named = operands.slice(0, dashesAt);
  const { askAndBringIn } = await import("../merging/merger-flow.ts");
  const { openHere } = await import("../merging/bring-in.ts");
  const conflicts =
    named.length === 0
      ? (await openHere(workspace)).filter(ofMerge(call))
      : [await workspace.merges.conflict(await refOf(call, workspace))];
  return askAndBringIn(call, workspace, { conflicts, ...(words.length > 0 && { command: words }) });
};

/** `--merge` limits what is meant to one merge. */
function ofMerge({ options }: ResolveCall): (conflict: MergeConflict) => boolean {
  return ({ merge }) => options.merge === undefined || merge.startsWith(options.merge);
}

/** Generates lock files and other made files again, and brings in each merge that is decided by that. */
const regenerate: Way = async (call, workspace) => {
  const { openHere, applyRest, isDone } = await import("../merging/bring-in.ts");
  const { regenerators } = await import("../merging/merge-programs.ts");
  const { openSyntax } = await import("../wiring/open-syntax.ts");
  const { untilInterrupted } = await import("../call/until-interrupted.ts");
  const syntax = await openSyntax();
  const merges = [...new Set((await openHere(workspace)).filter(ofMerge(call)).map(({ merge }) => merge))];
  const decided = await untilInterrupted(async (signal) => {
    const request = { workspace: workspace.id, yes: call.options.yes === true, signal };
    const means = { regenerate: regenerators(call, request), ...(syntax && { syntax }) };
    const made: ResolvedConflict[] = [];
    for (const merge of merges) made.push(...(await workspace.merges.regenerate(merge, means)));
    return made;
  });
  if (decided.length === 0)
    throw new ContractError("ANSWER_REFUSED", "No file could be generated again. Nothing was changed.", {
      hint: "Decide the other conflicts of the same branch first; `belay conflicts` lists them.",
      facts: { conflict: "", options: [] },
    });
  const outcomes: MergeOutcome[] = [];
  for (const { conflict, open } of decided)
    if (open === 0) {
      const outcome = await applyRest(call, workspace, conflict.merge);
      if (outcome !== undefined) outcomes.push(outcome);
    }
  if (call.json)
    call.output.json({
      conflicts: decided.map(({ conflict }) => mergeConflictJson(conflict)),
      merges: outcomes.map(mergeOutcomeJson),
    });
  else {
    const { report } = await import("../merging/merge-flow.ts");
    for (const { conflict } of decided) call.output.print(`${visiblePath(conflict.path)}: generated again`);
    for (const outcome of outcomes) report(call, outcome);
  }
  return (await openHere(workspace)).length === 0 && outcomes.every(isDone) ? EXIT.done : EXIT.refused;
};

const askForEach: Way = async (call, workspace) => {
  const { openHere } = await import("../merging/bring-in.ts");
  const open = (await openHere(workspace)).filter(({ kind }) => kind !== "check");
  if (open.length === 0) {
    call.output.print("Nothing waits to be decided.");
    return EXIT.done;
  }
  const { askConflicts } = await import("../merging/ask-conflicts.ts");
  const answers = await askConflicts(call, workspace, open);
  if (answers === undefined) {
    call.output.print("Nothing was decided.");
    return EXIT.refused;
  }
  const last = new Map<string, ResolvedConflict>();
  for (const { conflict, choice } of answers)
    last.set(conflict.merge, await workspace.resolve(conflict.id, choice));
  return settleEach(call, workspace, [...last.values()]);
};

/** Reports the last decision of each merge; the first exit code that is not success counts. */
async function settleEach(
  call: ResolveCall,
  workspace: Workspace,
  decisions: readonly ResolvedConflict[],
): Promise<number> {
  let exit: number = EXIT.done;
  for (const done of decisions) {
    const own = await settled(call, workspace, done);
    if (exit === EXIT.done) exit = own;
  }
  return exit;
}
