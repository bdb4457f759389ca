/**
 * Settings: `$BELAY_HOME/config.json` and the defaults below. A project supplies nothing but ignore
 * files, so that opening a hostile directory cannot change how Belay behaves.
 */
import { displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { GhostMode } from "../model/ghost.ts";
import { CHECKPOINT_PRESETS } from "../model/policy.ts";
import { RETENTION_PRESETS } from "../model/retention.ts";
import { parseIgnoreLine } from "../rules/ignore-pattern.ts";
import { homeFile, isObject, readObject, writeObject } from "./home-file.ts";
import { valueAt, withoutValue } from "./named-value.ts";

/** Every setting with its value. */
export interface Settings {
  /** Files larger than this are gaps. */
  readonly "limits.fileBytes": number;
  /** At most this many new bytes in one checkpoint; the largest files become gaps first. */
  readonly "limits.checkpointBytes": number;
  /** Of what git ignores, files larger than this are left out. */
  readonly "limits.ignoredFileBytes": number;
  /** A directory that git ignores is left out if it holds more files than this; 0 leaves out whatever git ignores. */
  readonly "limits.ignoredFiles": number;
  /** The same for all bytes in it. */
  readonly "limits.ignoredBytes": number;
  /** The store of one workspace never grows beyond this. */
  readonly "disk.capBytes": number;
  /** A preset of the retention policy. */
  readonly "retention.policy": string;
  /** Whether threads cause automatic checkpoints. */
  readonly "checkpoints.automatic": "on" | "off";
  /** Which events do: a preset of the checkpoint policy. */
  readonly "checkpoints.policy": keyof typeof CHECKPOINT_PRESETS;
  /** So many minutes after the newest checkpoint, the resident process takes one where something changed; 0 = never. */
  readonly "checkpoints.timerMinutes": number;
  /** The port of the resident process and its page; 0 takes the last one, or a free one. */
  readonly "ui.port": number;
  /** Where forks are made; empty beside the workspace. */
  readonly "forks.directory": string;
  /** At most this many forks of one workspace. */
  readonly "forks.limit": number;
  /** They never take more than this on the disk. */
  readonly "forks.bytes": number;
  /** Where copies share no blocks, dependencies are copied up to this size. */
  readonly "forks.copyLimitBytes": number;
  /** Whether forks get the dependencies of the workspace. */
  readonly "forks.dependencies": "auto" | "none";
  /** Whether forks get a git repository of their own. */
  readonly "forks.git": "private" | "none";
  /** The program that prepares a fork, and its arguments. */
  readonly "forks.setup": readonly string[];
  /** Further variables for everything that Belay starts in a fork. */
  readonly "forks.env": Readonly<Record<string, string>>;
  /** How long a removed fork can be brought back. */
  readonly "forks.graceHours": number;
  /** How many removed forks are kept after that, for the next one to take over their files. */
  readonly "forks.spare": number;
  /** Notices on the desktop: a capture that failed or came late, the end of a turn. */
  readonly "notices.desktop": "on" | "off";
  /** Whether the checkpoint before each message is also a commit below `refs/belay/ghost/` of the git repository. */
  readonly "ghost.mode": GhostMode;
  /** How many such commits are kept. */
  readonly "ghost.keep": number;
  /** Whether files outside the directory that a tool names are captured, apart from the others. */
  readonly "outside.capture": "on" | "off";
  /** Whether the resident process synchronises workspaces that have a remote. */
  readonly "sync.automatic": "on" | "off";
  /** A checkpoint is sent after this long at the latest. */
  readonly "sync.intervalSeconds": number;
  /** How often the lines of other machines are looked at; 0 never by itself. */
  readonly "sync.pullMinutes": number;
  /** No more than this is sent; 0 means no limit. */
  readonly "sync.uploadBytesPerSecond": number;
  /** The same for what is read. */
  readonly "sync.downloadBytesPerSecond": number;
  /** Whether the agent's transcript goes along with a thread that is handed over, or with every push. */
  readonly "sync.transcripts": "handoff" | "always" | "never";
  /** Which checkpoints are sent: all, those of turns and people, or only those of people. */
  readonly "sync.kinds": "all" | "turns" | "named";
  /** Whether the messages of conversations are sent. */
  readonly "sync.conversations": "on" | "off";
  /** Patterns as in a `.gitignore`: content of such paths stays at home. */
  readonly "sync.withhold": readonly string[];
  /** What becomes of a thread that another member of a space approves of. */
  readonly "approvals.fromTeam": "ask" | "apply" | "ignore";
  /** Which files are in the search index: `off` until it is first used, those that agents touched, or all. */
  readonly "retrieval.scope": "off" | "touched" | "all";
  /** What makes vectors: `hash` here, or an `endpoint`. */
  readonly "retrieval.embedder": "hash" | "endpoint";
  /** The endpoint: its address, up to `/embeddings`. */
  readonly "retrieval.url": string;
  /** The endpoint's model. */
  readonly "retrieval.model": string;
  /** The index of one workspace does not grow beyond this. */
  readonly "retrieval.capBytes": number;
}

/** The name of a setting. */
export type SettingKey = keyof Settings;

const CONFIG = "config.json";
const MIB = 1024 * 1024;

const DEFAULT_SETTINGS: Settings = {
  "limits.fileBytes": 64 * MIB,
  "limits.checkpointBytes": 2048 * MIB,
  "limits.ignoredFileBytes": MIB,
  "limits.ignoredFiles": 2000,
  "limits.ignoredBytes": 32 * MIB,
  "disk.capBytes": 10 * 1024 * MIB,
  "retention.policy": "default",
  "checkpoints.automatic": "on",
  "checkpoints.policy": "everything",
  "checkpoints.timerMinutes": 0,
  "ui.port": 0,
  "forks.directory": "",
  "forks.limit": 16,
  "forks.bytes": 20 * 1024 * MIB,
  "forks.copyLimitBytes": 1024 * MIB,
  "forks.dependencies": "auto",
  "forks.git": "private",
  "forks.setup": [],
  "forks.env": {},
  "forks.graceHours": 24,
  "forks.spare": 1,
  "notices.desktop": "off",
  "ghost.mode": "off",
  "ghost.keep": 50,
  "outside.capture": "off",
  "sync.automatic": "on",
  "sync.intervalSeconds": 60,
  "sync.pullMinutes": 10,
  "sync.uploadBytesPerSecond": 0,
  "sync.downloadBytesPerSecond": 0,
  "sync.transcripts": "handoff",
  "sync.kinds": "all",
  "sync.conversations": "on",
  "sync.withhold": [],
  "approvals.fromTeam": "ask",
  "retrieval.scope": "off",
  "retrieval.embedder": "hash",
  "retrieval.url": "",
  "retrieval.model": "",
  "retrieval.capBytes": 256 * MIB,
};

/** A setting, and whether the user set it. */
export interface SettingWithSource {
  readonly key: SettingKey;
  readonly value: number | string;
  readonly source: "default" | "config.json";
}

/** The names of all settings that commands set. */
export function settingKeys(): readonly SettingKey[] {
  return Object.keys(DEFAULT_SETTINGS) as SettingKey[];
}

/** Whether there is a setting of this name. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(DEFAULT_SETTINGS, key);
}

/**
 * All settings: those of the file, and the defaults of the others. With the id of a workspace, what the file has below
 * `workspaces.<id>` goes before the rest. Throws `CONFIG_INVALID`.
 */
export function readSettings(home: string, workspace?: string): Settings {
  const file = readFile(home);
  const own = workspace === undefined ? {} : known(file, { workspace });
  return { ...DEFAULT_SETTINGS, ...known(file, {}), ...own };
}

/** Which settings: one or all, for all workspaces or for one of them alone. */
interface Scope {
  readonly key?: string | undefined;
  readonly workspace?: string;
}

/** What the file says about settings; it may be written as objects or with dots in the names. */
function known({ path, content }: SettingsFile, { key: only, workspace }: Scope): Partial<Settings> {
  const found: Partial<Record<SettingKey, Settings[SettingKey]>> = {};
  for (const key of settingKeys().filter((each) => only === undefined || each === only)) {
    const name = workspace === undefined ? key : `workspaces.${workspace}.${key}`;
    const value = valueAt(content, name);
    if (value !== undefined) found[key] = parseIn(path, { key, value, name });
  }
  return found as Partial<Settings>;
}

/** All settings, or the one that is asked for, with where each comes from. Throws `CONFIG_INVALID`. */
export function listSettings(home: string, only?: string): SettingWithSource[] {
  const set = known(readFile(home), { key: only });
  const keys = settingKeys().filter((key) => only === undefined || key === only);
  return keys.map((key) => ({
    key,
    value: asText(set[key] ?? DEFAULT_SETTINGS[key]),
    source: set[key] === undefined ? "default" : "config.json",
  }));
}

/** What the file says about one workspace alone; it goes before the rest. Throws `CONFIG_INVALID`. */
export function listOwnSettings(
  home: string,
  workspace: string,
  only?: string,
): { readonly key: SettingKey; readonly value: number | string; readonly source: string }[] {
  const own = known(readFile(home), { key: only, workspace });
  return (Object.keys(own) as SettingKey[]).map((key) => ({
    key,
    value: asText(own[key]!),
    source: `workspaces.${workspace}`,
  }));
}

/** Lists of words and variables are shown as they are written in the file. */
function asText(value: Settings[SettingKey]): number | string {
  return typeof value === "object" ? JSON.stringify(value) : value;
}

/** Sets one key; `null` goes back to the default. Unknown keys of the file are kept. */
export function writeSetting(home: string, key: string, value: string | null): void {
  assertKnown(key);
  // it may be there already, written as objects
  const rest = withoutValue(readFile(home).content, key);
  const next = value === null ? rest : { ...rest, [key]: parse(key, value) };
  writeObject(home, CONFIG, next);
}

/** [R1755] Sets one key for one workspace alone; `null` goes back to what holds for all. Everything else in the file is kept. */
export function writeOwnSetting(
  home: string,
  workspace: string,
  { key, value }: { readonly key: string; readonly value: string | null },
): void {
  assertKnown(key);
  if (!OWN.test(key)) throw invalid(key, "it holds for all workspaces, and cannot be set for one alone");
  const parsed = value === null ? null : parse(key, value);
  // it may be there already, cut into objects in another way
  const rest = withoutValue(readFile(home).content, `workspaces.${workspace}.${key}`);
  if (parsed === null) return writeObject(home, CONFIG, rest);
  const all = isObject(rest["workspaces"]) ? rest["workspaces"] : {};
  const own = isObject(all[workspace]) ? all[workspace] : {};
  writeObject(home, CONFIG, {
    ...rest,
    workspaces: { ...all, [workspace]: { ...own, [key]: parsed } },
  });
}

/** What a workspace may have of its own; the rest belongs to the resident process or to the user. */
const OWN =
  /^(?:(?:limits|disk|retention|checkpoints|forks|ghost|outside)\.|sync\.(?:kinds|conversations|withhold)$)/;

function assertKnown(key: string): asserts key is SettingKey {
  if (isSettingKey(key)) return;
  throw invalid(key, `it does not exist; known settings: ${settingKeys().join(", ")}`);
}

/** Settings whose value is one of these words. */
const CHOICES: Partial<Record<SettingKey, readonly string[]>> = {
  "retention.policy": Object.keys(RETENTION_PRESETS),
  "checkpoints.automatic": ["on", "off"],
  "checkpoints.policy": Object.keys(CHECKPOINT_PRESETS),
  "notices.desktop": ["on", "off"],
  "sync.automatic": ["on", "off"],
  "sync.kinds": ["all", "turns", "named"],
  "sync.conversations": ["on", "off"],
  "sync.transcripts": ["handoff", "always", "never"],
  "approvals.fromTeam": ["ask", "apply", "ignore"],
  "forks.dependencies": ["auto", "none"],
  "forks.git": ["private", "none"],
  "ghost.mode": ["off", "auto", "on"],
  "outside.capture": ["on", "off"],
  "retrieval.scope": ["off", "touched", "all"],
  "retrieval.embedder": ["hash", "endpoint"],
};

/** What settings of numbers that count something are said to be. */
const COUNTS: Partial<Record<SettingKey, string>> = {
  "limits.ignoredFiles": "a number of files such as 2000; 0 leaves out whatever git ignores",
  "checkpoints.timerMinutes": "a number of minutes such as 5; 0 takes none by the clock",
  "sync.intervalSeconds": "a number of seconds such as 60",
  "sync.pullMinutes": "a number of minutes such as 10; 0 never looks by itself",
  "forks.limit": "a number of forks such as 16; 0 makes none",
  "forks.graceHours": "a number of hours such as 24; 0 deletes at once",
  "forks.spare": "a number of forks such as 1; 0 keeps none",
};

/** What stands in the file; `name` is how the file calls it. */
function parseIn(
  path: AbsolutePath,
  { key, value, name }: { readonly key: SettingKey; readonly value: unknown; readonly name: string },
): Settings[SettingKey] {
  try {
    return parse(key, value);
  } catch (error) {
    if (!isEngineError(error, "CONFIG_INVALID")) throw error;
    throw invalid(name, error.facts.reason, displayAbsolute(path));
  }
}

function parse(key: SettingKey, value: unknown): Settings[SettingKey] {
  const words = CHOICES[key];
  if (words !== undefined) {
    if (typeof value === "string" && words.includes(value)) return value;
    throw invalid(key, `it must be one of ${words.join(", ")}`);
  }
  const counted = COUNTS[key];
  if (counted !== undefined) return parseCount(key, value, counted);
  if (key === "forks.directory") return parseDirectory(key, value);
  if (key === "forks.setup") return parseWords(key, value);
  if (key === "sync.withhold") return parsePatterns(key, value);
  if (key === "forks.env") return parseVariables(key, value);
  if (key === "retrieval.url" || key === "retrieval.model") return parseText(key, value);
  if (key === "ghost.keep") return parseKept(key, value);
  if (key === "ui.port") return parsePort(key, value);
  const bytes = typeof value === "string" ? parseBytes(value) : value;
  const least = key.endsWith("PerSecond") ? 0 : 1;
  if (typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= least) return bytes;
  throw invalid(key, "it must be a number of bytes such as 64MiB, 2GiB or 1000000");
}

function parseCount(key: SettingKey, value: unknown, what: string): number {
  const isText = typeof value === "string" || typeof value === "number";
  if (isText && /^\d{1,9}$/.test(String(value))) return Number(value);
  throw invalid(key, `it must be ${what}`);
}

function parseDirectory(key: SettingKey, value: unknown): string {
  if (typeof value === "string" && (value === "" || value.startsWith("/"))) return value;
  throw invalid(key, "it must be an absolute path, or empty");
}

/** A command is a list of words: no shell takes it apart. */
function parseWords(key: SettingKey, value: unknown): readonly string[] {
  const words = typeof value === "string" ? parseJson(value) : value;
  if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  throw invalid(key, 'it must be a list of words such as ["npm", "ci"]');
}

/** One pattern may be given as it is. */
function parsePatterns(key: SettingKey, value: unknown): readonly string[] {
  const isList = typeof value !== "string" || value.trimStart().startsWith("[");
  const patterns = isList ? (typeof value === "string" ? parseJson(value) : value) : [value];
  const isPattern = (each: unknown) =>
    typeof each === "string" && each.length <= 1000 && !/[\0\r\n]/.test(each) && isRule(each);
  if (Array.isArray(patterns) && patterns.length <= 1000 && patterns.every(isPattern)) return patterns;
  throw invalid(key, 'it must be a list of patterns as in a .gitignore, such as [".env*", "secrets/"]');
}

/** A line that no path matches would keep nothing at home, unnoticed. */
function isRule(line: string): boolean {
  return line.startsWith("#") || parseIgnoreLine(Buffer.from(line).toString("latin1")) !== undefined;
}

function parseVariables(key: SettingKey, value: unknown): Readonly<Record<string, string>> {
  const variables = typeof value === "string" ? parseJson(value) : value;
  if (isObject(variables) && Object.entries(variables).every(([name, text]) => isVariable(name, text)))
    return variables as Record<string, string>;
  throw invalid(key, 'it must be variables such as {"PORT": "$BELAY_PORT"}');
}

function isVariable(name: string, text: unknown): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && typeof text === "string" && !text.includes("\0");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseText(key: SettingKey, value: unknown): string {
  const isAddress =
    typeof value === "string" && (key !== "retrieval.url" || /^(https?:\/\/\S+)?$/.test(value));
  if (isAddress && value.length <= 500 && !/\p{Cc}/u.test(value)) return value;
  throw invalid(
    key,
    key === "retrieval.url"
      ? "it must be an address such as http://127.0.0.1:11434/v1"
      : "it must be the name of a model",
  );
}

function parseKept(key: SettingKey, value: unknown): number {
  const isText = typeof value === "string" || typeof value === "number";
  if (isText && /^[1-9]\d{0,3}$/.test(String(value))) return Number(value);
  throw invalid(key, "it must be a number of ghosts from 1 to 9999");
}

function parsePort(key: SettingKey, value: unknown): number {
  const isText = typeof value === "string" || typeof value === "number";
  if (isText && /^\d{1,5}$/.test(String(value)) && Number(value) <= 65_535) return Number(value);
  throw invalid(key, "it must be a port such as 7420; 0 takes the last one, or a free one");
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: MIB,
  gib: 1024 * MIB,
};

function parseBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = UNITS[(match?.[2] ?? "?").toLowerCase()];
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

interface SettingsFile {
  readonly path: AbsolutePath;
  readonly content: Record<string, unknown>;
}

function readFile(home: string): SettingsFile {
  const path = configPath(home);
  const content = readObject(path);
  if (content !== undefined) return { path, content };
  const shown = displayAbsolute(path);
  throw invalid("config.json", `${shown} is not a JSON object`, shown);
}

/** Where the settings file is. */
export function configPath(home: string): AbsolutePath {
  return homeFile(home, CONFIG);
}

function invalid(key: string, reason: string, file?: string): EngineError<"CONFIG_INVALID"> {
  return new EngineError("CONFIG_INVALID", `Setting ${key}: ${reason}. Nothing was changed.`, {
    key,
    reason,
    ...(file !== undefined && { file }),
  });
}
