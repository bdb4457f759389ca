/**
 * Whether this directory is captured automatically, by which agents and since when. `status`, `doctor` and
 * the HTTP API all derive it here. It reads the settings of Belay and of the agents, the last event of each,
 * and what the agents did meanwhile; it changes nothing.
 */
import { existsSync } from "node:fs";
import { detectAgent, loadAllAgents, type AgentAdapter, type Detection } from "@belay/agents";
import { findWorkspace, readSettings, type Workspace } from "@belay/engine";
import { reportError } from "../call/error-report.ts";
import { belayAt } from "../output/belay-at.ts";
import { clockTime } from "@belay/tui/text";
import { placeFor } from "./agent-hooks.ts";
import { connectToAgents } from "./connect-to-agents.ts";

/** Something that prevents all automatic captures. */
export interface CaptureObstacle {
  readonly code:
    | "NOT_PROTECTED"
    | "GONE"
    | "STORE_FAILS"
    | "SETTINGS_INVALID"
    | "PAUSED"
    | "AUTOMATIC_OFF"
    | "STORE_FULL"
    | "CAPTURES_FAIL"
    | "NO_HOOKS"
    | "NO_EVENTS";
  readonly detail: string;
  readonly hint: string;
}

/** How an agent's work is captured. */
export interface AgentCapture {
  readonly agent: string;
  readonly title: string;
  /** True when its work is captured automatically, as far as can be told. */
  readonly captured: boolean;
  readonly hooks: Detection["hooks"];
  /** When its last event was recorded here; null = never. */
  readonly lastEvent: number | null;
  /** Why it is not captured, or what should be done; null when all is well. */
  readonly problem: string | null;
  readonly hint: string | null;
}

/** Whether a directory is captured automatically, and what is in the way. */
export interface CaptureState {
  /** False when nothing at all is captured automatically. */
  readonly on: boolean;
  /** When the directory was first captured; 0 = unknown, or it is not protected. */
  readonly since: number;
  /** What prevents all captures, the worst first; empty while `on`. */
  readonly obstacles: readonly CaptureObstacle[];
  /** The agents that are used here. */
  readonly agents: readonly AgentCapture[];
}

interface Scene {
  readonly home: string;
  readonly directory: string;
  /** Null where nothing is protected; an error when the store cannot be opened. */
  readonly workspace: Workspace | Error | null;
  /** The caller's variables, which say where agents keep their settings. */
  readonly environment: NodeJS.ProcessEnv;
  /** `thorough` also asks agents' programs, which takes a moment. */
  readonly how: "quick" | "thorough";
}

/** How far an agent's own files may be ahead of its last event: it thinks and reads for long without one. */
const SILENCE_MS = 60 * 60 * 1000;

/** The same for a directory that may be unprotected, for callers without an open workspace. */
export async function captureStateAt(home: string, directory: string): Promise<CaptureState> {
  const { env: environment } = process;
  const workspace = await findWorkspace(directory, { home }).catch((error: Error) => error);
  if (!(workspace instanceof Error)) {
    await using opened = workspace;
    if (opened !== null) connectToAgents(home, opened);
    return await captureState({ home, directory, workspace: opened, environment, how: "thorough" });
  }
  const isProtected = (workspace as { code?: string }).code !== "WORKSPACE_NOT_FOUND";
  const found = isProtected ? workspace : null;
  return captureState({ home, directory, workspace: found, environment, how: "thorough" });
}

/** How capture stands in a directory. */
export async function captureState(scene: Scene): Promise<CaptureState> {
  // where there is no directory, nothing is wrong with the agents' settings in it
  const opened = scene.workspace instanceof Error ? null : scene.workspace;
  const since = await protectedSince(opened);
  if (isGone(scene.workspace)) return { on: false, since, obstacles: standing(scene), agents: [] };
  const lastEvents = await readLastEvents(opened);
  const adapters = await loadAllAgents();
  const found = await Promise.all(
    adapters.map(async (adapter) => ({ adapter, detection: await detect(scene, adapter) })),
  );
  const everything = standing(scene);
  const isStopped = everything.length > 0;
  const agents = await Promise.all(
    found
      .filter(({ detection }) => isUsed(detection) || lastEvents.has(detection.agent))
      .map((one) =>
        agentCapture(scene, { ...one, isStopped, since, lastEvent: lastEvents.get(one.adapter.id) ?? null }),
      ),
  );
  const obstacles = isStopped ? everything : withoutAgents(agents);
  return { on: obstacles.length === 0, since, obstacles, agents };
}

function isGone(workspace: Scene["workspace"]): boolean {
  return workspace !== null && !(workspace instanceof Error) && !existsSync(workspace.root);
}

/** What prevents all captures, whatever agents there are. */
function standing({ home, workspace }: Scene): CaptureObstacle[] {
  if (workspace === null)
    return [
      {
        code: "NOT_PROTECTED",
        detail: "this directory is not protected: nothing is captured here",
        hint: "`belay init` protects it.",
      },
    ];
  if (workspace instanceof Error && (workspace as { code?: string }).code === "CONFIG_INVALID") {
    const { message, hint } = reportError(workspace);
    return [
      {
        code: "SETTINGS_INVALID",
        detail: `the settings cannot be read, so nothing is captured: ${message}`,
        hint,
      },
    ];
  }
  if (workspace instanceof Error)
    return [
      {
        code: "STORE_FAILS",
        detail: `the store cannot be opened, so nothing is captured: ${workspace.message}`,
        hint: "`belay verify --full` shows the damage.",
      },
    ];
  if (isGone(workspace))
    return [
      {
        code: "GONE",
        detail: "This directory is gone; its checkpoints are not.",
        hint: `\`${belayAt(workspace.root, "restore", "@")}\` brings it back with all files of the newest one.`,
      },
    ];
  const { paused } = workspace;
  if (paused !== null)
    return [
      {
        code: "PAUSED",
        detail: `paused until ${clockTime(paused.until)}, nothing is captured`,
        hint: "The pause ends by itself; `belay resume` (or `belay resume --all`) ends it now.",
      },
    ];
  if (automatic(home, workspace.id) === "off")
    return [
      {
        code: "AUTOMATIC_OFF",
        detail: "automatic checkpoints are off: nothing is captured automatically",
        hint: "`belay config checkpoints.automatic on` switches them on.",
      },
    ];
  return failing(workspace);
}

/** [R2140] The newest work was not captured. */
function failing({ failing: failure }: Workspace): CaptureObstacle[] {
  if (failure === null) return [];
  const since = `checkpoints fail since ${clockTime(failure.since)}, and agents go on unprotected`;
  if (failure.isFull)
    return [
      {
        code: "STORE_FULL",
        detail: `the store is full: ${since}`,
        hint: "`belay prune --dry-run` shows what can go; `belay config disk.capBytes <size>` raises the cap.",
      },
    ];
  return [
    {
      code: "CAPTURES_FAIL",
      detail: `${since}: ${failure.problem}`,
      hint: "`belay checkpoint` tries again; `belay doctor` says more.",
    },
  ];
}

/** Agents are used here and none of them is captured. Without agents, nothing is missed. */
function withoutAgents(agents: readonly AgentCapture[]): CaptureObstacle[] {
  const [first] = agents;
  if (first === undefined || agents.some(({ captured }) => captured)) return [];
  const silent = agents.find(({ hooks }) => hooks === "installed" || hooks === "outdated");
  if (silent === undefined)
    return [
      {
        code: "NO_HOOKS",
        detail: `no agent has Belay's hooks (${agents.map(({ title }) => title).join(", ")}): nothing is captured automatically`,
        hint: "`belay init` installs them; `belay run -- <command>` captures one command.",
      },
    ];
  return [
    {
      code: "NO_EVENTS",
      detail: `${silent.title}'s hooks are installed but do not run: nothing is captured automatically`,
      hint: silent.problem ?? "",
    },
  ];
}

function automatic(home: string, workspace: string | undefined): "on" | "off" {
  try {
    return readSettings(home, workspace)["checkpoints.automatic"];
  } catch (error) {
    // invalid settings are reported where they are read
    if ((error as { code?: string }).code === "CONFIG_INVALID") return "on";
    throw error;
  }
}

async function detect(
  { home, workspace, directory, environment }: Scene,
  adapter: AgentAdapter,
): Promise<Detection> {
  const root = workspace === null || workspace instanceof Error ? directory : workspace.root;
  const found = detectAgent(adapter, placeFor(home, root, { environment }));
  const isMissing = found.hooks === "missing" || found.hooks === "refused";
  const hasPlugin = isMissing && ((await adapter.hasPlugin?.(found.place)) ?? false);
  return hasPlugin ? { ...found, hooks: "installed" } : found;
}

function isUsed({ program, configured, hooks }: Detection): boolean {
  return program !== null || configured !== null || hooks === "installed";
}

interface Known {
  readonly adapter: AgentAdapter;
  readonly detection: Detection;
  /** Nothing is captured here, whatever agent works. */
  readonly isStopped: boolean;
  readonly lastEvent: number | null;
  /** When the directory was protected; 0 = it is not. */
  readonly since: number;
}

async function agentCapture(scene: Scene, known: Known): Promise<AgentCapture> {
  const { adapter, detection, lastEvent } = known;
  const { title, hooks } = detection;
  const trouble = await troubleOf(scene, known);
  const captured = !known.isStopped && !(trouble?.stops ?? false);
  const { problem = null, hint = null } = trouble ?? {};
  return { agent: adapter.id, title, captured, hooks, lastEvent, problem, hint };
}

interface AgentTrouble {
  readonly problem: string;
  readonly hint: string;
  /** True when this prevents its capture. */
  readonly stops: boolean;
}

async function troubleOf(scene: Scene, known: Known): Promise<AgentTrouble | undefined> {
  const { adapter, detection } = known;
  const install = `\`belay init --agent ${adapter.id}\` installs them.`;
  switch (detection.hooks) {
    case "missing":
      return { problem: "it has no hooks", hint: install, stops: true };
    case "refused":
      return {
        problem: "it has no hooks, and its settings cannot be changed",
        hint: `Put them right. ${install}`,
        stops: true,
      };
    case "outdated":
      return { problem: "its hooks are of an older Belay", hint: install, stops: false };
    case "installed":
      return (await heldUp(scene, known)) ?? (await silence(known));
  }
}

/** Its own settings prevent installed hooks from running. */
async function heldUp({ how }: Scene, { adapter, detection }: Known): Promise<AgentTrouble | undefined> {
  const obstacles = (await adapter.obstacles?.(detection.place, how)) ?? [];
  if (obstacles.length === 0) return undefined;
  return { problem: obstacles.join(" "), hint: "Until then it is not captured automatically.", stops: true };
}

/** Its own files show that it worked here, and no event reported it. */
async function silence(known: Known): Promise<AgentTrouble | undefined> {
  const { adapter, detection, lastEvent, since } = known;
  if (since === 0) return undefined;
  const ran = await adapter.lastRun?.(detection.place, (lastEvent ?? since) + SILENCE_MS);
  if (ran === undefined || ran === null) return undefined;
  const last =
    lastEvent === null ? "none of its events ever arrived" : `its last event was at ${iso(lastEvent)}`;
  return {
    problem: `it worked here until ${iso(ran)}, and ${last}`,
    hint: "Restart it: agents read their hooks when they start.",
    stops: true,
  };
}

async function readLastEvents(workspace: Workspace | null): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  for (const { agent, updatedAt } of (await workspace?.threads.list()) ?? [])
    last.set(agent, Math.max(updatedAt, last.get(agent) ?? 0));
  return last;
}

/** Threads begin with such a checkpoint too: the oldest one counts. */
async function protectedSince(workspace: Workspace | null): Promise<number> {
  const first = (await workspace?.list({ kind: "initial" }))?.at(-1);
  return first?.createdAt ?? 0;
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}

/** What is captured here, as JSON. */
export function captureJson({ agents, on, obstacles }: CaptureState) {
  const at = (moment: number | null) => (moment === null ? null : iso(moment));
  return { on, obstacles, agents: agents.map((agent) => ({ ...agent, lastEvent: at(agent.lastEvent) })) };
}
