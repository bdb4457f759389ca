/**
 * Settings: `$BELAY_HOME/config.json` and the defaults below. A project supplies nothing but ignore
 * files, so that opening a hostile directory cannot change how Belay behaves.
 */
import { displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { EngineError } from "../model/errors.ts";
import { CHECKPOINT_PRESETS } from "../model/policy.ts";
import { RETENTION_PRESETS } from "../model/retention.ts";
import { homeFile, readObject, writeObject } from "./home-file.ts";

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
  /** The port of the resident process and its page; 0 takes the last one, or a free one. */
  readonly "ui.port": number;
  /** Notices on the desktop: a capture that failed or came late, the end of a turn. */
  readonly "notices.desktop": "on" | "off";
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
  "ui.port": 0,
  "notices.desktop": "off",
};

/** A setting, and whether the user set it. */
export interface SettingWithSource {
  readonly key: SettingKey;
  readonly value: number | string;
  readonly source: "default" | "config.json";
}

/** Whether there is a setting of this name. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(DEFAULT_SETTINGS, key);
}

/** All settings: those of the file, and the defaults of the others. Throws `CONFIG_INVALID`. */
export function readSettings(home: string): Settings {
  return { ...DEFAULT_SETTINGS, ...readConfigured(home) };
}

/** All settings with where each comes from. Throws `CONFIG_INVALID`. */
export function listSettings(home: string): SettingWithSource[] {
  const configured = readConfigured(home);
  return (Object.keys(DEFAULT_SETTINGS) as SettingKey[]).map((key) => ({
    key,
    value: configured[key] ?? DEFAULT_SETTINGS[key],
    source: configured[key] === undefined ? "default" : "config.json",
  }));
}

/** Sets one key; `null` goes back to the default. Unknown keys of the file are kept. */
export function writeSetting(home: string, key: string, value: string | null): void {
  if (!isSettingKey(key))
    throw invalid(key, `it does not exist; known settings: ${Object.keys(DEFAULT_SETTINGS).join(", ")}`);
  const { [key]: _previous, ...rest } = readConfigFile(home);
  const next = value === null ? rest : { ...rest, [key]: parse(key, value) };
  writeObject(home, CONFIG, next);
}

/** Settings whose value is one of these words. */
const CHOICES: Partial<Record<SettingKey, readonly string[]>> = {
  "retention.policy": Object.keys(RETENTION_PRESETS),
  "checkpoints.automatic": ["on", "off"],
  "checkpoints.policy": Object.keys(CHECKPOINT_PRESETS),
  "notices.desktop": ["on", "off"],
};

function parse(key: SettingKey, value: unknown): number | string {
  const words = CHOICES[key];
  if (words !== undefined) {
    if (typeof value === "string" && words.includes(value)) return value;
    throw invalid(key, `it must be one of ${words.join(", ")}`);
  }
  if (key === "limits.ignoredFiles") return parseCount(key, value);
  if (key === "ui.port") return parsePort(key, value);
  const bytes = typeof value === "string" ? parseBytes(value) : value;
  if (typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw invalid(key, "it must be a number of bytes such as 64MiB, 2GiB or 1000000");
}

function parseCount(key: SettingKey, value: unknown): number {
  const isText = typeof value === "string" || typeof value === "number";
  if (isText && /^\d{1,9}$/.test(String(value))) return Number(value);
  throw invalid(key, "it must be a number of files such as 2000; 0 leaves out whatever git ignores");
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

function readConfigured(home: string): Partial<Record<SettingKey, never>> {
  const known: Partial<Record<SettingKey, number | string>> = {};
  for (const [key, value] of Object.entries(readConfigFile(home))) {
    if (isSettingKey(key)) known[key] = parse(key, value);
  }
  return known as Partial<Record<SettingKey, never>>;
}

function readConfigFile(home: string): Record<string, unknown> {
  const path = configPath(home);
  const parsed = readObject(path);
  if (parsed === undefined) throw invalid("config.json", `${displayAbsolute(path)} is not a JSON object`);
  return parsed;
}

/** The settings file. */
export function configPath(home: string): AbsolutePath {
  return homeFile(home, CONFIG);
}

function invalid(key: string, reason: string): EngineError<"CONFIG_INVALID"> {
  return new EngineError("CONFIG_INVALID", `Setting ${key}: ${reason}. Nothing was changed.`, {
    key,
    reason,
  });
}
