import type { Workspace } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import { ANY_NUMBER, ASKING_EXITS, defineCommand, YES } from "../call/command.ts";
import type { AgentsCall } from "../command-parts/agents-run.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage:
    "agents run [--agent name] -p <text>… [-- <command…>] | agents list | agents show|logs|stop|resume <run>",
  about: `Runs agents, each in a fork of its own or one after the other in place, and keeps what they did. Before each of
them there is a checkpoint, which stays whatever happens. \`run\` starts one for every -p or task of a file
([{ "agent", "role", "prompt", "name", "limits" }]) and waits; with --detach it does not. The agents are those that Belay
knows, those of config.json, or any command: {prompt} in it stands for the prompt, else it is on its standard input.
\`stop\` ends a run with every process it started; \`resume\` goes on in the same place.`,
  options: {
    agent: {
      type: "string",
      value: "name",
      about: "claude-code, codex, gemini-cli, opencode, copilot-cli, qwen-code, or one of config.json",
    },
    prompt: {
      type: "string",
      short: "p",
      multiple: true,
      value: "text",
      about: "what an agent should do; once for each run",
    },
    tasks: { type: "string", value: "file", about: "a JSON file with tasks; - reads standard input" },
    jobs: { type: "string", value: "n", about: "how many run at once (default: the cores, four at most)" },
    "in-place": {
      type: "boolean",
      about: "work in this directory instead of in forks, one after the other unless --jobs says more",
    },
    timeout: { type: "string", value: "minutes", about: "stop a run after this time (default: 30)" },
    "max-cost": { type: "string", value: "n", about: "stop a run that costs more, where its agent tells" },
    "max-tokens": { type: "string", value: "n", about: "stop a run that uses more, where its agent tells" },
    merge: { type: "boolean", about: "merge what the runs that are done did, as one step" },
    order: {
      type: "string",
      value: "listed|finished",
      about: "the order in which they are merged (default: listed)",
    },
    check: {
      type: "string",
      value: "command",
      about: "with --merge: hold back what makes this command fail",
    },
    detach: { type: "boolean", about: "do not wait for the end" },
    all: { type: "boolean", about: "stop: all runs" },
    stderr: { type: "boolean", about: "logs: what the agent wrote to its standard error" },
    yes: YES,
  },
  operands: { min: 1, max: ANY_NUMBER },
  exits: {
    ...ASKING_EXITS,
    0: "all runs are done, and merged if asked",
    1: "no run could be started",
    3: "a run failed, timed out, is over its budget or was stopped, or conflicts are open; nothing is lost",
    4: "no such agent or run",
  },
  examples: [
    "belay agents list",
    "belay agents run --in-place --yes -p 'a note of mine' -- tee -a notes.txt",
  ],
  run: (call) => {
    const [verb = "", ref] = call.operands.slice(0, call.dashesAt);
    const way = Object.hasOwn(WAYS, verb) ? WAYS[verb] : undefined;
    if (way === undefined)
      throw usageError(`There is no "agents ${verb}".`, "agents run, list, show, logs, stop or resume.");
    const needsRun = !["run", "list"].includes(verb) && !(verb === "stop" && call.options.all === true);
    if (needsRun && ref === undefined)
      throw usageError(`agents ${verb} needs a run.`, "`belay agents list` lists them.");
    refuseOthers(call, verb, needsRun ? 2 : 1);
    return withWorkspace(call, (workspace) => way(call, workspace));
  },
});

const OF_RUNS = ["agent", "prompt", "tasks", "jobs", "in-place", "timeout", "max-cost", "max-tokens"];
/** Which options each of them takes. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  run: [...OF_RUNS, "merge", "order", "check", "detach", "yes"],
  resume: ["prompt", "tasks", "timeout", "max-cost", "max-tokens", "detach", "yes"],
  logs: ["stderr"],
  stop: ["all", "yes"],
};

/** What would have no effect is refused: a second name, an option of another verb. */
function refuseOthers(
  { operands, dashesAt, options }: Pick<AgentsCall, "operands" | "dashesAt" | "options">,
  verb: string,
  wanted: number,
): void {
  const hint = "`belay agents --help` shows what each takes.";
  const more = operands.slice(0, dashesAt)[wanted] ?? (verb === "run" ? undefined : operands[wanted]);
  if (more !== undefined) throw usageError(`agents ${verb} does not take "${more}".`, hint);
  const other = Object.values(TAKEN)
    .flat()
    .find((option) => option in options && !(TAKEN[verb] ?? []).includes(option));
  if (other !== undefined && verb !== "watch")
    throw usageError(`agents ${verb} does not take --${other}.`, hint);
}

const WAYS: Readonly<Record<string, (call: AgentsCall, workspace: Workspace) => Promise<number>>> = {
  run: async (call, workspace) => (await import("../command-parts/agents-run.ts")).runAgents(call, workspace),
  resume: async (call, workspace) =>
    (await import("../command-parts/agents-run.ts")).resumeRun(call, workspace),
  list: async (call, workspace) =>
    (await import("../command-parts/agents-show.ts")).listRuns(call, workspace),
  show: async (call, workspace) => (await import("../command-parts/agents-show.ts")).showRun(call, workspace),
  logs: async (call, workspace) => (await import("../command-parts/agents-show.ts")).showLog(call, workspace),
  stop: async (call, workspace) =>
    (await import("../command-parts/agents-show.ts")).stopRuns(call, workspace),
  /** What a process does for runs whose own watcher died. */
  watch: async (call, workspace) => {
    const { orchestrate } = await import("../agents/orchestrating.ts");
    await orchestrate(call, workspace).orchestrator.watch(call.operands[1]!);
    return EXIT.done;
  },
};
