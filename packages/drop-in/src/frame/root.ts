/** The directories that fronts work in. A process has one open workspace for each, whichever fronts use it. */
import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  CHECKPOINT_PRESETS,
  displayPath,
  EngineError,
  previewInit,
  type BytePath,
  type CheckpointPolicy,
  type RetentionPolicy,
} from "@belay/engine";
import { openWorkspaceSync, type SyncWorkspace } from "@belay/engine/sync";
import { chosen, type DropInOptions } from "./options.ts";
import { checkpointNotFound } from "./references.ts";

/** An open workspace, with the policy of the front that is using it. */
interface Opened {
  readonly workspace: SyncWorkspace;
  readonly policy: { name: string; triggers: CheckpointPolicy["triggers"] };
}

const opened = new Map<string, Opened>();
let closesAtExit = false;

/** Closes every workspace that fronts opened. A front that is used afterwards opens its workspace again. */
export function closeDropIn(): void {
  for (const [key, { workspace }] of opened) {
    opened.delete(key);
    workspace.close();
  }
}

/** When a front takes checkpoints, and how large they may be. The front that opens a workspace first decides about their size and what is left out. */
export interface FrontRules {
  readonly policy: CheckpointPolicy;
  readonly retention: RetentionPolicy;
  /** Patterns that are left out. */
  readonly ignore?: readonly string[];
  /** What captures of a directory see that is protected now: everything, unless only what is named. */
  readonly coverage?: "named";
}

/** One directory as a front sees it. */
export class Root {
  /** Its real path. */
  readonly directory: string;
  /** No one named it: it is where the process runs, as in the originals. */
  readonly #isGuessed: boolean;
  readonly #options: ReturnType<typeof chosen>;
  readonly #policy: CheckpointPolicy;
  readonly #retention: RetentionPolicy | undefined;
  readonly #ignore: readonly string[];
  readonly #coverage: "named" | undefined;

  /** `directory`: undefined = the one that the process runs in; the log is told when it is first used. */
  constructor(
    directory: string | undefined,
    options: DropInOptions = {},
    rules: CheckpointPolicy | Partial<FrontRules> = CHECKPOINT_PRESETS.message,
  ) {
    this.directory = realPath(directory ?? process.cwd());
    this.#isGuessed = directory === undefined;
    this.#options = chosen(options);
    const front = "triggers" in rules ? { policy: rules } : rules;
    this.#policy = front.policy ?? CHECKPOINT_PRESETS.message;
    this.#retention = front.retention;
    this.#ignore = front.ignore ?? [];
    this.#coverage = front.coverage;
  }

  /** The workspace. A directory that is not protected is protected now: call it where something is stored. */
  get workspace(): SyncWorkspace {
    const { workspace, policy } = opened.get(this.#key) ?? this.#open();
    Object.assign(policy, this.#policy);
    return workspace;
  }

  /** The workspace of a directory that is protected, for calls that only read; else undefined. */
  get known(): SyncWorkspace | undefined {
    return opened.has(this.#key) || this.#isProtected() ? this.workspace : undefined;
  }

  /** [R2600] The same for a question about a checkpoint: a directory that is not protected has none, and stays so. */
  knownWith(checkpoint: string): SyncWorkspace {
    const { known } = this;
    if (known === undefined) throw checkpointNotFound(checkpoint);
    return known;
  }

  /** A path as the engine takes it, relative to the root; undefined when it is outside. */
  inside(path: string): string | undefined {
    const way = relative(this.directory, realPlace(resolve(this.directory, path)));
    return way === ".." || way.startsWith("../") || isAbsolute(way) ? undefined : way;
  }

  /** Paths as the engine takes them; throws `PATH_OUTSIDE` for one that is not below the root. */
  insideAll(paths: Iterable<string>): string[] {
    return [...paths].map((path) => {
      const way = this.inside(path);
      if (way !== undefined && way !== "") return way;
      throw new EngineError(
        "PATH_OUTSIDE",
        `${path} is not a path inside ${this.directory}. Nothing was changed.`,
        { path },
      );
    });
  }

  /** The absolute form of a path of the workspace. */
  absolute(path: BytePath): string {
    return join(this.directory, displayPath(path));
  }

  /** What time it is for this front. */
  now(): number {
    return this.#options.clock?.() ?? Date.now();
  }

  /** Tells the host. */
  log(level: string, event: string, facts: Record<string, unknown> = {}): void {
    this.#options.log?.({ level, event, root: this.directory, ...facts });
  }

  get #key(): string {
    return `${this.#options.home}\0${this.directory}`;
  }

  #isProtected(): boolean {
    const { home, nested = false } = this.#options;
    try {
      return !previewInit(this.directory, { home, nested }).created;
    } catch {
      return false;
    }
  }

  #open(): Opened {
    const { home, nested = false, clock } = this.#options;
    const policy = { ...this.#policy };
    const isNew = !this.#isProtected();
    if (this.#isGuessed) this.log("info", "root_guessed");
    try {
      const workspace = openWorkspaceSync(this.directory, {
        home,
        nested,
        policy,
        ...(clock && { clock }),
        ...(this.#retention && { retention: this.#retention }),
        ...(this.#coverage && { coverage: this.#coverage }),
        ignore: this.#ignore,
      });
      if (isNew) this.log("info", "protected", { home });
      for (const notice of workspace.notices) this.log("info", "notice", { notice });
      opened.set(this.#key, { workspace, policy });
      closeAtExit();
      return { workspace, policy };
    } catch (error) {
      this.log("error", "not_opened", { reason: messageOf(error) });
      throw error;
    }
  }
}

/** What went wrong, as a sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function closeAtExit(): void {
  if (!closesAtExit) process.once("exit", closeDropIn);
  closesAtExit = true;
}

/** A directory that does not exist is refused when it is opened, with the reason. */
function realPath(directory: string): string {
  const path = resolve(directory);
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A path whose directory may be named through a link; the last part is not followed. */
function realPlace(path: string): string {
  const missing = [basename(path)];
  for (let above = dirname(path); ; above = dirname(above)) {
    try {
      return join(realpathSync(above), ...missing);
    } catch {
      missing.unshift(basename(above));
    }
  }
}
