/**
 * Lets the user's programs look at a merge before it changes a file: files that are made by a program are generated again,
 * and a check tries the result. Both work in a scratch copy. [R793, R794] What a program does there changes nothing here.
 */
import type { Context } from "../capture/context.ts";
import { Overlay } from "../capture/overlay.ts";
import { editTree } from "../diff/edit-tree.ts";
import { branchAt } from "../history/branches.ts";
import type { ConflictRecord } from "../history/merge-rows.ts";
import { displayPath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckRun, MergeCheck, MergePrograms } from "../model/merge.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { NO_RESULTS, type ProgramResults, type TriableMerge } from "./plan-merge.ts";
import { resultOf } from "./resolution-result.ts";

/** What trying a merge needs. */
export interface MergeTrial {
  readonly context: Context;
  readonly programs: MergePrograms;
  /** The plan with what programs said so far. */
  plan(results: ProgramResults): Promise<TriableMerge>;
  /** Runs work in a scratch copy of a state. */
  inScratch<Result>(
    state: {
      readonly snapshot: ObjectHash;
      readonly objects: ObjectSource;
      readonly excluded: readonly ExcludedRoot[];
    },
    work: (directory: string) => Promise<Result>,
  ): Promise<Result>;
  /** The branches that come in whatever a check says. */
  readonly accepted: ReadonlySet<number>;
}

/** The plan after all programs: what they generated is in it, what they refused is held back. */
export async function tryMerge(trial: MergeTrial): Promise<TriableMerge> {
  const { results, planned } = await generateAgain(trial);
  return trial.programs.check === undefined ? planned : checkPrefixes(trial, results, planned);
}

/** What was generated again, source by source: each stands on those before it. */
async function generateAgain(trial: MergeTrial): Promise<{ results: ProgramResults; planned: TriableMerge }> {
  const { programs } = trial;
  const given = new Set<string>();
  let results = NO_RESULTS;
  let planned = await trial.plan(results);
  if (programs.regenerate === undefined) return { results, planned };
  for (;;) {
    const waiting = planned.merge.record.conflicts.filter(
      (conflict) => isMadeByProgram(conflict) && !given.has(keyOf(conflict)),
    );
    const [first] = waiting;
    if (first === undefined) return { results, planned };
    const together = waiting.filter(({ sourceBranch }) => sourceBranch === first.sourceBranch);
    for (const conflict of together) given.add(keyOf(conflict));
    const made = await generateFor(trial, results, together);
    if (made.length === 0) continue;
    results = withGenerated(results, made);
    planned = await trial.plan(results);
  }
}

const MADE_BY_PROGRAMS: ReadonlySet<string> = new Set(["lock", "generated"]);

/** Whether a conflict is open, and in a file that a program makes. */
export function isMadeByProgram({ kind, state }: ConflictRecord): boolean {
  return state === "open" && MADE_BY_PROGRAMS.has(kind);
}

/** A conflict that is found again by the next plan has another id. */
function keyOf({ path, sourceBranch }: ConflictRecord): string {
  return `${sourceBranch} ${path}`;
}

/** A conflict, and the content that a program made for it. */
export interface MadeAgain {
  readonly conflict: ConflictRecord;
  readonly content: Buffer;
}

/** Generates the files of one source, with ours in their place, where nothing else of that source is to be decided. */
export async function generateFor(
  trial: MergeTrial,
  results: ProgramResults,
  conflicts: readonly ConflictRecord[],
): Promise<MadeAgain[]> {
  const oursTaken = conflicts.map((conflict): ConflictRecord => ({
    ...conflict,
    state: "resolved",
    result: [[conflict.path, conflict.ours]],
    by: "auto",
  }));
  const planned = await trial.plan({ ...results, generated: [...results.generated, ...oursTaken] });
  const { parts, record } = planned.merge;
  const at = parts.findIndex(({ source }) => record.sources[source]!.branch === conflicts[0]!.sourceBranch);
  const isWhole = at >= 0 && record.sources[parts[at]!.source]!.outcome === "merged";
  if (!isWhole) return [];
  return trial.inScratch(stateAfter(trial.context, planned, at + 1), async (directory) => {
    const made: MadeAgain[] = [];
    for (const conflict of conflicts) {
      const kind = conflict.kind as "lock" | "generated";
      const content = await trial.programs.regenerate!(directory, displayPath(conflict.path), kind);
      if (content !== undefined) made.push({ conflict, content });
    }
    return made;
  });
}

/** What programs said, and these contents in the place of conflicts. */
export function withGenerated(results: ProgramResults, made: readonly MadeAgain[]): ProgramResults {
  const contents = new Map(results.contents);
  const put = (content: Buffer) => {
    const name = hashBytes(content);
    contents.set(name, content);
    return name;
  };
  const generated = made.map(({ conflict, content }): ConflictRecord => ({
    ...conflict,
    state: "resolved",
    result: resultOf(conflict, { content }, { read: () => content, put }).result ?? null,
    by: "auto",
    note: { take: "regenerate" },
  }));
  return { ...results, contents, generated: [...results.generated, ...generated] };
}

/** The state that a merge leads to with its first sources. */
export function stateAfter(
  { workingCopy }: Context,
  { merge, objects, excluded }: TriableMerge,
  parts: number,
): Parameters<MergeTrial["inScratch"]>[0] {
  const overlay = new Overlay(objects, workingCopy.root);
  const snapshot = merge.parts
    .slice(0, parts)
    .reduce((state, { edits }) => editTree({ source: overlay, sink: overlay }, state, edits), merge.base);
  return { snapshot, objects: overlay, excluded };
}

/**
 * [R793] Tries the whole result. Where it fails, each source is tried onto those that passed, in their order, and held back
 * where it makes the check fail.
 */
async function checkPrefixes(
  trial: MergeTrial,
  results: ProgramResults,
  whole: TriableMerge,
): Promise<TriableMerge> {
  const runs = new Map<ObjectHash, CheckRun>();
  const passes = async (planned: TriableMerge, parts: number): Promise<CheckRun> => {
    const state = stateAfter(trial.context, planned, parts);
    const run = runs.get(state.snapshot) ?? (await trial.inScratch(state, trial.programs.check!));
    runs.set(state.snapshot, run);
    return run;
  };
  const isTried = ({ merge }: TriableMerge) =>
    merge.parts.some(({ source, edits }) => edits.length > 0 && !isAccepted(merge, source));
  const isAccepted = ({ record }: TriableMerge["merge"], source: number) =>
    trial.accepted.has(record.sources[source]!.branch);
  if (!isTried(whole)) return whole;
  const first = await passes(whole, whole.merge.parts.length);
  if (first.exitCode === 0) return withChecks(whole, [checkOf(first, null)]);
  const before = await passes(whole, 0);
  if (before.exitCode !== 0) throw failsAlready(before);
  const refused = new Map(results.refused);
  const checks: MergeCheck[] = [];
  for (const number of whole.merge.record.sources.keys()) {
    const planned = await trial.plan({ ...results, refused });
    const at = planned.merge.parts.findIndex(({ source }) => source === number);
    if (at < 0 || isAccepted(planned.merge, number)) continue;
    const run = await passes(planned, at + 1);
    if (run.exitCode === 0) continue;
    // behind one that comes in although it fails, nothing can be told about the next
    if ((await passes(planned, at)).exitCode !== 0) continue;
    const { name } = branchAt(trial.context.store.db, planned.merge.record.sources[number]!.branch);
    refused.set(number, { code: "check", line: null, detail: failureOf(run, name) });
    checks.push(checkOf(run, name));
  }
  const planned = await trial.plan({ ...results, refused });
  if (isTried(planned)) {
    const last = await passes(planned, planned.merge.parts.length);
    if (last.exitCode === 0) checks.push(checkOf(last, null));
  }
  return withChecks(planned, checks);
}

function withChecks(planned: TriableMerge, checks: readonly MergeCheck[]): TriableMerge {
  const { merge } = planned;
  const record = { ...merge.record, checks: [...merge.record.checks, ...checks] };
  return { ...planned, merge: { ...merge, record } };
}

function checkOf({ command, exitCode, durationMs }: CheckRun, source: string | null): MergeCheck {
  return { command, source, exitCode, durationMs };
}

function failureOf({ command, exitCode, output }: CheckRun, source: string): string {
  const last = output.trim().split("\n").at(-1)?.trim() ?? "";
  const said = last === "" ? "" : `: ${last.slice(0, SAID_CHARACTERS)}`;
  return `${command.join(" ")} ends with ${exitCode} once ${source} is merged${said}`;
}

const SAID_CHARACTERS = 200;

function failsAlready({ command, exitCode, output }: CheckRun): EngineError<"CHECK_FAILED"> {
  const message = `The check ${command.join(" ")} ends with ${exitCode} on the files as they are, without the merge. Nothing was changed.`;
  return new EngineError("CHECK_FAILED", message, {
    command: [...command],
    exitCode,
    output: output.slice(-OUTPUT_CHARACTERS),
  });
}

const OUTPUT_CHARACTERS = 4000;
