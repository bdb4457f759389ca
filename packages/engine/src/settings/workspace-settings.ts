/**
 * The settings of one open workspace: the settings file, the pauses, and what the caller chose instead. Read
 * again before each piece of work, and constant throughout it.
 */
import { whileUnchanged } from "../fs/while-unchanged.ts";
import type { GhostSettings } from "../model/ghost.ts";
import { CHECKPOINT_PRESETS, NO_CHECKPOINTS, PAUSED, type CheckpointPolicy } from "../model/policy.ts";
import type { ForkSettings } from "../model/fork.ts";
import { RETENTION_PRESETS, type RetentionPolicy } from "../model/retention.ts";
import type { WorkingCopyLimits } from "../capture/working-copy-options.ts";
import type { SentKinds } from "../history/sent-kinds.ts";
import { oncePerTask, type OncePerTask } from "./once-per-task.ts";
import { WorkspacePauses } from "./pauses.ts";
import { configPath, readSettings, type Settings } from "./settings.ts";

/** Whose settings these are. */
export interface SettingsOwner {
  readonly home: string;
  /** The workspace's id. */
  readonly id: string;
  readonly now: () => number;
  /** Overrides the settings. */
  readonly policy?: CheckpointPolicy | undefined;
  readonly retention?: RetentionPolicy | undefined;
  /** The store is smaller than the settings allow. */
  readonly mostBytes?: number | undefined;
}

/** Reads the settings of a workspace. */
export class WorkspaceSettings {
  readonly pauses: WorkspacePauses;
  readonly #policy: CheckpointPolicy | undefined;
  readonly #retention: RetentionPolicy | undefined;
  readonly #mostBytes: number;
  readonly #read: OncePerTask<Settings>;
  readonly #isPaused: OncePerTask<boolean>;

  /** Throws `CONFIG_INVALID` at once when the settings cannot be read. */
  constructor({ home, id, now, policy, retention, mostBytes = Infinity }: SettingsOwner) {
    this.pauses = new WorkspacePauses(home, id, now);
    this.#policy = policy;
    this.#retention = retention;
    this.#mostBytes = mostBytes;
    this.#read = oncePerTask(whileUnchanged([configPath(home)], () => readSettings(home, id)));
    this.#isPaused = oncePerTask(() => this.pauses.current !== null);
    this.#read();
  }

  /** Begins a piece of work: what was read for an earlier one no longer counts. */
  beginTask(): void {
    this.#read.again();
    this.#isPaused.again();
  }

  /** The store never grows beyond this. */
  get capBytes(): number {
    return Math.min(this.#read()["disk.capBytes"], this.#mostBytes);
  }

  /** Which checkpoints are kept, and for how long. */
  get retention(): RetentionPolicy {
    return this.#retention ?? RETENTION_PRESETS[this.#read()["retention.policy"]]!;
  }

  /** Whether checkpoints are shown in the git repository too. */
  get ghosts(): GhostSettings {
    const { "ghost.mode": mode, "ghost.keep": keep } = this.#read();
    return { mode, keep };
  }

  /** Which content stays at home when the history is pushed: patterns as in a `.gitignore`, as they are now. */
  get withhold(): readonly string[] {
    this.#read.again();
    return this.#read()["sync.withhold"];
  }

  /** Which checkpoints are sent to remotes, and whether messages are, as it is now. */
  get sentKinds(): SentKinds {
    this.#read.again();
    const { "sync.kinds": kinds, "sync.conversations": conversations } = this.#read();
    return { kinds, conversations: conversations === "on" };
  }

  /** Whether files outside the root that a tool names are captured. */
  get capturesOutside(): boolean {
    return this.#read()["outside.capture"] === "on";
  }

  /** Which events cause automatic checkpoints; a pause overrides everything else. */
  get policy(): CheckpointPolicy {
    if (this.#isPaused()) return PAUSED;
    if (this.#policy !== undefined) return this.#policy;
    const settings = this.#read();
    return settings["checkpoints.automatic"] === "off"
      ? NO_CHECKPOINTS
      : CHECKPOINT_PRESETS[settings["checkpoints.policy"]];
  }

  /** How forks are made and kept. */
  get forks(): ForkSettings {
    const settings = this.#read();
    return {
      directory: settings["forks.directory"] === "" ? null : settings["forks.directory"],
      limit: settings["forks.limit"],
      bytes: settings["forks.bytes"],
      copyLimitBytes: settings["forks.copyLimitBytes"],
      dependencies: settings["forks.dependencies"],
      git: settings["forks.git"],
      setup: settings["forks.setup"],
      env: settings["forks.env"],
      graceHours: settings["forks.graceHours"],
      spare: settings["forks.spare"],
    };
  }

  /** How much a capture takes in: the smaller of the settings and the retention policy. */
  get limits(): WorkingCopyLimits {
    const settings = this.#read();
    const { fileBytes = Infinity, checkpointBytes = Infinity } = this.retention;
    return {
      fileBytes: Math.min(settings["limits.fileBytes"], fileBytes),
      checkpointBytes: Math.min(settings["limits.checkpointBytes"], checkpointBytes),
      ignored: {
        fileBytes: settings["limits.ignoredFileBytes"],
        files: settings["limits.ignoredFiles"],
        bytes: settings["limits.ignoredBytes"],
      },
    };
  }
}
