/** The part of Mimir's configuration that concerns snapshots. The host gives it; a project's own file is never read. */
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
