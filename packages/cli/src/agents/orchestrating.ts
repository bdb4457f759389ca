/** The orchestrator of a workspace, with the user's settings. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import {
  createOrchestrator,
  readAgentBook,
  type AgentBook,
  type OrchestratedWorkspace,
  type Orchestrator,
} from "@belay/agents/orchestration";
import { readProgramSettings, type Fork, type ProgramSettings, type Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { prepareFork } from "./prepare-fork.ts";
import { ownEnvironment } from "../resident/own-environment.ts";

/** An orchestrator and what it was made of. */
export interface Orchestrating {
  readonly orchestrator: Orchestrator;
  readonly agents: AgentBook;
  readonly settings: ProgramSettings;
}

/** What the command line says instead of the settings. */
export interface OrchestratingOptions {
  readonly jobs?: number | undefined;
  /** One at a time, unless the command line says otherwise. */
  readonly inPlace?: boolean;
  readonly timeoutMs?: number | undefined;
  readonly maxCost?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly log?: (line: string) => void;
}

/** The orchestrator for a workspace. */
export function orchestrate(
  call: Pick<Call, "home" | "environment">,
  workspace: Workspace,
  options: OrchestratingOptions = {},
): Orchestrating {
  const settings = readProgramSettings(call.home, workspace.id);
  const { runs } = settings;
  const agents = readAgentBook(settings.agents);
  const orchestrator = createOrchestrator(preparing(call, workspace, options.log), {
    agents,
    jobs: options.jobs ?? (options.inPlace === true ? 1 : (runs.jobs ?? Math.min(4, availableParallelism()))),
    limits: {
      timeoutMs: options.timeoutMs ?? runs.timeoutMinutes * 60_000,
      maxCost: options.maxCost ?? runs.maxCost ?? null,
      maxTokens: options.maxTokens ?? runs.maxTokens ?? null,
    },
    logBytes: runs.logBytes,
    environment: call.environment,
    ...(options.log && { log: options.log }),
  });
  return { orchestrator, agents, settings };
}

/** A workspace whose forks get the hooks of the original, and the set-up of the settings, before an agent is in them. */
function preparing(
  { home, environment }: Pick<Call, "home" | "environment">,
  workspace: Workspace,
  log: OrchestratingOptions["log"],
): OrchestratedWorkspace {
  return {
    id: workspace.id,
    root: workspace.root,
    runs: workspace.runs,
    openFork: (ref) => workspace.openFork(ref),
    forkEnvironment: (ref) => workspace.forkEnvironment(ref),
    planMerge: (sources, options) => workspace.planMerge(sources, options),
    merge: (plan) => workspace.merge(plan),
    merges: workspace.merges,
    conflicts: (merge) => workspace.conflicts(merge),
    fork: async (name, request) => {
      const said: string[] = [];
      const setup = async (fork: Fork, variables: Readonly<Record<string, string>>) => {
        said.push(...(await prepareFork({ home, environment, log }, { workspace, fork }, variables)));
      };
      const fork = await workspace.fork(name, { ...request, setup });
      return { ...fork, warnings: [...fork.warnings, ...said] };
    },
  };
}

/**
 * Looks after runs whose watcher died: those that ended are captured and closed, those that go on get another process
 * that watches them.
 */
export async function takeOverRuns(
  call: Pick<Call, "home" | "environment">,
  workspace: Workspace,
): Promise<void> {
  if ((await workspace.runs.list({ alive: true })).length === 0) return;
  const { running } = await orchestrate(call, workspace).orchestrator.takeOver();
  for (const { id } of running) startBelay(call.home, workspace.root, ["agents", "watch", id]);
}

/** Starts a command of Belay's own that outlives this process; its pid. */
export function startBelay(
  home: string,
  directory: string,
  words: readonly string[],
  input?: string,
): number {
  const child = spawn(
    process.execPath,
    [process.argv[1]!, "--json", "--home", home, "-C", directory, ...words],
    {
      cwd: "/",
      detached: true,
      stdio: [input === undefined ? "ignore" : "pipe", "ignore", "ignore"],
      env: ownEnvironment(),
    },
  );
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  child.unref();
  return child.pid ?? 0;
}
