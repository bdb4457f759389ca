/** `belay fix`: a review, attempts to fix what it finds, and the user's decision where that is not enough. */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import {
  answerFix,
  CHOICES,
  escalationText,
  fixIssues,
  fixPrompt,
  INTERRUPTED,
  isChoice,
  readAutoFixConfig,
  readReview,
  type AgentBook,
  type AutoFixConfig,
  type Choice,
  type FixerRun,
  type FixOptions,
  type FixResult,
  type ReviewIssue,
} from "@belay/agents/orchestration";
import type { Fix, Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { fixJson } from "@belay/server/json";
import { count, relativeTime } from "@belay/tui/text";
import { agreeToCommands } from "../agents/known-commands.ts";
import { orchestrate, startBelay, takeOverRuns, type Orchestrating } from "../agents/orchestrating.ts";
import type { Call } from "../call/command.ts";
import { declined } from "../call/confirmation.ts";
import { splitWords } from "../call/split-words.ts";
import { untilInterrupted } from "../call/until-interrupted.ts";
import { positiveNumber } from "../call/number-option.ts";
import { diffForPeople } from "../output/diff-text.ts";
import { showPaged } from "../output/output.ts";
import { table } from "../output/table.ts";
import { visible } from "../output/visible.ts";
import { decimal } from "./agents-run.ts";
import { agreeToReject, askDecision } from "./ask-escalation.ts";
import { findReview, review, type ReviewSource } from "./review-source.ts";
import { runProgram } from "./run-program.ts";

/** A call of `belay fix`, with its options. */
export type FixCall = Pick<Call, "json" | "output" | "operands" | "directory" | "home" | "environment"> & {
  readonly options: {
    readonly review?: string;
    readonly named?: boolean;
    readonly format?: string;
    readonly agent?: string;
    readonly run?: string;
    readonly issues?: string;
    readonly "max-total"?: string;
    readonly timeout?: string;
    readonly "max-cost"?: string;
    readonly "max-tokens"?: string;
    readonly detach?: boolean;
    readonly yes?: boolean;
  };
};

/** What is needed to go on with a loop later. */
interface LoopFacts {
  readonly review: ReviewSource;
  readonly fixer: string;
}

/** Begins a loop and carries it to its end, or to the user's decision. */
export async function startFix(call: FixCall, workspace: Workspace): Promise<number> {
  const { options } = call;
  if (options.review === undefined)
    throw usageError(
      "Which review?",
      "For example: belay fix --review 'npx tsc --noEmit' --agent claude-code",
    );
  await takeOverRuns(call, workspace);
  const orchestrating = orchestrate(call, workspace, { log: told(call) });
  const { agents, settings } = orchestrating;
  const given = { review: options.review, format: options.format, named: options.named === true };
  const source = findReview(given, { reviews: settings.reviews, agents });
  refuseMissing(call, workspace, source);
  const config = configOf(call, settings.autoFix);
  const fixer = options.agent ?? (await usualFixer(call, workspace, { orchestrating, config }));
  const facts: LoopFacts = { review: source, fixer };
  if (!(await agreed(call, workspace, { facts, agents }))) return declined(call);
  if (options.detach === true) return detached(call, workspace, fixer);
  const before = await beforeReviewed(call, workspace);
  const issues = readIssues(call, workspace.root);
  const result = await untilInterrupted((signal) =>
    fixIssues(workspace, {
      ...optionsOf(call, workspace, { orchestrating, config, facts, signal }),
      facts,
      ...(before !== undefined && { before }),
      ...(issues !== undefined && { issues }),
    }),
  );
  return report(call, workspace, result);
}

/** A program that is typed wrong is no finding: an agent would be paid to fix it. */
function refuseMissing(call: FixCall, { root }: Workspace, { command: [program] }: ReviewSource): void {
  if (program === undefined || isThere(program, { root, environment: call.environment })) return;
  throw usageError(
    `There is no program "${program}" to review with. Nothing was started.`,
    "--review takes a command, a name of `reviews` in config.json, or reviewer.",
  );
}

function isThere(
  program: string,
  { root, environment }: { root: string; environment: NodeJS.ProcessEnv },
): boolean {
  if (program.includes("/")) return existsSync(resolve(root, program));
  const path = environment["PATH"];
  return path === undefined || path.split(delimiter).some((each) => existsSync(join(each, program)));
}

/** What the settings say of the review and the fixer now may be another command than the loop began with. */
function agreed(
  call: FixCall,
  workspace: Workspace,
  { facts, agents }: { facts: LoopFacts; agents: AgentBook },
): Promise<boolean> {
  const { review: source, fixer } = facts;
  const commands = [
    source.agent === null ? source.command : agents.find(source.agent).command,
    agents.find(fixer).command,
  ];
  return agreeToCommands(call, { workspace: workspace.id, commands, yes: call.options.yes === true });
}

/** Answers a loop that waits for a decision. */
export async function answer(call: FixCall, workspace: Workspace): Promise<number> {
  const [, ref = "", choice = ""] = call.operands;
  const fix = await workspace.fixes.find(ref);
  if (!isChoice(choice)) throw usageError(`"${choice}" is not an answer.`, `One of ${CHOICES.join(", ")}.`);
  if (fix.state !== "escalated")
    throw new ContractError("ANSWER_REFUSED", `The loop ${fix.id} waits for no answer: it is ${fix.state}.`, {
      hint: "`belay fix show` lists what waits for an answer: a, r, v, m or c.",
      facts: { fix: fix.id },
    });
  if (!fix.isHere) throw answeredElsewhere(fix, choice);
  const mustAgree = choice === "r" && fix.before !== null && call.output.canAsk && call.options.yes !== true;
  if (mustAgree && !(await agreeToReject(call, workspace, fix.before))) return declined(call);
  const orchestrating = orchestrate(call, workspace, { log: told(call) });
  const facts = fix.review as LoopFacts;
  const config = fix.config as AutoFixConfig;
  const { agents } = orchestrating;
  if (choice === "c" && !(await agreed(call, workspace, { facts, agents }))) return declined(call);
  if (choice !== "v") await endFixers(workspace, orchestrating);
  const result = await untilInterrupted((signal) => {
    const options = optionsOf(call, workspace, { orchestrating, config, facts, signal });
    return answerFix(workspace, fix, { choice, options });
  });
  return report(call, workspace, result);
}

/** [R1453] The fixer of a loop that was killed goes on without it; a decision about the loop ends it. */
async function endFixers(workspace: Workspace, { orchestrator }: Orchestrating): Promise<void> {
  const isAnotherAtWork = (await workspace.fixes.list()).some((fix) => fix.isHere && fix.state === "running");
  if (isAnotherAtWork) return;
  const here = (await workspace.branches()).find(({ current }) => current)?.name;
  for (const { id, role, branch } of await workspace.runs.list({ alive: true }))
    if (role === "fixer" && branch === here) await orchestrator.stop(id);
}

/** What a loop goes back to, or works on, are the files of its own working copy. */
function answeredElsewhere({ id, root }: Fix, choice: Choice): ContractError {
  const place = root === null ? "a fork that is no longer there" : visible(root);
  return new ContractError("ANSWER_REFUSED", `The loop ${id} belongs to ${place}. Nothing was changed.`, {
    hint:
      root === null
        ? "`belay fork list` lists the forks that are there."
        : `\`belay -C ${visible(root)} fix answer ${id} ${choice}\` answers it there.`,
    facts: { fix: id },
  });
}

/** Shows one loop of fixes, or all of them. */
export async function show(call: FixCall, workspace: Workspace): Promise<number> {
  const [, ref] = call.operands;
  const { output } = call;
  if (ref !== undefined) {
    const fix = await workspace.fixes.find(ref);
    if (call.json) output.json({ fix: fixJson(fix) });
    else output.print(fixText(fix));
    return EXIT.done;
  }
  const fixes = await workspace.fixes.list();
  if (call.json) output.json({ fixes: fixes.map(fixJson) });
  else if (fixes.length === 0)
    output.print("Nothing has been fixed yet: `belay fix --review <command> --agent <name>`.");
  else
    output.print(
      table(
        fixes.map((fix) => [
          { text: fix.id.slice(0, 8), paint: output.style.cyan },
          { text: fix.state },
          { text: relativeTime(fix.createdAt), paint: output.style.dim },
          { text: `${count(fix.attempts.length, "attempt")}, ${count(fix.issues.length, "issue")} left` },
        ]),
        { width: output.width, flexible: 3 },
      ),
    );
  return EXIT.done;
}

function told({ output }: FixCall): (line: string) => void {
  return (line) => output.note(`belay: ${visible(line)}`);
}

function configOf({ options }: FixCall, settings: unknown): AutoFixConfig {
  const config = readAutoFixConfig(settings);
  const most = positiveNumber("--max-total", options["max-total"]);
  return most === undefined ? config : { ...config, maxTotalRetries: most };
}

/** [M52] The thinker of the settings; else the agent that wrote the code, else the first that is installed. */
async function usualFixer(
  { environment }: FixCall,
  workspace: Workspace,
  { orchestrating, config }: { orchestrating: Orchestrating; config: AutoFixConfig },
): Promise<string> {
  const { agents } = orchestrating;
  const thinker = config.fixerAgent === "thinker" ? agents.inRole("thinker") : undefined;
  if (thinker !== undefined) return thinker;
  const writer = (await workspace.runs.list()).find(({ agent }) => agents.names.includes(agent))?.agent;
  if (writer !== undefined) return writer;
  const path = (environment["PATH"] ?? "").split(delimiter);
  const found = agents.names.find((name) =>
    path.some((each) => existsSync(join(each, agents.find(name).command[0]!))),
  );
  if (found !== undefined) return found;
  throw usageError(
    "No agent to fix it with.",
    "Name one with --agent; `agents.roles.thinker` in config.json is the usual one.",
  );
}

/** The checkpoint before the run whose work is reviewed: the one that is named, or the last one of this fork. */
async function beforeReviewed({ options }: FixCall, workspace: Workspace): Promise<string | undefined> {
  if (options.run !== undefined) return (await workspace.runs.find(options.run)).before ?? undefined;
  if (workspace.copyId === workspace.id) return undefined;
  const here = (await workspace.branches()).find(({ current }) => current)?.name;
  const last = (await workspace.runs.list()).find(({ fork, role }) => fork === here && role !== "fixer");
  return last?.before ?? undefined;
}

/** Issues that are known already, in any form that a review may have. */
function readIssues({ options, directory }: FixCall, root: string): ReviewIssue[] | undefined {
  if (options.issues === undefined) return undefined;
  try {
    const stdout = readFileSync(options.issues === "-" ? 0 : resolve(directory, options.issues), "utf8");
    return readReview({ stdout, stderr: "", exitCode: 0 }, { root });
  } catch (error) {
    throw usageError(
      `${options.issues} cannot be read: ${(error as Error).message}. Nothing was started.`,
      "--issues takes a file with the output of a review, or - for standard input.",
    );
  }
}

function optionsOf(
  call: FixCall,
  workspace: Workspace,
  {
    orchestrating,
    config,
    facts,
    signal,
  }: { orchestrating: Orchestrating; config: AutoFixConfig; facts: LoopFacts; signal: AbortSignal },
): FixOptions {
  const { orchestrator } = orchestrating;
  const minutes = decimal("--timeout", call.options.timeout);
  return {
    config,
    signal,
    review: () =>
      review(facts.review, { root: workspace.root, environment: call.environment, orchestrator, signal }),
    fixer: async (issues, severity): Promise<FixerRun> => {
      const prompt = fixPrompt(issues, severity);
      const task = { prompt, role: "fixer" };
      const { run } = await orchestrator.executeAgent(facts.fixer, task, { signal });
      const tree = run.after === null ? null : (await workspace.resolve(run.after)).snapshot;
      return { run: run.id, thread: run.thread, tree, cost: run.cost, tokens: run.tokens?.total ?? null };
    },
    ask: async (escalation) =>
      askDecision(call, escalation, {
        workspace,
        before: (await workspace.fixes.find(escalation.fix)).before,
        showDiff: (checkpoint) => showDiff(call, workspace, checkpoint),
      }),
    showDiff: (checkpoint) => showDiff(call, workspace, checkpoint),
    limits: {
      timeoutMs: minutes === undefined ? null : minutes * 60_000,
      maxCost: decimal("--max-cost", call.options["max-cost"]) ?? null,
      maxTokens: positiveNumber("--max-tokens", call.options["max-tokens"]) ?? null,
    },
    log: told(call),
  };
}

async function showDiff({ output, json }: FixCall, workspace: Workspace, checkpoint: string): Promise<void> {
  const { files } = await workspace.diff({ from: checkpoint, detail: "text" });
  const text = diffForPeople(files, output);
  if (output.canAsk) await showPaged(text);
  else if (json) output.note(text);
  else output.print(text);
}

async function detached(call: FixCall, workspace: Workspace, fixer: string): Promise<number> {
  const { options } = call;
  const words = ["fix", "--review", options.review!, "--agent", fixer, "--yes"];
  if (options.named === true) words.push("--named");
  for (const name of ["format", "run", "max-total", "timeout", "max-cost", "max-tokens"] as const)
    if (options[name] !== undefined) words.push(`--${name}`, options[name]);
  const known = new Set((await workspace.fixes.list()).map(({ id }) => id));
  startBelay(call.home, workspace.root, words);
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const fresh = (await workspace.fixes.list()).find(({ id }) => !known.has(id));
    if (fresh !== undefined) {
      if (call.json) call.output.json({ fix: fixJson(fresh) });
      else call.output.print(`Started; \`belay fix show ${fresh.id}\` shows how it does.`);
      return EXIT.done;
    }
    await new Promise((wake) => setTimeout(wake, 50));
  }
  throw new ContractError("RESIDENT_FAILED", "The process that should fix it did not start.");
}

async function report(call: FixCall, workspace: Workspace, result: FixResult): Promise<number> {
  const fix = await workspace.fixes.find(result.fix);
  const { output } = call;
  if (result.state === "escalated") throw undecided(fix, output.canAsk);
  if (call.json) output.json({ fix: fixJson(fix) });
  else output.print(fixText(fix));
  if (result.manualFix === true) await openEditor(call, workspace, fix);
  return result.state === "clean" || result.state === "accepted" ? EXIT.done : EXIT.refused;
}

function undecided(fix: Fix, wasAsked: boolean): ContractError {
  const { id, reason, attempts, issues } = fix;
  const text = escalationText({
    reason: reason ?? undefined,
    attempts: attempts.length,
    issues,
  });
  const [first = "", ...lines] = text.split("\n");
  const why =
    reason === INTERRUPTED
      ? "nothing of it is at work any more, and a decision is needed."
      : wasAsked
        ? "nothing was decided. The files stay as they are."
        : "a decision is needed, and there is no terminal to ask on.";
  return new ContractError("CONFIRMATION_REQUIRED", `${first}: ${why}`, {
    // the user has just read them in the question
    list: wasAsked ? [] : lines.filter((line) => line.trim() !== ""),
    hint: `\`belay fix answer ${id} a|r|v|m|c\` decides it.`,
    facts: { fix: fixJson(fix) },
  });
}

/** The first place that has an issue, where the user has an editor and a terminal. */
async function openEditor(
  { output, environment }: FixCall,
  { root }: Workspace,
  { issues }: Fix,
): Promise<void> {
  const { editorOf, editorWords } = await import("@belay/tui");
  const editor = editorOf(environment);
  const issue = issues.find(({ file }) => file !== "");
  if (!output.canAsk || editor === undefined || issue === undefined) return;
  // absolute: a name from a review must not be read as an option of the editor
  const words = editorWords(editor, resolve(root, issue.file), issue.line);
  await runProgram([...splitWords(editor), ...words], root);
}

const WORDS: Readonly<Record<string, string>> = {
  running: "It is being fixed.",
  clean: "Clean: no issue is left.",
  accepted: "Accepted with what is left.",
  rejected: "Rejected: the files are as they were before.",
  manual: "Left to you.",
  exhausted: "Not fixed.",
  escalated: "It waits for your decision.",
};

function fixText(fix: Fix): string {
  const { id, state, reason, attempts, issues } = fix;
  return [
    `${WORDS[state]}${reason === null ? "" : ` ${visible(reason)}.`} ${count(attempts.length, "attempt")} (${id})`,
    ...attempts.map(
      ({ number, severity, checkpoint, issuesAfter, takenBack }) =>
        `  ${number}. ${severity}: ${issuesAfter === null ? (state === "running" ? "under way" : "not reviewed") : `${count(issuesAfter.length, "issue")} left`}${takenBack ? ", made worse and taken out again" : ""}, checkpoint ${checkpoint ?? "?"}`,
    ),
    ...issues.map(
      ({ severity, message, file, line }) => `  [${severity}] ${visible(message)} (${visible(file)}:${line})`,
    ),
    ...(state === "escalated" ? [`→ \`belay fix answer ${id} a|r|v|m|c\``] : []),
  ].join("\n");
}
