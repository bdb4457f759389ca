/** How long checkpoints stay. Presets are named after the designs they come from. */
export interface RetentionPolicy {
  readonly name: string;
  /** Every checkpoint younger than this stays. */
  readonly keepAllHours: number;
  /** Message, turn and initial checkpoints younger than this stay too. */
  readonly keepTurnsHours: number;
  /** The newest n of each thread stay at any age. */
  readonly keepMinimum: number;
  /** At most this many of each thread; null = no limit. */
  readonly keepMaximum: number | null;
  /** Which checkpoints stay whatever their age and number; defaults to all of these kinds. */
  readonly protect?: readonly Protection[];
  /** In a closed thread, what is older than this goes, even if it is young by the hours above. */
  readonly closedHours?: number;
  /** A thread cannot have more manual checkpoints than this. */
  readonly manualLimit?: number;
  /** Capture limits that are tighter than the settings. */
  readonly fileBytes?: number;
  readonly checkpointBytes?: number;
}

/** What can keep a checkpoint from being pruned; of several reasons, the first of these. */
export const PROTECTIONS = ["initial", "manual", "approved", "named", "tagged", "safety"] as const;
/** One of them. */
export type Protection = (typeof PROTECTIONS)[number];

/** The named retention policies. */
export const RETENTION_PRESETS: Readonly<Record<string, RetentionPolicy>> = {
  default: {
    name: "default",
    keepAllHours: 7 * 24,
    keepTurnsHours: 30 * 24,
    keepMinimum: 20,
    keepMaximum: null,
  },
  // the last five, everything else for a day; one made by hand is like any other
  mimir: {
    name: "mimir",
    keepAllHours: 24,
    keepTurnsHours: 24,
    keepMinimum: 5,
    keepMaximum: null,
    protect: PROTECTIONS.filter((one) => one !== "manual"),
  },
  // the last fifty of a thread, and of a closed one those of a week
  moldable: {
    name: "moldable",
    keepAllHours: Number.POSITIVE_INFINITY,
    keepTurnsHours: Number.POSITIVE_INFINITY,
    closedHours: 7 * 24,
    keepMinimum: 0,
    keepMaximum: 50,
    fileBytes: 10 * 1024 * 1024,
    checkpointBytes: 100 * 1024 * 1024,
  },
  // manual checkpoints stay, at most fifty per thread
  supervisor: {
    name: "supervisor",
    keepAllHours: 7 * 24,
    keepTurnsHours: 30 * 24,
    keepMinimum: 20,
    keepMaximum: null,
    manualLimit: 50,
  },
  "code-buddy": {
    name: "code-buddy",
    keepAllHours: 30 * 24,
    keepTurnsHours: 30 * 24,
    keepMinimum: 1,
    keepMaximum: 100,
  },
};

/** Why a checkpoint stays; of several reasons, the first of these. */
export type KeepRule = "newest" | "undo" | Protection | "queued" | "fetched" | "last" | "young";

/** Why a checkpoint goes: too old, or more than a thread may have. */
export type DropRule = "old" | "surplus";

/** A policy of one occasion: drops what is older, or beyond the newest ones of its thread; with both, what is both. */
export function onceOnly({
  olderThanMs,
  keepLast,
}: {
  readonly olderThanMs?: number;
  readonly keepLast?: number;
}): RetentionPolicy {
  const hours = olderThanMs === undefined ? Number.POSITIVE_INFINITY : olderThanMs / 3_600_000;
  return {
    name: "once",
    keepAllHours: hours,
    keepTurnsHours: hours,
    keepMinimum: keepLast ?? 0,
    keepMaximum: olderThanMs === undefined ? (keepLast ?? null) : null,
  };
}

/** How long a pruned checkpoint can still be brought back. */
export const PRUNE_GRACE_MS = 24 * 60 * 60 * 1000;

/** A thread that did nothing for so long is closed. */
export const THREAD_SILENCE_MS = 7 * 24 * 60 * 60 * 1000;

/** How long a thread's safety checkpoints stay after its last event. */
export const SAFETY_KEEP_MS = 30 * 24 * 60 * 60 * 1000;

/** How long a checkpoint of another line stays after it was last used, unless it is tagged. */
export const FETCHED_KEEP_MS = 30 * 24 * 60 * 60 * 1000;
