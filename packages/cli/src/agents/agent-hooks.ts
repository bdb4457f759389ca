/**
 * The hooks in agents' settings: which agents there are, what would be written, and how to remove it again.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  claudePluginLines,
  detectAgent,
  HOOK_MARK,
  install,
  loadAllAgents,
  planInstall,
  putBackHooks,
  uninstallAll,
  writeClaudePlugin,
  writeHook,
  type AgentAdapter,
  type InstallPlan,
  type InstallReport,
  type Place,
  type RemovalReport,
} from "@belay/agents";
import { setUncapturedAside } from "@belay/agents/uncaptured";
import { usageError } from "@belay/protocol/errors";
import { buildFile, readVersion } from "../version.ts";
import { HOOK_ENVIRONMENT } from "./hook-environment.ts";
import { userHome } from "../call/user-home.ts";

/** Where agents keep their settings, for one directory and one caller's variables. */
export function placeFor(
  home: string,
  root: string | null,
  { shared = false, environment = process.env }: { shared?: boolean; environment?: NodeJS.ProcessEnv } = {},
): Place {
  return {
    scope: shared ? "shared" : "local",
    user: userHome(),
    root,
    belayHome: home,
    environment,
  };
}

/** The named agents, or those that are installed or configured here. */
export async function chooseAgents(
  names: readonly string[] | undefined,
  place: Place,
): Promise<AgentAdapter[]> {
  const all = await loadAllAgents();
  if (names === undefined)
    return all.filter((adapter) => {
      const { program, configured } = detectAgent(adapter, place);
      return program !== null || configured !== null;
    });
  const single = names.flatMap((list) => list.split(","));
  return [...new Set(single)].map((name) => {
    const found = all.find(({ id }) => id === name.trim());
    if (found === undefined)
      throw usageError(`Unknown agent "${name}".`, `Known agents: ${all.map(({ id }) => id).join(", ")}.`);
    return found;
  });
}

/** What `belay init` would write into the settings of these agents. */
export function planHooks(agents: readonly AgentAdapter[], place: Place): InstallPlan[] {
  return agents.map((adapter) => planInstall(adapter, place));
}

/** Writes what was planned, after the hook that all of it calls. */
export function installHooks(plans: readonly InstallPlan[], place: Place, now: number): InstallReport[] {
  if (plans.length === 0) return [];
  writeOwnHook(place.belayHome);
  setUncapturedAside(place.belayHome);
  if (plans.some(({ adapter }) => adapter.id === CLAUDE)) writeClaudePlugin(place, readVersion());
  return plans.map((plan) => install(plan, now));
}

const CLAUDE = "claude-code";

/** How to get slash commands, for agents that have them. */
export function pluginLines(reports: readonly InstallReport[], home: string): string[] {
  return reports.some(({ agent }) => agent === CLAUDE) ? claudePluginLines({ belayHome: home }) : [];
}

/** Rewrites the hook after an update; does nothing where no agent has one. */
export function refreshHook(home: string): void {
  try {
    if (existsSync(join(home, HOOK_MARK))) writeOwnHook(home);
  } catch {
    // the existing one works too
  }
}

function writeOwnHook(home: string): void {
  const build = buildFile();
  writeHook({
    belayHome: home,
    node: process.execPath,
    cli: process.argv[1]!,
    build,
    program: join(dirname(build), "belay-hook"),
    environment: HOOK_ENVIRONMENT,
  });
}

/** Removes what was installed for this directory; a file that other protected directories need stays. */
export async function removeHooks(
  home: string,
  root: string,
  { now, agents }: { readonly now: number; readonly agents?: readonly string[] | undefined },
): Promise<RemovalReport[]> {
  const { user, environment } = placeFor(home, root);
  const { protectedRoots } = await import("@belay/engine");
  const roots = new Set(protectedRoots({ home }).map(({ path }) => path));
  const isNeeded = (other: string) => roots.has(other);
  return uninstallAll({ belayHome: home, user, environment, now, root, isNeeded, ...(agents && { agents }) });
}

/** After a restore: adds our entries to settings that came back without them, and reports which. */
export async function putHooksBack(
  home: string,
  root: string,
  changedPaths: readonly string[],
  now: number,
): Promise<string[]> {
  const { user, environment } = placeFor(home, root);
  const reports = await putBackHooks({ belayHome: home, user, environment, root, changedPaths, now });
  return reports.map(({ path, outcome, reason }) =>
    outcome === "refused"
      ? `Belay's hooks are missing in ${path}: ${reason}. \`belay init\` puts them back.`
      : `Belay's hooks were put back into ${path}.`,
  );
}
