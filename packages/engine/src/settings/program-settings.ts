/**
 * [R100] Settings of the programs that Belay starts for the user: agents, reviews, their limits. They come from the
 * user's settings file alone, written as objects or with dots in their names; those of one workspace, below
 * `workspaces.<id>`, go before the others.
 */
import { displayAbsolute } from "../fs/absolute-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { OnConflict } from "../model/merge.ts";
import { isObject, readObject } from "./home-file.ts";
import { configPath } from "./settings.ts";

/** How runs are limited. */
export interface RunSettings {
  /** How many run at once; undefined: as many as the machine has cores, four at most. */
  readonly jobs: number | undefined;
  readonly timeoutMinutes: number;
  readonly logBytes: number;
  readonly maxCost: number | undefined;
  readonly maxTokens: number | undefined;
  /** Whether programs may be started over HTTP. */
  readonly http: boolean;
}

/** What the file says about programs; what is inside the first three is checked by the one that uses it. */
export interface ProgramSettings {
  readonly agents: unknown;
  readonly reviews: unknown;
  readonly autoFix: unknown;
  readonly runs: RunSettings;
  readonly merge: MergeSettings;
}

/** How merges are made unless the command line says otherwise. */
export interface MergeSettings {
  readonly onConflict: OnConflict;
  /** The command that tries the result; empty when there is none. */
  readonly check: readonly string[];
  /** Whether lock files in conflict are generated again: when the user agrees, always, or never. */
  readonly regenerate: "ask" | "always" | "never";
  /** Commands that generate files again. */
  readonly generators: readonly Generator[];
}

/** A command that generates the files whose paths fit one of the patterns. */
export interface Generator {
  readonly paths: readonly string[];
  readonly command: readonly string[];
}

/** Reads the settings of programs that Belay starts; throws `CONFIG_INVALID`. */
export function readProgramSettings(home: string, workspace: string): ProgramSettings {
  const path = configPath(home);
  try {
    return programSettingsIn(readObject(path), workspace);
  } catch (error) {
    if (!isEngineError(error, "CONFIG_INVALID")) throw error;
    throw new EngineError("CONFIG_INVALID", error.message, { ...error.facts, file: displayAbsolute(path) });
  }
}

function programSettingsIn(file: Record<string, unknown> | undefined, workspace: string): ProgramSettings {
  if (file === undefined) throw invalid("config.json", "it is not a JSON object");
  const all = spread(file);
  const own = objectAt(objectAt(all, "workspaces"), workspace);
  const at = (key: string) => laid(all[key], own[key]);
  return {
    agents: at("agents"),
    reviews: at("reviews"),
    autoFix: objectAt({ all: at("agentOrchestration") }, "all")["autoFix"],
    runs: readRuns(at("runs")),
    merge: readMerge(at("merge")),
  };
}

function readMerge(value: unknown): MergeSettings {
  if (value !== undefined && !isObject(value)) throw invalid("merge", "it must be an object");
  const { onConflict = "hold", check = [], regenerate = "ask", generators = [] } = value ?? {};
  if (onConflict !== "hold" && onConflict !== "none" && onConflict !== "partial")
    throw invalid("merge.onConflict", "it must be one of hold, none, partial");
  if (!isWords(check)) throw invalid("merge.check", 'it must be a list of words such as ["npm", "test"]');
  if (regenerate !== "ask" && regenerate !== "always" && regenerate !== "never")
    throw invalid("merge.regenerate", "it must be one of ask, always, never");
  if (!Array.isArray(generators) || !generators.every(isGenerator))
    throw invalid(
      "merge.generators",
      'it must be a list such as [{ "paths": ["api/**"], "command": ["npm", "run", "api"] }]',
    );
  return { onConflict, check, regenerate, generators };
}

function isGenerator(value: unknown): value is Generator {
  return (
    isObject(value) && isWords(value["paths"]) && isWords(value["command"]) && value["command"].length > 0
  );
}

/** A command is a list of words: no shell takes it apart. */
function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

const MIB = 1024 * 1024;

function readRuns(value: unknown): RunSettings {
  if (value !== undefined && !isObject(value)) throw invalid("runs", "it must be an object");
  const runs = value ?? {};
  const number = (key: string, least: number) => {
    const found = runs[key];
    if (found === undefined || (typeof found === "number" && Number.isFinite(found) && found >= least))
      return found;
    throw invalid(`runs.${key}`, `it must be a number of at least ${least}`);
  };
  const { http = false } = runs;
  if (typeof http !== "boolean") throw invalid("runs.http", "it must be true or false");
  return {
    jobs: number("jobs", 1),
    timeoutMinutes: number("timeoutMinutes", 0) ?? 30,
    logBytes: number("logBytes", 1024) ?? 64 * MIB,
    maxCost: number("maxCost", 0),
    maxTokens: number("maxTokens", 0),
    http,
  };
}

/** `{"a.b": 1}` as `{"a": {"b": 1}}`. */
function spread(file: Record<string, unknown>): Record<string, unknown> {
  let all: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(file)) {
    const nested = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    all = laid(all, isObject(value) && !key.includes(".") ? { [key]: spread(value) } : nested) as Record<
      string,
      unknown
    >;
  }
  return all;
}

/** The second over the first; objects are merged. */
function laid(under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (!isObject(under) || !isObject(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over))
    merged[key] = laid(Object.hasOwn(under, key) ? under[key] : undefined, value);
  return merged;
}

function objectAt(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

function invalid(key: string, reason: string): EngineError<"CONFIG_INVALID"> {
  return new EngineError("CONFIG_INVALID", `Setting ${key}: ${reason}. Nothing was started.`, {
    key,
    reason,
  });
}
