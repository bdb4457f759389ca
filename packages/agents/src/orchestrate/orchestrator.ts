/**
 * Runs agents: several at once, each in a fork of its own, or in place. Before each of them there is a checkpoint,
 * whose id is logged and which stays whatever becomes of the agent [M04, M38, M41].
 */
import { join } from "node:path";
import { ContractError } from "@belay/protocol/errors";
import { NO_FACTS } from "../run/agent-facts.ts";
import { createRunFiles } from "../run/run-log.ts";
import { endProcesses, livingPid } from "../run/process-tree.ts";
import { startProgram, type StartedProgram } from "../run/start-run.ts";
import { STOPPED, watchRun, type Watch } from "../run/watch-run.ts";
import type { RunLimits, RunOutcome, RunPlace, RunRecord } from "../run/run-record.ts";
import type { AgentBook, RunnableAgent } from "./agent-book.ts";
import {
  Batch,
  type FinishedRun,
  type MergeKeeper,
  type Progress,
  type RunWork,
  type Tell,
} from "./batch.ts";

/** The workspace whose agents run. The package owns this interface; the engine's workspace has it. */
export interface OrchestratedWorkspace extends RunPlace, Partial<ForkKeeper>, Partial<MergeKeeper> {
  readonly id: string;
}

/** What running in forks needs of the workspace; left out where agents only run in place. */
export interface ForkKeeper {
  /** [R101] What it starts for a run carries the run's mark, so that it ends with the run. */
  fork(name?: string, request?: { readonly run?: string }): Promise<StartedFork>;
  openFork(ref: string): Promise<RunPlace & { close(): Promise<void> }>;
  forkEnvironment(ref: string): Promise<Record<string, string>>;
}

/** A fork that was made for a run. */
export interface StartedFork {
  readonly name: string;
  readonly path: string;
  readonly warnings: readonly string[];
}

/** How agents are run. */
export interface OrchestratorOptions {
  readonly agents: AgentBook;
  /** How many run at once. */
  readonly jobs?: number;
  readonly limits?: Partial<RunLimits>;
  readonly logBytes?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** Milliseconds since 1970, for the limit of time. */
  readonly now?: () => number;
  /** Gets a line about everything that happens to a run. */
  readonly log?: (line: string) => void;
}

/** What an agent is to do. */
export interface AgentTask {
  /** The name of an agent; the command of `run` instead of it. */
  readonly agent?: string;
  readonly run?: RunnableAgent;
  readonly role?: string;
  readonly prompt: string;
  /** The name of its fork. */
  readonly name?: string;
  readonly limits?: Partial<RunLimits>;
}

/** How a batch is run. */
export interface BatchOptions {
  readonly inPlace?: boolean;
  /** The user agreed that agents trust the directories of their forks for this run. */
  readonly trust?: boolean;
}

/** Who works, with which conversation, and who is told about it. */
interface HowToRun {
  readonly agent: RunnableAgent;
  readonly session: string | null;
  readonly tell: Tell;
}

const DEFAULT_JOBS = 4;
const DEFAULT_LOG_BYTES = 64 << 20;
/** How long a program may run unless the caller says otherwise. */
const DEFAULT_TIMEOUT_MS = 30 * 60 * 1000;
const NO_LIMITS: RunLimits = { timeoutMs: DEFAULT_TIMEOUT_MS, maxCost: null, maxTokens: null };

/** Runs agents in a workspace. */
export function createOrchestrator(
  workspace: OrchestratedWorkspace,
  options: OrchestratorOptions,
): Orchestrator {
  return new Orchestrator(workspace, options);
}

/** Starts, watches, stops and takes over runs. */
export class Orchestrator {
  readonly #workspace: OrchestratedWorkspace;
  readonly #options: OrchestratorOptions;
  #lastFork: Promise<unknown> = Promise.resolve();

  constructor(workspace: OrchestratedWorkspace, options: OrchestratorOptions) {
    this.#workspace = workspace;
    this.#options = options;
  }

  /** Starts a batch: each task in a fork of its own, or all in place. Returns when all wait or run. */
  async start(tasks: readonly AgentTask[], options: BatchOptions = {}): Promise<Batch> {
    const planned = tasks.map((task) => ({ task, agent: this.#agentOf(task) }));
    const { inPlace = false } = options;
    if (!inPlace && this.#workspace.fork === undefined)
      throw new ContractError("USAGE", "Forks cannot be made here. Nothing was started.");
    const { runs } = this.#workspace;
    if (runs.directory === null)
      throw new ContractError("USAGE", "There is no place for the output of agents. Nothing was started.");
    const added: { run: RunRecord; task: AgentTask; agent: RunnableAgent }[] = [];
    for (const { task, agent } of planned) {
      const trust = options.trust === true && !inPlace ? agent.trust : [];
      const run = await runs.add({
        ...(added[0] !== undefined && { batch: added[0].run.batch }),
        agent: agent.name,
        role: task.role ?? agent.name,
        command: [...agent.command, ...trust],
        prompt: task.prompt,
        limits: { ...NO_LIMITS, ...this.#options.limits, ...task.limits },
      });
      added.push({ run, task, agent });
    }
    const work = added.map(({ run, task, agent }): RunWork => {
      const how = { agent, session: null };
      return (tell) =>
        inPlace
          ? this.#runIn(this.#workspace, run, { ...how, tell, environment: {} })
          : this.#runInFork(run, task, { ...how, tell });
    });
    return new Batch(
      added.map(({ run }) => run),
      work,
      {
        jobs: this.#options.jobs ?? (inPlace ? 1 : DEFAULT_JOBS),
        stop: (id) => this.stop(id),
        merges: mergeKeeper(this.#workspace),
      },
    );
  }

  /** [M04] Runs one agent in place and waits for its end; the signal stops it. */
  async executeAgent(
    agent: string | RunnableAgent,
    task: string | AgentTask,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<FinishedRun> {
    const asked = typeof task === "string" ? { prompt: task } : task;
    const which = typeof agent === "string" ? { agent } : { run: agent };
    signal?.throwIfAborted();
    const batch = await this.start([{ ...asked, ...which }], { inPlace: true });
    const stop = () => void batch.stop();
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return (await batch.finished())[0]!;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Goes on with a run in the same place: with the agent's own conversation where it has one, else with the prompt again. */
  async resume(ref: string, prompt?: string): Promise<Batch> {
    const { runs } = this.#workspace;
    const last = await runs.find(ref);
    if (last.endedAt === null)
      throw new ContractError("RUN_ALIVE", `The run ${last.id} is still at work. Nothing was started.`, {
        hint: "`belay agents stop` ends it; then it can be resumed.",
        facts: { tools: [last.agent] },
      });
    const known = this.#options.agents.names.includes(last.agent);
    const agent = known ? this.#options.agents.find(last.agent) : this.#options.agents.command(last.command);
    const session = agent.resume === undefined ? null : last.session;
    const run = await runs.add({
      batch: last.batch,
      ...(last.thread !== null && { thread: last.thread }),
      agent: last.agent,
      role: last.role,
      command: session === null ? (known ? agent.command : last.command) : agent.resume!,
      prompt: prompt ?? (session === null ? last.prompt : "Go on."),
      limits: last.limits,
    });
    const { fork } = last;
    const work: RunWork = (tell) =>
      fork === null
        ? this.#runIn(this.#workspace, run, { agent, session, tell, environment: {} })
        : this.#inFork(fork, run, { agent, session, tell });
    return new Batch([run], [work], { jobs: 1, stop: (id) => this.stop(id) });
  }

  /**
   * [R101] Ends a run, and every process of it, before it returns. Where the process that watches it has not recorded the
   * end after half a minute, the record that is returned has no end yet.
   */
  async stop(ref: string): Promise<RunRecord> {
    const { runs } = this.#workspace;
    const run = await runs.find(ref);
    if (run.endedAt !== null) return run;
    await runs.ending(run.id, STOPPED);
    const { process: program } = await runs.find(run.id);
    await endProcesses({ id: run.id, pid: livingPid(program, runs) });
    return this.#whenEnded(run.id);
  }

  /**
   * Looks after runs whose watcher died: one whose program ended is captured and closed; of one that goes on, this
   * returns the end.
   */
  async takeOver(): Promise<{
    readonly ended: readonly RunRecord[];
    readonly running: readonly RunRecord[];
  }> {
    const { runs } = this.#workspace;
    const ended: RunRecord[] = [];
    const running: RunRecord[] = [];
    for (const run of await runs.list({ alive: true })) {
      if (run.watcher !== null && runs.isAlive(run.watcher)) continue;
      if (run.process !== null && runs.isAlive(run.process)) running.push(run);
      else if (await runs.takeOver(run.id)) ended.push(await this.#settle(run));
    }
    return { ended, running };
  }

  /** Watches a run that another process started, until its end. */
  async watch(ref: string): Promise<RunRecord> {
    const { runs } = this.#workspace;
    const run = await runs.find(ref);
    if (run.endedAt !== null || !(await runs.takeOver(run.id))) return run;
    return this.#settle(run);
  }

  #agentOf({ agent, run }: AgentTask): RunnableAgent {
    if (run !== undefined) return run;
    if (agent === undefined) throw new ContractError("USAGE", "A task names no agent. Nothing was started.");
    return this.#options.agents.find(agent);
  }

  async #runInFork(run: RunRecord, task: AgentTask, how: HowToRun): Promise<FinishedRun> {
    if ((await this.#workspace.runs.find(run.id)).reason !== null)
      return this.#neverStarted(run, "stopped", STOPPED);
    let name: string;
    try {
      const fork = await this.#makeFork(run, task.name);
      for (const warning of fork.warnings) this.#log(`${how.agent.name}: ${warning}`);
      name = fork.name;
    } catch (error) {
      return this.#neverStarted(run, "failed", `no fork could be made: ${(error as Error).message}`);
    }
    return this.#inFork(name, run, how);
  }

  /** One at a time: each takes the next free name, and the disk has one head. */
  #makeFork({ id }: RunRecord, name: string | undefined): Promise<StartedFork> {
    const made = this.#lastFork.then(() => this.#workspace.fork!(name, { run: id }));
    this.#lastFork = made.catch(() => undefined);
    return made;
  }

  async #inFork(fork: string, run: RunRecord, how: HowToRun): Promise<FinishedRun> {
    const place = await this.#workspace.openFork!(fork);
    try {
      const environment = await this.#workspace.forkEnvironment!(fork);
      return await this.#runIn(place, run, { ...how, environment });
    } finally {
      await place.close();
    }
  }

  async #runIn(
    place: RunPlace,
    waiting: RunRecord,
    how: HowToRun & { environment: Record<string, string> },
  ): Promise<FinishedRun> {
    const { agent, session } = how;
    if ((await place.runs.find(waiting.id)).reason !== null)
      return this.#neverStarted(waiting, "stopped", STOPPED);
    const files = createRunFiles(join(this.#workspace.runs.directory!, waiting.id));
    const run = await place.runs.begin(waiting.id, files);
    this.#log(`checkpoint ${run.before} is before ${run.role} (run ${run.id})`);
    const environment = {
      ...(this.#options.environment ?? process.env),
      ...how.environment,
      ...agent.environment,
      BELAY_ROOT: this.#workspace.root,
      BELAY_WORKSPACE: this.#workspace.id,
      BELAY_BRANCH: run.branch,
    };
    let program: StartedProgram;
    try {
      program = await startProgram({
        run,
        directory: place.root,
        session,
        environment,
        processes: place.runs,
      });
    } catch (error) {
      return this.#failed(place, run, `${run.command[0]} could not be started: ${(error as Error).message}`);
    }
    try {
      await place.runs.started(run.id, program.process);
      const known = { ...run, process: program.process };
      how.tell({ type: "agent_started", run: known });
      const progress = (at: Progress) => how.tell({ type: "agent_progress", run: known, ...at });
      return await this.#watch(place, known, { read: agent.read, ended: program.ended, progress });
    } catch (error) {
      // no program works on unwatched
      await endProcesses({ id: run.id, pid: program.process.pid });
      return this.#failed(
        place,
        run,
        `Belay could not watch it to its end, and ended it: ${(error as Error).message}`,
      );
    }
  }

  async #watch(
    place: RunPlace,
    run: RunRecord,
    how: Pick<Watch, "read" | "ended" | "progress">,
  ): Promise<FinishedRun> {
    const { logBytes = DEFAULT_LOG_BYTES, now } = this.#options;
    const { outcome, facts } = await watchRun({
      place,
      run,
      processes: place.runs,
      logBytes,
      ...how,
      ...(now !== undefined && { now }),
    });
    const escaped = await this.#escaped(place, run);
    return { run: this.#told(await place.runs.end(run.id, { ...outcome, escaped })), facts };
  }

  /** [R798] What a run in a fork may have changed in the original; asking for it fails no run. */
  async #escaped(place: RunPlace, { id, role }: RunRecord): Promise<readonly string[]> {
    if (place.root === this.#workspace.root) return [];
    try {
      const paths = (await this.#workspace.runs.escapedDuring?.(id)) ?? [];
      if (paths.length > 0)
        this.#log(
          `${role}: while it worked in its fork, ${paths.length === 1 ? "1 file" : `${paths.length} files`} of the original changed: by it, or by you (run ${id})`,
        );
      return paths;
    } catch (error) {
      this.#log(`${role}: whether it left its fork is not known: ${(error as Error).message}`);
      return [];
    }
  }

  async #failed(place: RunPlace, run: RunRecord, reason: string): Promise<FinishedRun> {
    return {
      run: this.#told(await place.runs.end(run.id, { ...NOTHING, status: "failed", reason })),
      facts: NO_FACTS,
    };
  }

  async #neverStarted(run: RunRecord, status: "failed" | "stopped", reason: string): Promise<FinishedRun> {
    const ended = await this.#workspace.runs.end(run.id, { ...NOTHING, status, reason });
    return { run: this.#told(ended), facts: NO_FACTS };
  }

  /** Ends the record of a run that this process did not start, after its program. */
  async #settle(run: RunRecord): Promise<RunRecord> {
    if (run.log === null || run.process === null)
      return (await this.#neverStarted(run, "stopped", run.reason ?? "it was never started")).run;
    const { agents } = this.#options;
    const { read } = agents.names.includes(run.agent) ? agents.find(run.agent) : agents.command(run.command);
    if (run.fork === null) return (await this.#watch(this.#workspace, run, { read })).run;
    let place;
    try {
      place = await this.#workspace.openFork!(run.fork);
    } catch {
      const reason = "its fork is no longer there";
      return this.#told(await this.#workspace.runs.end(run.id, { ...NOTHING, status: "lost", reason }));
    }
    try {
      return (await this.#watch(place, run, { read })).run;
    } finally {
      await place.close();
    }
  }

  /** [M41] What is left after a failure is said: the checkpoint before the agent. */
  #told(run: RunRecord): RunRecord {
    const back =
      run.status === "done" || run.before === null ? "" : `; checkpoint ${run.before} is before it`;
    this.#log(
      `${run.role} is ${run.status}${run.reason === null ? "" : `: ${run.reason}`} (run ${run.id}${back})`,
    );
    return run;
  }

  #isOwn({ watcher }: RunRecord): boolean {
    return watcher?.pid === process.pid;
  }

  /** Another process, or another task of this one, records the end; this one does where that process is dead. */
  async #whenEnded(id: string): Promise<RunRecord> {
    const { runs } = this.#workspace;
    for (let left = MOST_LOOKS; ; left -= 1) {
      const run = await runs.find(id);
      if (run.endedAt !== null || left === 0) return run;
      if (!this.#isOwn(run) && (await runs.takeOver(id))) return this.#settle(await runs.find(id));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #log(line: string): void {
    this.#options.log?.(line);
  }
}

const MOST_LOOKS = 300;

/** Undefined where nothing is merged. */
function mergeKeeper(workspace: OrchestratedWorkspace): MergeKeeper | undefined {
  return workspace.planMerge === undefined ? undefined : (workspace as MergeKeeper);
}

const NOTHING: Omit<RunOutcome, "status" | "reason"> = {
  exitCode: null,
  signal: null,
  cost: null,
  tokens: null,
  session: null,
  truncated: false,
};
