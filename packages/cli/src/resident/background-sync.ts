/**
 * Synchronisation in the background: the resident process has `belay sync` done by a process of its own, with low priority,
 * soon after a turn ends, at the latest a minute after a checkpoint, and now and then only to look at other lines. Nothing
 * waits for it [T13]: no capture, no command, and not the end of this process. While a remote cannot be used the pauses
 * between tries grow. A remote is left alone until its first push was made by hand, which asks about secrets.
 */
import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSettings, type RemoteEntry, type Workspace } from "@belay/engine";

/** What it needs from its process. */
export interface BackgroundSyncOptions {
  readonly home: string;
  readonly clock: () => number;
  /** Runs a command on a directory in another process; its answer is its JSON. */
  readonly run: (directory: string, words: readonly string[], how: { retryMs: number }) => Promise<object>;
}

/** How soon it is noticed that something waits. */
const TICK_MS = 1000;
const AFTER_TURN_MS = 2000;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 10 * 60 * 1000;
/** [R2268] So often a sample of what is stored is read and proved. */
const SAMPLE_EVERY_MS = 7 * 24 * 60 * 60 * 1000;
const SAMPLE = "1%";
/** A command gives up after this long: the next try comes anyway. */
const PATIENCE = "20s";

/** What is known of one remote of one workspace. */
interface Watched {
  /** Since when something waits to be sent. */
  waitingSince: number | undefined;
  turnEndedAt: number | undefined;
  failures: number;
  notBefore: number;
  /** When this process last looked at other lines. */
  lookedAt: number;
  isRunning: boolean;
}

/** The background synchronisation of one process. */
export class BackgroundSync implements Disposable {
  readonly #options: BackgroundSyncOptions;
  readonly #workspaces = new Map<Workspace, AbortController | undefined>();
  readonly #watched = new Map<string, Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: BackgroundSyncOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Keeps a workspace in sync with its remotes from now on, if it has any. */
  follow(workspace: Workspace): void {
    this.#workspaces.set(workspace, undefined);
  }

  /** Starts what is due. */
  tick(): void {
    for (const workspace of this.#workspaces.keys()) {
      try {
        this.#look(workspace);
      } catch {
        // closed, or not readable: it is followed again when it is opened again
        this.#workspaces.get(workspace)?.abort();
        this.#workspaces.delete(workspace);
      }
    }
  }

  #look(workspace: Workspace): void {
    const remotes = workspace.exchange.remotes();
    if (remotes.length === 0) return;
    const settings = readSettings(this.#options.home);
    if (settings["sync.automatic"] === "off") return;
    if (this.#workspaces.get(workspace) === undefined) this.#readEvents(workspace);
    const everyMs = Math.max(1, settings["sync.intervalSeconds"]) * 1000;
    const pullMs = settings["sync.pullMinutes"] * 60_000;
    for (const entry of remotes) this.#consider(workspace, entry, { everyMs, pullMs });
  }

  #consider(
    workspace: Workspace,
    entry: RemoteEntry,
    { everyMs, pullMs }: { readonly everyMs: number; readonly pullMs: number },
  ): void {
    if (entry.segment === 0 && entry.began === null) return;
    const now = this.#options.clock();
    const watched = this.#stateOf(workspace, entry.name);
    const isWaiting = workspace.exchange.queued(entry.name).records > 0;
    watched.waitingSince = isWaiting ? (watched.waitingSince ?? now) : undefined;
    if (watched.isRunning || now < watched.notBefore) return;
    const sendAt = Math.min(
      (watched.waitingSince ?? Infinity) + everyMs,
      isWaiting ? (watched.turnEndedAt ?? Infinity) + AFTER_TURN_MS : Infinity,
    );
    const lookedAt = Math.max(entry.pulledAt ?? 0, watched.lookedAt);
    const isLookDue = pullMs > 0 && now >= lookedAt + pullMs;
    if (now >= sendAt) void this.#run(workspace, entry, exchangeOf("sync", entry));
    else if (isLookDue) void this.#run(workspace, entry, exchangeOf("pull", entry));
    else if (this.#isSampleDue(entry, now))
      void this.#run(workspace, entry, ["remote", "verify", entry.name, "--sample", SAMPLE]);
  }

  /** The mark of the last one is a file: this process may not live for a week. What failed is tried again in a week. */
  #isSampleDue({ space, line }: RemoteEntry, now: number): boolean {
    const directory = join(this.#options.home, "spaces", space);
    const mark = join(directory, `sampled-${line}`);
    const last = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
    if (last !== undefined && now - last < SAMPLE_EVERY_MS) return false;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(mark, "", { mode: 0o600 });
    utimesSync(mark, now / 1000, now / 1000);
    // the first week begins now
    return last !== undefined;
  }

  async #run(workspace: Workspace, { name }: RemoteEntry, words: readonly string[]): Promise<void> {
    const { clock, run } = this.#options;
    const watched = this.#stateOf(workspace, name);
    watched.isRunning = true;
    watched.turnEndedAt = undefined;
    try {
      // readers of events learn when the next try comes, should this one fail
      const how = { retryMs: pauseAfter(watched.failures + 1) };
      await run(workspace.root, words, how);
      watched.failures = 0;
      watched.lookedAt = clock();
    } catch {
      // the command kept its reason with the remote, where `status` shows it
      watched.failures += 1;
    } finally {
      watched.notBefore = watched.failures === 0 ? 0 : clock() + pauseAfter(watched.failures);
      watched.waitingSince = undefined;
      watched.isRunning = false;
    }
  }

  #stateOf({ id }: Workspace, remote: string): Watched {
    const key = `${id} ${remote}`;
    const known = this.#watched.get(key) ?? {
      waitingSince: undefined,
      turnEndedAt: undefined,
      failures: 0,
      notBefore: 0,
      lookedAt: 0,
      isRunning: false,
    };
    this.#watched.set(key, known);
    return known;
  }

  /** The end of a turn is an event. */
  #readEvents(workspace: Workspace): void {
    const reading = new AbortController();
    this.#workspaces.set(workspace, reading);
    void (async () => {
      for await (const _ of workspace.events.read({ types: ["done"], signal: reading.signal }))
        for (const { name } of workspace.exchange.remotes())
          this.#stateOf(workspace, name).turnEndedAt = this.#options.clock();
    })().catch(() => undefined);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const reading of this.#workspaces.values()) reading?.abort();
    this.#workspaces.clear();
  }
}

function exchangeOf(verb: "pull" | "sync", { name }: RemoteEntry): string[] {
  return [verb, "--remote", name, "--wait", PATIENCE];
}

/** How long to wait after so many failures in a row. */
function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}
