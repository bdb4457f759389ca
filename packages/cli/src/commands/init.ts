import { realpathSync } from "node:fs";
import type { InstallReport } from "@belay/agents";
import type { TakenCheckpoint, Workspace } from "@belay/engine";
import { ASKING_EXITS, ALL_ENTRIES, defineCommand, DRY_RUN, YES, type Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { EXIT } from "@belay/protocol/errors";
import { checkpointJson } from "@belay/server/json";
import { warnAll } from "../wiring/open-workspace.ts";
import { excludedList, gapList } from "../output/file-list.ts";
import { section } from "../output/facts.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { count, duration, size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "init [--agent a,b | --no-agents] [--shared] [--nested] [--dry-run]",
  about: [
    "Protects the current directory: from now on its states can be kept, compared and brought back.",
    "Installs the hooks of the agents it finds, so that every prompt and tool call is a checkpoint; shows what it",
    "will write first. Everything is kept outside of the directory (see --home); git is never touched.",
  ].join("\n"),
  options: {
    agent: {
      type: "string",
      multiple: true,
      value: "a,b",
      about: "install hooks for these agents instead of those found; may be given several times",
    },
    "no-agents": { type: "boolean", about: "install no hooks" },
    shared: { type: "boolean", about: "install hooks in the project's own settings, which are committed" },
    nested: { type: "boolean", about: "allow it inside a directory that is protected already" },
    yes: YES,
    "dry-run": DRY_RUN,
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 0 },
  exits: ASKING_EXITS,
  examples: ["belay init", "belay init --agent claude-code,codex", "belay init --no-agents --yes"],
  run: async (call) => {
    if (call.options["dry-run"] === true) return preview(call);
    const agents = call.options["no-agents"] === true ? NO_AGENTS : await prepareAgents(call);
    if (agents === undefined) return declined(call);
    const { initial, workspace } = await protect(call, call.options.nested === true, agents.install);
    await using opened = workspace;
    if (initial === null) agents.install();
    warnAll(call, [...opened.notices, ...(initial?.warnings ?? [])]);
    const result = { initial, workspace: opened, all: call.options.all, agents: agents.reports };
    if (call.json) call.output.json(initJson(result));
    else await printProtected(call, result);
    const refused = agents.reports.filter(({ files }) => files.some(({ outcome }) => outcome === "refused"));
    await findResident(call);
    if (refused.length === 0) return EXIT.done;
    const names = refused.map(({ agent }) => agent).join(", ");
    call.output.warn(
      `belay: the hooks of ${names} could not be installed: their work is not captured automatically.\n` +
        "→ Fix their settings, then run `belay init` again.",
    );
    return EXIT.refused;
  },
});

/** The first commands in a new workspace are quick: a resident process opens it after this one's answer. */
async function findResident({ home, directory }: Call): Promise<void> {
  const { askResident } = await import("../resident/ask-resident.ts");
  await askResident(home, (client) => client.call("GET /api/resident"), { start: true, directory });
}

interface PreparedAgents {
  /** Writes the hooks, once. */
  install(): void;
  readonly reports: InstallReport[];
}

const NO_AGENTS: PreparedAgents = { install: () => undefined, reports: [] };

/** Finds the agents, shows what would be written and asks; undefined when the person declined. */
async function prepareAgents(call: Call): Promise<PreparedAgents | undefined> {
  const { installHooks } = await import("../agents/agent-hooks.ts");
  const { plans, place, changed } = await planAgents(call);
  const { yes } = call.options as InitOptions;
  if (changed.length > 0 && yes !== true) {
    const lines = changed.map(changedLine);
    if (call.output.canAsk)
      call.output.print(["Hooks will be added to these settings:", ...lines].join("\n"));
    // without a terminal the error that comes of it names the files
    const question = [`Add hooks to ${count(changed.length, "file")}?`, ...(call.output.canAsk ? [] : lines)];
    if (!(await confirm(call, question.join("\n"), { dryRun: true })))
      return (await wantsNoHooks(call)) ? NO_AGENTS : undefined;
  }
  const reports: InstallReport[] = [];
  return {
    reports,
    install: () => {
      if (reports.length === 0) reports.push(...installHooks(plans, place, Date.now()));
    },
  };
}

/** What the command line may say about agents. */
interface InitOptions {
  readonly agent?: readonly string[];
  readonly shared?: boolean;
  readonly nested?: boolean;
  readonly yes?: boolean;
  readonly "no-agents"?: boolean;
}

/** A settings file that hooks will be added to. */
interface ChangedFile {
  readonly agent: string;
  readonly title: string;
  readonly path: string;
  readonly action: string;
}

/** What the installation of hooks would write; nothing is written yet. */
async function planAgents(call: Call) {
  const { chooseAgents, placeFor, planHooks } = await import("../agents/agent-hooks.ts");
  const { agent, shared } = call.options as InitOptions;
  const place = placeFor(call.home, call.directory, { shared: shared === true });
  const plans = planHooks(await chooseAgents(agent, place), place);
  const changed = plans.flatMap(({ adapter: { id, title }, files }) =>
    files
      .filter(({ action }) => action === "create" || action === "change")
      .map(({ path, action }): ChangedFile => ({ agent: id, title, path, action })),
  );
  return { plans, place, changed };
}

function changedLine({ title, path }: ChangedFile): string {
  return `  ${title}: ${visible(path)}`;
}

/** `--dry-run`: what would be protected and which settings would get hooks. */
async function preview(call: Call): Promise<number> {
  const { previewInit } = await import("@belay/engine");
  const { "no-agents": none, nested = false } = call.options as InitOptions;
  const { path, created } = previewInit(call.directory, { home: call.home, nested });
  const changed = none === true ? [] : (await planAgents(call)).changed;
  if (call.json) {
    const files = changed.map(({ agent, path: file, action }) => ({ agent, path: file, action }));
    call.output.json({ dryRun: true, path, created, files });
    return EXIT.done;
  }
  const lines = [
    `${visible(path)} ${created ? "would be protected" : "is protected already"}.`,
    ...(changed.length === 0
      ? ["No settings would be changed."]
      : ["Hooks would be added to these settings:", ...changed.map(changedLine)]),
    "Nothing was changed.",
  ];
  call.output.print(lines.join("\n"));
  return EXIT.done;
}

/**
 * Declining the hooks need not decline the protection. In a protected directory there is nothing left to ask.
 */
async function wantsNoHooks(call: Call): Promise<boolean> {
  const { protectedRoots } = await import("@belay/engine");
  const root = realpathSync(call.directory);
  if (protectedRoots({ home: call.home }).some(({ path }) => path === root)) return false;
  return confirm(call, "Protect it without hooks?", { yes: true });
}

interface Result {
  readonly agents: readonly InstallReport[];
  /** Null when the directory was protected already. */
  readonly initial: TakenCheckpoint | null;
  readonly workspace: Workspace;
  readonly all: boolean | undefined;
}

async function protect(call: Call, nested: boolean, prepare: () => void) {
  const { initWorkspace } = await import("@belay/engine");
  using bar = createProgressBar("Capturing", "file", !call.json && !call.output.quiet);
  return await initWorkspace(call.directory, {
    home: call.home,
    nested,
    prepare,
    progress: (at) => bar.update(at),
  });
}

function initJson({ initial, workspace, agents }: Result) {
  const { id, root, store } = workspace;
  const place = { workspace: id, path: root, store, created: initial !== null, agents };
  if (initial === null) return { ...place, checkpoint: null, durationMs: null };
  const { checkpoint, gaps, doubts, durationMs } = initial;
  return {
    ...place,
    checkpoint: checkpointJson(checkpoint, { workspace: id, gaps, doubts }),
    durationMs,
  };
}

async function printProtected(
  { output, home }: Pick<Call, "output" | "home">,
  { initial, workspace, all, agents }: Result,
): Promise<void> {
  const { style, quiet } = output;
  if (agents.length > 0) output.print(agentsText(agents, output));
  if (agents.length > 0 && !quiet) await printPlugin(output, agents, home);
  const root = style.bold(visible(workspace.root));
  if (initial === null) {
    const { checkpoints } = await workspace.upkeep.stats();
    const text = `${root} is already protected: ${count(checkpoints, "checkpoint")}.`;
    if (!quiet) output.print(`${text}\n${style.dim("→")} \`belay status\` shows more.`);
    return;
  }
  const { files, bytes } = initial.checkpoint;
  const facts = `${count(files, "file")}, ${size(bytes)}, ${duration(initial.durationMs)}`;
  if (!quiet) output.print(`${style.green("✓")} ${root} is protected (${facts}).`);
  if (initial.gaps.length > 0)
    output.warn(`Not captured:\n${gapList(initial.gaps, workspace.limits, { output, all })}`);
  if (quiet) return;
  const { excluded } = await workspace.show(initial.id);
  if (excluded.length > 0) {
    output.print(section("Not protected", excludedList(excluded, output, all), output));
  }
  const next =
    agents.length > 0
      ? "Work with the agent as always; `belay undo` takes back its last turn."
      : "`belay run -- <agent>` runs an agent as one step; `belay undo` takes it back.";
  output.print(`\n${style.dim("→")} ${next}`);
}

async function printPlugin(
  { print, style }: Call["output"],
  agents: readonly InstallReport[],
  home: string,
): Promise<void> {
  const { pluginLines } = await import("../agents/agent-hooks.ts");
  const lines = pluginLines(agents, home).map((line) => `    ${visible(line)}`);
  if (lines.length > 0)
    print([`  ${style.dim("→")} Slash commands (/belay:undo and others) are a plugin:`, ...lines].join("\n"));
}

function agentsText(agents: readonly InstallReport[], { style }: Call["output"]): string {
  return agents
    .flatMap(({ agent, files, advice }) => [
      ...files.map(({ path, outcome, reason }) =>
        outcome === "refused"
          ? `${style.yellow("!")} ${agent}: ${visible(path)} was left alone: ${visible(reason ?? "")}`
          : `${style.green("✓")} ${agent}: hooks ${outcome === "unchanged" ? "are in" : "added to"} ${visible(path)}`,
      ),
      ...(files.every(({ outcome }) => outcome === "refused") ? [] : advice).map(
        (line) => `  ${style.dim("→")} ${visible(line)}`,
      ),
    ])
    .join("\n");
}
