/** What a working copy needs for its looks. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { Doubt } from "../model/checkpoint.ts";
import type { RecordedRules, RuleSettings } from "../model/rules.ts";
import type { RulesRequest } from "../scan/rules-reader.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { IgnoredLimits } from "../rules/ignored-budget.ts";

/** The sizes beyond which files are left out. */
export interface WorkingCopyLimits {
  readonly fileBytes: number;
  readonly checkpointBytes: number;
  readonly ignored: IgnoredLimits;
}

/** The limits that decide what is captured: they are recorded with the rules. */
export function ruleSettings({ fileBytes, ignored }: WorkingCopyLimits): RuleSettings {
  return { fileLimitBytes: fileBytes, ignored: { ...ignored } };
}

/** What a working copy needs for its looks. */
export interface WorkingCopyOptions {
  readonly root: AbsolutePath;
  /** The store's objects. */
  readonly objects: ObjectSource;
  /** The paths that every look includes or leaves out, beside what ignore files say. */
  everyLook(): RulesRequest;
  /** undefined = keep the cache in memory only */
  readonly cachePath: AbsolutePath | undefined;
  /** Names the store the cache belongs to: another store's cache would claim content that is not there. */
  readonly storeId: string;
  limits(): WorkingCopyLimits;
  readonly commandPath: string;
  /**
   * True when the store has this checkpoint with this snapshot, and so everything the cache names. An older copy
   * of the store, or one from which something was forgotten, has not.
   */
  hasCheckpoint(id: string, snapshot: string): boolean;
  /** What watching needs. */
  readonly watch?: {
    /** The rules that a checkpoint was taken by; undefined when they cannot be read. */
    rulesOf(id: string): RecordedRules | undefined;
    /** Adds doubts to a checkpoint that is recorded already. */
    noteDoubts(id: string, doubts: readonly Doubt[]): void;
    /** Where the watcher's cookies go. */
    readonly cookies: AbsolutePath;
  };
}
