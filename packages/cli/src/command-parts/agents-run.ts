/** `belay agents run` and `resume`: starts agents, waits for them, and says what became of them. */
import type { Batch, Orchestrator } from "@belay/agents/orchestration";
import { readProgramSettings, type MergeOutcome, type Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { mergeOutcomeJson, runJson } from "@belay/server/json";
import { count } from "@belay/tui/text";
import { agreeToCommands } from "../agents/known-commands.ts";
import { setupWords } from "../agents/prepare-fork.ts";
import { orchestrate, startBelay, takeOverRuns } from "../agents/orchestrating.ts";
import type { Call } from "../call/command.ts";
import { declined } from "../call/confirmation.ts";
import { positiveNumber } from "../call/number-option.ts";
import { untilInterrupted } from "../call/until-interrupted.ts";
import { isDone } from "../merging/bring-in.ts";
import { applyPlan } from "../merging/merge-flow.ts";
import { laterMergePrograms, mergePrograms, type ProgramRequest } from "../merging/merge-programs.ts";
import { mergeOutcomeText } from "../merging/merge-text.ts";
import { openSyntax } from "../wiring/open-syntax.ts";
import { runTable } from "../output/run-table.ts";
import { visible } from "../output/visible.ts";
import { readTaskFile, readTasks, type PlannedTask } from "./run-tasks.ts";

/** A call of `belay agents`, with its options. */
export type AgentsCall = Pick<
  Call,
  "json" | "output" | "operands" | "dashesAt" | "directory" | "home" | "environment"
> & {
  readonly options: {
    readonly agent?: string;
    readonly prompt?: readonly string[];
    readonly tasks?: string;
    readonly jobs?: string;
    readonly "in-place"?: boolean;
    readonly timeout?: string;
    readonly "max-cost"?: string;
    readonly "max-tokens"?: string;
    readonly detach?: boolean;
    readonly merge?: boolean;
    readonly order?: string;
    readonly check?: string;
    readonly all?: boolean;
    readonly stderr?: boolean;
    readonly yes?: boolean;
  };
};

/** Starts agents and waits for them. */
export async function runAgents(call: AgentsCall, workspace: Workspace): Promise<number> {
  const { options } = call;
  const { orchestrator, agents } = orchestrate(call, workspace, { ...limitsOf(call), log: told(call) });
  const tasks = readTasks(
    {
      directory: call.directory,
      prompts: options.prompt ?? [],
      tasks: options.tasks,
      agent: options.agent,
      command: call.operands.slice(call.dashesAt),
    },
    agents,
  );
  const inPlace = options["in-place"] === true;
  if (inPlace && options.merge === true)
    throw usageError("In place there is nothing to merge.", "Leave --in-place or --merge out.");
  refuseOrder(call);
  if (!(await agreed(call, workspace, tasks))) return declined(call);
  // agreed to before agents work for an hour, not after
  if (options.merge === true && (await mergePrograms(call, programRequest(call, workspace))) === undefined)
    return declined(call);
  warnOfLimits(call, tasks, inPlace);
  await takeOverRuns(call, workspace);
  if (options.detach === true) return detached(call, workspace, tasks);
  const trust = options.yes === true;
  return finish(call, workspace, await orchestrator.start(tasks, { inPlace, trust }));
}

/** Goes on with a run of an agent that was cut off. */
export async function resumeRun(call: AgentsCall, workspace: Workspace): Promise<number> {
  const { options } = call;
  const [, ref = ""] = call.operands;
  await takeOverRuns(call, workspace);
  const run = await workspace.runs.find(ref);
  const [task] = readTaskFile({ tasks: options.tasks, directory: call.directory });
  const prompt = options.prompt?.[0] ?? task?.prompt;
  const { agents } = orchestrate(call, workspace);
  // [R100] a file of tasks names agents: a command that the user typed once is not run for it
  if (task?.agent !== undefined) agents.find(task.agent);
  // what the settings say now is what goes on
  const command = agents.names.includes(run.agent) ? agents.find(run.agent).command : run.command;
  const use = { workspace: workspace.id, commands: [command], yes: options.yes === true };
  if (!(await agreeToCommands(call, use))) return declined(call);
  if (options.detach === true) {
    const input = JSON.stringify([prompt === undefined || prompt === "" ? {} : { prompt }]);
    const pid = startBelay(
      call.home,
      workspace.root,
      ["agents", "resume", run.id, "--yes", "--tasks", "-"],
      input,
    );
    return showStarted(call, workspace, pid, 1);
  }
  const { orchestrator } = orchestrate(call, workspace, { ...limitsOf(call), log: told(call) });
  return finish(call, workspace, await resumed(orchestrator, run.id, prompt));
}

function resumed(orchestrator: Orchestrator, id: string, prompt: string | undefined): Promise<Batch> {
  return prompt === undefined || prompt === "" ? orchestrator.resume(id) : orchestrator.resume(id, prompt);
}

function limitsOf({ options }: AgentsCall) {
  const minutes = decimal("--timeout", options.timeout);
  return {
    jobs: positiveNumber("--jobs", options.jobs),
    inPlace: options["in-place"] === true,
    timeoutMs: minutes === undefined ? undefined : minutes * 60_000,
    maxCost: decimal("--max-cost", options["max-cost"]),
    maxTokens: positiveNumber("--max-tokens", options["max-tokens"]),
  };
}

/** A number above 0, which may have decimals. */
export function decimal(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(given) && Number(given) > 0) return Number(given);
  throw usageError(`${name} needs a number above 0, not "${given}".`, `For example: ${name} 2.5`);
}

function told({ output }: AgentsCall): (line: string) => void {
  return (line) => output.note(`belay: ${visible(line)}`);
}

function agreed(call: AgentsCall, workspace: Workspace, tasks: readonly PlannedTask[]): Promise<boolean> {
  const setup = call.options["in-place"] === true ? [] : [setupWords(call, workspace)];
  return agreeToCommands(call, {
    workspace: workspace.id,
    commands: [...tasks.map(({ run }) => run.command), ...setup],
    notices: tasks.flatMap(({ run }) => run.notice ?? []),
    yes: call.options.yes === true,
  });
}

function warnOfLimits(
  { output, options }: AgentsCall,
  tasks: readonly PlannedTask[],
  inPlace: boolean,
): void {
  const warn = (text: string) => output.warn(`${output.noteStyle.yellow("warning:")} ${visible(text)}`);
  for (const name of new Set(tasks.map(({ run }) => run.name))) {
    const { run } = tasks.find((task) => task.run.name === name)!;
    if (options["max-cost"] !== undefined && !run.reportsCost)
      warn(`${name} reports no cost while it works: --max-cost cannot stop it.`);
    if (options["max-tokens"] !== undefined && !run.reportsTokens)
      warn(`${name} reports no tokens while it works: --max-tokens cannot stop it.`);
  }
  if (!inPlace || tasks.length === 1) return;
  if (Number(options.jobs ?? 1) === 1)
    warn("In place, one agent runs after the other, and begins with what the one before it left.");
  else
    warn(
      "Several agents in one directory: what agents without hooks change at the same time cannot be told apart, and `git add -A`, `stash` or `checkout` of one hits all.",
    );
}

/** A process of its own runs them; this one ends as soon as they are recorded. */
async function detached(
  call: AgentsCall,
  workspace: Workspace,
  tasks: readonly PlannedTask[],
): Promise<number> {
  const { options } = call;
  const command = call.operands.slice(call.dashesAt);
  const list = tasks.map(({ run, limits, role, prompt, name }) => ({
    ...(command.length === 0 && { agent: run.name }),
    role,
    prompt,
    name,
    limits: limitsAsWritten(limits),
  }));
  const words = ["agents", "run", "--yes", "--tasks", "-"];
  for (const name of ["jobs", "timeout", "max-cost", "max-tokens"] as const)
    if (options[name] !== undefined) words.push(`--${name}`, options[name]);
  if (options["in-place"] === true) words.push("--in-place");
  if (options.merge === true) words.push("--merge", "--order", options.order ?? "listed");
  if (options.check !== undefined) words.push("--check", options.check);
  if (command.length > 0) words.push("--", ...command);
  const pid = startBelay(call.home, workspace.root, words, JSON.stringify(list));
  return showStarted(call, workspace, pid, tasks.length);
}

function limitsAsWritten(limits: PlannedTask["limits"]) {
  const { timeoutMs, maxCost, maxTokens } = limits ?? {};
  return {
    ...(typeof timeoutMs === "number" && { timeoutMinutes: timeoutMs / 60_000 }),
    ...(typeof maxCost === "number" && { maxCost }),
    ...(typeof maxTokens === "number" && { maxTokens }),
  };
}

const START_MS = 30_000;

async function showStarted(
  call: AgentsCall,
  workspace: Workspace,
  pid: number,
  number: number,
): Promise<number> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    const runs = (await workspace.runs.list()).filter(({ watcher, endedAt, createdAt }) =>
      endedAt === null ? watcher?.pid === pid : createdAt > deadline - START_MS,
    );
    if (runs.length >= number) {
      if (call.json) call.output.json({ batch: runs[0]!.batch, runs: runs.map(runJson) });
      else call.output.print(`Started ${count(number, "run")}; \`belay agents list\` shows how they do.`);
      return EXIT.done;
    }
    if (Date.now() > deadline)
      throw new ContractError("RESIDENT_FAILED", "The process that should run the agents did not start.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function finish(call: AgentsCall, workspace: Workspace, batch: Batch): Promise<number> {
  const stop = () => void batch.stop();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  const ids = (await batch.finished()).map(({ run }) => run.id);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, stop);
  const runs = await Promise.all(ids.map((id) => workspace.runs.find(id)));
  const merged = call.options.merge === true ? await mergeBatch(call, workspace, batch) : undefined;
  if (merged === "declined")
    call.output.warn(
      "Nothing was merged: the check is not agreed to. `belay merge` asks about it and merges.",
    );
  if (call.json)
    call.output.json({
      batch: batch.id,
      runs: runs.map(runJson),
      ...(typeof merged === "object" && { merge: mergeOutcomeJson(merged) }),
    });
  else {
    call.output.print(runTable(runs, call.output));
    if (typeof merged === "object") call.output.print(mergeOutcomeText(merged, call.output, false));
  }
  if (merged === "declined" || (merged !== undefined && !isDone(merged))) return EXIT.refused;
  if (runs.every(({ status }) => status === "done")) return EXIT.done;
  if (!call.json && runs.some(({ before }) => before !== null))
    call.output.note("Nothing is lost: `belay agents show <run>` has the checkpoint before each agent.");
  return runs.some(({ process: program }) => program !== null) ? EXIT.refused : EXIT.failed;
}

/** The branches of the runs that are done, as one step: one undo takes it out. */
async function mergeBatch(
  call: AgentsCall,
  workspace: Workspace,
  batch: Batch,
): Promise<MergeOutcome | "declined" | undefined> {
  const names = await batch.branches(call.options.order === "finished" ? "finished" : "listed");
  if (names.length === 0) return undefined;
  const { onConflict } = readProgramSettings(call.home, workspace.id).merge;
  const syntax = await openSyntax();
  return untilInterrupted(async (signal) => {
    const programs = await laterMergePrograms(call, programRequest(call, workspace, signal));
    // [R793] what the check has not tried does not come in
    if (programs === undefined) return "declined";
    const makePlan = () => workspace.planMerge(names, { onConflict, programs, ...(syntax && { syntax }) });
    const mergeCall = { ...call, options: { yes: true } };
    return applyPlan(mergeCall, workspace, { plan: await makePlan(), makePlan });
  });
}

function refuseOrder({ options: { order = "listed", merge, check } }: AgentsCall): void {
  if (order !== "listed" && order !== "finished")
    throw usageError(`--order cannot be "${order}".`, "It is listed or finished.");
  if (check !== undefined && merge !== true)
    throw usageError("--check tries a merge.", "Add --merge, or leave it out.");
}

function programRequest(
  { options: { check, yes = false } }: AgentsCall,
  workspace: Workspace,
  signal?: AbortSignal,
): ProgramRequest {
  return { workspace: workspace.id, check, yes, ...(signal && { signal }) };
}
