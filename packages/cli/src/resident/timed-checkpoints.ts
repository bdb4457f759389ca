/**
 * Checkpoints by the clock (`checkpoints.timerMinutes`, off unless it is set): so many minutes after the newest checkpoint,
 * where files changed since. Work of agents has checkpoints of its own, so none is taken while one is at work; none either
 * in a pause, or where automatic checkpoints are off.
 */
import { readSettings, type Workspace } from "@belay/engine";

/** What it needs of the process that it belongs to. */
export interface TimedCheckpointsOptions {
  readonly home: string;
  readonly clock: () => number;
}

/** How soon it is noticed that one is due, or that the setting changed. */
const TICK_MS = 10_000;

/** The checkpoints by the clock of one process. */
export class TimedCheckpoints implements Disposable {
  readonly #options: TimedCheckpointsOptions;
  /** Since when each workspace is looked at: nothing is due before it was followed. */
  readonly #workspaces = new Map<Workspace, number>();
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(options: TimedCheckpointsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.tick(), TICK_MS).unref();
  }

  /** From now on, takes checkpoints of a workspace by the clock, while the setting says so. */
  follow(workspace: Workspace): void {
    this.#workspaces.set(workspace, this.#options.clock());
  }

  /** Takes what is due; one look at a time. */
  async tick(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    for (const [workspace, since] of this.#workspaces) {
      try {
        await this.#look(workspace, since);
      } catch {
        // it fails for the agents too, who are told; the next look is a minute away
        if (this.#workspaces.has(workspace)) this.#workspaces.set(workspace, this.#options.clock());
      }
    }
    this.#isLooking = false;
  }

  async #look(workspace: Workspace, since: number): Promise<void> {
    const settings = readSettings(this.#options.home, workspace.id);
    const everyMs = settings["checkpoints.timerMinutes"] * 60_000;
    if (everyMs === 0 || settings["checkpoints.automatic"] === "off" || workspace.paused !== null) return;
    const now = this.#options.clock();
    // what is in the future says that the clock was set back: waiting for it could take years
    const isRecent = (moment: number) => moment <= now && now < moment + everyMs;
    if (isRecent(since)) return;
    const [newest] = await workspace.list({ limit: 1 });
    if (newest !== undefined && isRecent(newest.createdAt)) return;
    const { now: disk } = await workspace.timeline.rows({ look: true, limit: 1 });
    // what was looked at is not looked at again before the next time
    this.#workspaces.set(workspace, now);
    if (disk === null || disk.changed === 0 || disk.working.length > 0) return;
    await workspace.checkpoint({ kind: "timer" });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#workspaces.clear();
  }
}
