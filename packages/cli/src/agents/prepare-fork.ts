/** What a new fork gets before it is ready: hooks as the original has them, and the set-up of the settings. */
import { RUN_VARIABLE } from "@belay/agents/orchestration";
import { readProgramSettings, readSettings, type Fork, type Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { isAgreed } from "./known-commands.ts";
import { runSetup } from "./run-setup.ts";

/** The command of the settings that prepares a fork; no words where there is none. */
export function setupWords({ home }: Pick<Call, "home">, { id }: Pick<Workspace, "id">): readonly string[] {
  return readSettings(home, id)["forks.setup"];
}

/** Prepares a fork at its final place; returns warnings. */
export async function prepareFork(
  call: Pick<Call, "home" | "environment"> & { readonly log?: ((line: string) => void) | undefined },
  { workspace, fork }: { workspace: Pick<Workspace, "id" | "root">; fork: Fork },
  environment: Readonly<Record<string, string>>,
): Promise<string[]> {
  const hooks = await installSameHooks(call, { root: workspace.root, fork });
  const words = setupWords(call, workspace);
  if (words.length === 0) return hooks;
  // [R100] the settings may have another one than the user was asked about
  if (!isAgreed(call, { workspace: workspace.id, commands: [words] }))
    return [...hooks, "forks.setup was not started: `belay fork` asks about it. The fork is kept as it is."];
  call.log?.(`Setting up ${fork.name}: ${words.join(" ")}`);
  const problem = await runSetup(words, {
    directory: fork.path,
    environment: { ...call.environment, ...environment },
    run: environment[RUN_VARIABLE],
    timeoutMs: readProgramSettings(call.home, workspace.id).runs.timeoutMinutes * 60_000,
  });
  return problem === undefined ? hooks : [...hooks, `forks.setup: ${problem}. The fork is kept as it is.`];
}

/** Installs the hooks of the agents whose hooks the original has. */
async function installSameHooks(
  { home, environment }: Pick<Call, "home" | "environment">,
  { root, fork }: { root: string; fork: Fork },
): Promise<string[]> {
  const { chooseAgents, installHooks, placeFor, planHooks } = await import("../agents/agent-hooks.ts");
  const warnings: string[] = [];
  for (const shared of [false, true]) {
    const original = placeFor(home, root, { shared, environment });
    const installed = planHooks(await chooseAgents(undefined, original), original).filter(
      ({ files }) => files.length > 0 && files.every(({ action }) => action === "none"),
    );
    const place = placeFor(home, fork.path, { shared, environment });
    const plans = planHooks(
      installed.map(({ adapter }) => adapter),
      place,
    );
    for (const { agent, files } of installHooks(plans, place, Date.now()))
      for (const file of files)
        if (file.outcome === "refused")
          warnings.push(`The hooks of ${agent} could not be installed in the fork: ${file.reason}.`);
  }
  return warnings;
}
