/**
 * Asks a merger to combine conflicts that analysis only proposes for. What it answers is data: [R98] an answer is taken
 * only where it changed nothing else, left no marks, keeps to the conflict, parses, accounts for every line that it leaves
 * out or brings back, and passes the check of the settings. Everything else changes nothing.
 */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentBook, Tokens } from "@belay/agents/orchestration";
import {
  checkResolution,
  displayPath,
  type CheckRun,
  type DroppedLine,
  type MergeConflict,
  type Syntax,
  type Workspace,
} from "@belay/engine";
import type { Call } from "../call/command.ts";
import { holdsSecret, isNamedSecret } from "../output/secret-file.ts";
import { askEndpoint, runMerger, type Merger, type MergerTry } from "./merger.ts";
import { makeMergerScratch, type Scratch } from "./merger-scratch.ts";
import { mergerTask, type MergerAnswer } from "./merger-task.ts";
import { summaryOf } from "./run-summary.ts";

/** What became of one conflict. */
export interface MergerResult {
  readonly conflict: MergeConflict;
  /** `resolved`: taken. `offered`: a person may take it. `refused`: it failed a check. `declined`: no answer, or not asked. */
  readonly outcome: "resolved" | "offered" | "refused" | "declined";
  /** Why it was refused, or not asked. */
  readonly problems: readonly string[];
}

/** What a merger was asked for came to, and what it cost as far as it said. */
export interface MergerReport {
  readonly results: readonly MergerResult[];
  readonly cost: number | null;
  readonly tokens: number | null;
}

/** How a merger is asked. */
export interface MergerRequest {
  readonly merger: Merger;
  /** How what agents print is read. */
  readonly agents: AgentBook;
  readonly conflicts: readonly MergeConflict[];
  readonly syntax: Syntax | undefined;
  /** Tries the result of all answers together. */
  readonly check?: ((directory: string) => Promise<CheckRun>) | undefined;
  /** How long each try may take. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 10 * 60_000;

/** Conflicts of text, and no other: machines bring deleted files back [I71]. */
export function canBeMerged({ kind, state, regions }: MergeConflict): boolean {
  return kind === "content" && state === "open" && regions.length > 0;
}

/** Asks, checks, asks once more where a check failed, and takes or offers what is good. */
export async function askMerger(
  call: Pick<Call, "environment">,
  workspace: Workspace,
  request: MergerRequest,
): Promise<MergerReport> {
  const { conflicts, merger } = request;
  const kept = merger.kind === "endpoint" ? conflicts.filter(looksSecret) : [];
  const results = kept.map((conflict): MergerResult => ({ conflict, outcome: "declined", problems: [KEPT] }));
  if (kept.length === conflicts.length) return { results, cost: null, tokens: null };
  const told = await askTwice(call, workspace, {
    ...request,
    conflicts: conflicts.filter((conflict) => !kept.includes(conflict)),
  });
  return { ...told, results: [...results, ...told.results] };
}

const KEPT = "not sent: it looks like it holds secrets";

/** [R1451] What would not even be shown does not leave the machine. */
function looksSecret(conflict: MergeConflict): boolean {
  const texts = [conflict.content("base"), conflict.content("ours"), conflict.content("theirs")];
  return (
    isNamedSecret(displayPath(conflict.path)) || texts.some((each) => each !== null && holdsSecret(each))
  );
}

async function askTwice(
  call: Pick<Call, "environment">,
  workspace: Workspace,
  request: MergerRequest,
): Promise<MergerReport> {
  const first = await tryOnce(call, workspace, { ...request, feedback: [] });
  const refused = first.results.filter(({ outcome }) => outcome === "refused");
  if (refused.length === 0) return first;
  const again = await tryOnce(call, workspace, {
    ...request,
    conflicts: refused.map(({ conflict }) => conflict),
    feedback: refused.flatMap(({ problems }) => problems),
  });
  return {
    results: [...first.results.filter(({ outcome }) => outcome !== "refused"), ...again.results],
    cost: sumOf(first.cost, again.cost),
    tokens: sumOf(first.tokens, again.tokens),
  };
}

/** [R102] What neither reported is not zero. */
function sumOf(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}

type Try = MergerRequest & { readonly feedback: readonly string[] };

async function tryOnce(
  { environment }: Pick<Call, "environment">,
  workspace: Workspace,
  request: Try,
): Promise<MergerReport> {
  const { conflicts, feedback, merger, timeoutMs = TIMEOUT_MS, signal } = request;
  await request.syntax?.load(conflicts.map(({ path }) => displayPath(path)));
  const runs = await workspace.runs.list();
  const task = mergerTask({
    conflicts,
    feedback,
    runs,
    summaryOf: (run) => summaryOf(run, request.agents),
  });
  const question = { task, environment, timeoutMs, signal };
  using scratch = merger.kind === "agent" ? await makeMergerScratch(workspace, conflicts) : undefined;
  const tried =
    merger.kind === "agent"
      ? await runMerger(merger.agent, scratch!, question)
      : await askEndpoint(merger.endpoint, question);
  return {
    results: await judgeAll(workspace, request, { tried, scratch }),
    cost: tried.cost,
    tokens: totalOf(tried.tokens),
  };
}

function totalOf(tokens: Tokens | null): number | null {
  return tokens?.total ?? null;
}

async function judgeAll(
  workspace: Workspace,
  { conflicts, syntax, check }: Try,
  { tried, scratch }: { tried: MergerTry; scratch: Scratch | undefined },
): Promise<MergerResult[]> {
  const refuseAll = (problem: string) =>
    conflicts.map((conflict): MergerResult => ({ conflict, outcome: "refused", problems: [problem] }));
  const { answers } = tried;
  if (answers === undefined) return refuseAll(tried.problem ?? "it gave no answer");
  const asked = new Set(conflicts.map(({ path }) => displayPath(path)));
  const foreign = (scratch?.changed() ?? []).filter((path) => !asked.has(path));
  if (foreign.length > 0) return refuseAll(`it changed other files: ${foreign.slice(0, 5).join(", ")}`);
  const judged = conflicts.map((conflict) =>
    judge(conflict, { answer: answers.get(conflict.id), scratch, syntax }),
  );
  const good = judged.flatMap((each) => ("good" in each ? [each.good] : []));
  const { isChecked, failure } = await checkAnswers(workspace, good, check);
  const results: MergerResult[] = [];
  for (const each of judged) {
    if (!("good" in each)) results.push(each);
    else if (failure !== undefined)
      results.push({ conflict: each.good.conflict, outcome: "refused", problems: [failure] });
    else results.push(await take(workspace, each.good, isChecked));
  }
  return results;
}

/** An answer that keeps to its conflict. */
interface Good {
  readonly conflict: MergeConflict;
  readonly content: Buffer;
  readonly explanation: string;
  readonly dropped: readonly DroppedLine[];
}

function judge(
  conflict: MergeConflict,
  {
    answer,
    scratch,
    syntax,
  }: { answer: MergerAnswer | undefined; scratch: Scratch | undefined; syntax: Syntax | undefined },
): MergerResult | { readonly good: Good } {
  if (answer?.status !== "resolved") return { conflict, outcome: "declined", problems: [] };
  const path = displayPath(conflict.path);
  const content = scratch === undefined ? textOf(answer) : fileOf(scratch, path);
  if (content === undefined)
    return { conflict, outcome: "refused", problems: [`${path} is no longer a file`] };
  const { explanation, dropped } = answer;
  const problems = checkResolution(conflict, { content, dropped }, syntax).map(
    ({ detail, line }) => `${path}${line === null ? "" : ` line ${line}`}: ${detail}`,
  );
  if (problems.length > 0) return { conflict, outcome: "refused", problems };
  return { good: { conflict, content, explanation, dropped } };
}

function textOf({ content }: MergerAnswer): Buffer | undefined {
  return content === undefined ? undefined : Buffer.from(content, "utf8");
}

/** A link could lead out of the copy. */
function fileOf({ tree }: Scratch, path: string): Buffer | undefined {
  try {
    const file = join(tree, path);
    return lstatSync(file).isFile() ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Where other conflicts of the merge are left, nothing can be tried yet: the merge itself will be, when it goes on. */
async function checkAnswers(
  workspace: Workspace,
  good: readonly Good[],
  check: MergerRequest["check"],
): Promise<{ isChecked: boolean; failure?: string }> {
  if (check === undefined || good.length === 0) return { isChecked: false };
  let isChecked = true;
  for (const [merge, answers] of Map.groupBy(good, ({ conflict }) => conflict.merge)) {
    const texts = new Map(answers.map(({ conflict, content }) => [conflict.id, content]));
    const open = (await workspace.conflicts(merge)).filter(({ state }) => state === "open");
    if (open.some(({ id }) => !texts.has(id))) isChecked = false;
    else {
      const { exitCode, command, output } = await workspace.merges.tryAnswers(merge, texts, check);
      const last = output.trim().split("\n").at(-1) ?? "";
      if (exitCode !== 0)
        return {
          isChecked: true,
          failure: `${command.join(" ")} ends with ${exitCode}: ${last.slice(0, 200)}`,
        };
    }
  }
  return { isChecked };
}

/** [M45] Without a person only what does not overlap, and of which nothing is left out unless a check tried it. */
async function take(
  workspace: Workspace,
  { conflict, content, explanation, dropped }: Good,
  isChecked: boolean,
): Promise<MergerResult> {
  if (conflict.severity === "medium" && (dropped.length === 0 || isChecked)) {
    await workspace.resolve(conflict.id, { content, take: "merger", by: "merger", explanation, dropped });
    return { conflict, outcome: "resolved", problems: [] };
  }
  await workspace.merges.offer(conflict.id, { content, explanation, dropped });
  return { conflict, outcome: "offered", problems: [] };
}
