/** What a caller of the library may choose: where stores live, the clock, the policy. */
import { absolutePath, below, type AbsolutePath } from "../fs/absolute-path.ts";
import { createSystem } from "../fs/system.ts";
import type { CheckpointPolicy } from "../model/policy.ts";
import type { RetentionPolicy } from "../model/retention.ts";
import type { System } from "../model/system.ts";
import type { PlanBook } from "../workspace/plan-book.ts";

/** Options of everything that finds or opens workspaces. */
export interface EngineOptions {
  /** Where stores and settings live; default `~/.belay`. */
  readonly home?: string;
  /** Keep everything in memory: nothing survives the process. */
  readonly store?: "memory";
  /** How much a store in memory may hold before its oldest checkpoints go; defaults to 512 MiB. */
  readonly memoryBytes?: number;
  /** What time it is, in milliseconds since 1970. */
  readonly clock?: () => number;
  /** The clock, the ids and the process, instead of the real ones. */
  readonly system?: System;
  /** Which events make checkpoints by themselves, instead of what the settings say. */
  readonly policy?: CheckpointPolicy;
  /** Which checkpoints are kept, and how large they may be, instead of what the settings say. */
  readonly retention?: RetentionPolicy;
  /** Patterns as in a `.belayignore`, which has the last word over them; recorded with each checkpoint. */
  readonly ignore?: readonly string[];
  /** Remembers plans beyond one opening of a workspace. */
  readonly plans?: PlanBook;
}

/** The system that the options of opening describe. */
export function systemOf({ system, clock }: EngineOptions): System {
  const real = system ?? createSystem();
  return clock === undefined ? real : { ...real, now: clock };
}

/** The directory of all stores and settings. */
export function homePath(options: EngineOptions, system: System): AbsolutePath {
  return options.home === undefined
    ? below(absolutePath(system.homeDirectory), ".belay")
    : absolutePath(options.home);
}
