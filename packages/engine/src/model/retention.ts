/** How long checkpoints stay. One policy object; presets are named after the designs they come from. */
export interface RetentionPolicy {
  readonly name: string;
  /** Everything younger than this stays. */
  readonly keepAllHours: number;
  /** Messages, turns and initial ones younger than this stay too. */
  readonly keepTurnsHours: number;
  /** The newest n of each thread always stay, whatever their age. */
  readonly keepMinimum: number;
  /** At most this many of each thread; null = no limit. */
  readonly keepMaximum: number | null;
  /** More manual checkpoints of a thread than this are refused. */
  readonly manualLimit?: number;
  /** Tighter limits on what is captured than the settings have. */
  readonly fileBytes?: number;
  readonly checkpointBytes?: number;
}

export const RETENTION_PRESETS: Readonly<Record<string, RetentionPolicy>> = {
  default: {
    name: "default",
    keepAllHours: 7 * 24,
    keepTurnsHours: 30 * 24,
    keepMinimum: 20,
    keepMaximum: null,
  },
  // the last five, everything else for a day
  mimir: { name: "mimir", keepAllHours: 24, keepTurnsHours: 24, keepMinimum: 5, keepMaximum: null },
  // the last fifty of a conversation, gone a week later
  moldable: {
    name: "moldable",
    keepAllHours: 7 * 24,
    keepTurnsHours: 7 * 24,
    keepMinimum: 0,
    keepMaximum: 50,
    fileBytes: 10 * 1024 * 1024,
    checkpointBytes: 100 * 1024 * 1024,
  },
  // manual ones stay, but no more than fifty of a conversation
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

/** How long a pruned checkpoint can be brought back. */
export const PRUNE_GRACE_MS = 24 * 60 * 60 * 1000;

/** Safety checkpoints of a thread stay this long after its last event. */
export const SAFETY_KEEP_MS = 30 * 24 * 60 * 60 * 1000;
