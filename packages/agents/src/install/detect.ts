/** Which agents are used here, judging by their programs and directories, and how far hooks are installed. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { hasEntries } from "../settings/hook-entries.ts";
import type { Place } from "../settings/hook-file.ts";
import { readSettings } from "../settings/settings-file.ts";
import { planInstall } from "./install.ts";

/** Whether an agent is used here, and how its hooks stand. */
export interface Detection {
  readonly agent: string;
  readonly title: string;
  /** A program of it is on the PATH. */
  readonly program: string | null;
  /** A directory of its configuration exists. */
  readonly configured: string | null;
  readonly hooks: "installed" | "outdated" | "missing" | "refused";
  /** Where they are: the place that was asked about, or the project's own settings. */
  readonly place: Place;
}

/** Looks for an agent and its hooks. */
export function detectAgent(adapter: AgentAdapter, place: Place): Detection {
  const { programs, directories } = adapter.traces(place);
  const onPath = (place.environment["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const candidates = onPath.flatMap((directory) => programs.map((program) => join(directory, program)));
  return {
    agent: adapter.id,
    title: adapter.title,
    program: candidates.find(isProgram) ?? null,
    configured: directories.find(isDirectory) ?? null,
    ...findHooks(adapter, place),
  };
}

/** Hooks that the project brings along count as well as those that are the user's own. */
function findHooks(adapter: AgentAdapter, place: Place): Pick<Detection, "hooks" | "place"> {
  const hooks = hooksState(adapter, place);
  if (hooks === "installed") return { hooks, place };
  for (const scope of ["shared", "user"] as const) {
    const other: Place = { ...place, scope };
    if (hooksState(adapter, other) === "installed") return { hooks: "installed", place: other };
  }
  return { hooks, place };
}

function hooksState(adapter: AgentAdapter, place: Place): Detection["hooks"] {
  const hookFiles = adapter.hookFiles(place);
  // what is not there has no hooks: working out the text it would get takes longer than all the rest
  if (hookFiles.length > 0 && hookFiles.every(({ path }) => isAbsent(path))) return "missing";
  const { files } = planInstall(adapter, place);
  if (files.some(({ action }) => action === "refused")) return "refused";
  if (files.every(({ action }) => action === "none")) return "installed";
  return files.some(({ before }) => before !== null && hasEntries(before.text)) ? "outdated" : "missing";
}

/** Also false where its directory is something else: then the plan says what is in the way. */
function isAbsent(path: string): boolean {
  try {
    return readSettings(path) === null;
  } catch {
    return false;
  }
}

/** Nearly all candidates do not exist, and an error costs more than the answer that there is none. */
function isProgram(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
