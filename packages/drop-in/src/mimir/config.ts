/** The part of Mimir's configuration that concerns snapshots. The host gives it; a project's own file is never read. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AutoFixConfig } from "@belay/agents/orchestration";
import { EngineError } from "@belay/engine";
import type { RetentionPolicy } from "./types.ts";

/** What a host may set. */
export interface MimirConfig {
  snapshots?: {
    retention?: {
      perConversation?: { keepForHours?: number; keepMinimum?: number };
      /** Prune a conversation when it is first used. */
      autoCleanup?: boolean;
      /** Prune all conversations before the first call. */
      pruneOnStartup?: boolean;
    };
  };
  agentOrchestration?: { autoFix?: Partial<AutoFixConfig> };
}

/** Reads the parts of a YAML file that concern snapshots and fixing; only the file that the host names. */
export function readMimirConfig(file: string): MimirConfig {
  const { parse } = createRequire(import.meta.url)("yaml") as { parse(text: string): unknown };
  const found = parse(readFileSync(file, "utf8")) ?? {};
  const snapshots = partOf(found, "snapshots");
  const orchestration = partOf(found, "agentOrchestration");
  const autoFix = partOf(orchestration, "autoFix", "agentOrchestration.");
  partOf(partOf(snapshots, "retention", "snapshots."), "perConversation", "snapshots.retention.");
  const config: MimirConfig = {
    ...(snapshots && { snapshots }),
    ...(autoFix && { agentOrchestration: { autoFix } }),
  };
  retentionOf(config);
  return config;
}

function partOf(whole: unknown, key: string, above = ""): Record<string, unknown> | undefined {
  const isMapping = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (whole === undefined) return undefined;
  if (!isMapping(whole)) throw invalid(above.slice(0, -1) || key, "it must be a mapping");
  const part = (whole as Record<string, unknown>)[key] ?? undefined;
  if (part === undefined || isMapping(part)) return part as Record<string, unknown> | undefined;
  throw invalid(`${above}${key}`, "it must be a mapping");
}

/** The configuration with its defaults. */
export interface Retention extends RetentionPolicy {
  readonly autoCleanup: boolean;
  readonly pruneOnStartup: boolean;
}

/** Reads the retention; throws `CONFIG_INVALID` with the key of what is of the wrong type. */
export function retentionOf({ snapshots }: MimirConfig = {}): Retention {
  const { perConversation = {}, autoCleanup = true, pruneOnStartup = true } = snapshots?.retention ?? {};
  const { keepForHours = 24, keepMinimum = 5 } = perConversation;
  assertNumber("snapshots.retention.perConversation.keepForHours", keepForHours);
  assertNumber("snapshots.retention.perConversation.keepMinimum", keepMinimum);
  assertBoolean("snapshots.retention.autoCleanup", autoCleanup);
  assertBoolean("snapshots.retention.pruneOnStartup", pruneOnStartup);
  return { keepForHours, keepMinimum, autoCleanup, pruneOnStartup };
}

function assertNumber(key: string, value: unknown): void {
  if (typeof value === "number" && value >= 0) return;
  throw invalid(key, "it must be a number that is not negative");
}

function assertBoolean(key: string, value: unknown): void {
  if (typeof value !== "boolean") throw invalid(key, "it must be true or false");
}

function invalid(key: string, reason: string): EngineError<"CONFIG_INVALID"> {
  return new EngineError("CONFIG_INVALID", `The setting ${key} is wrong: ${reason}.`, { key, reason });
}
