/**
 * Timed checkpoints (`checkpoints.timerMinutes`, off by default): one is taken that many minutes after the newest checkpoint,
 * if files have changed since. None is taken while an agent is at work, since agents have checkpoints of their own, nor
 * during a pause, nor where automatic checkpoints are off.
 */
import { readSettings, type Workspace } from "@belay/engine";

/** What it needs from its process. */
export interface TimedCheckpointsOptions {
  readonly home: string;
  readonly clock: () => number;
}

/** How often to check whether one is due, and whether the setting has changed. */
const TICK_MS = 10_000;

/** Takes the timed checkpoints of one process. */
export class TimedCheckpoints implements Disposable {
  readonly #options: TimedCheckpointsOptions;
  /** When each workspace was first followed: nothing is due for the time before. */
  readonly #workspaces = new Map<Workspace, number>();
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(options: TimedCheckpointsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.tick(), TICK_MS).unref();
  }

  /** Takes timed checkpoints of a workspace from now on, as long as the setting asks for them. */
  follow(workspace: Workspace): void {
    this.#workspaces.set(workspace, this.#options.clock());
  }

  /** Takes what is due, one check at a time. */
  async tick(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    for (const [workspace, since] of this.#workspaces) {
      try {
        await this.#look(workspace, since);
      } catch {
        // captures fail for the agents too, which report it; the next try is a minute away
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
    // a time in the future means that the clock was set back: waiting for it could take years
    const isRecent = (moment: number) => moment <= now && now < moment + everyMs;
    if (isRecent(since)) return;
    const [newest] = await workspace.list({ limit: 1 });
    if (newest !== undefined && isRecent(newest.createdAt)) return;
    const { now: disk } = await workspace.timeline.rows({ look: true, limit: 1 });
    // a workspace that was just checked is not checked again before its next time
    this.#workspaces.set(workspace, now);
    if (disk === null || disk.changed === 0 || disk.working.length > 0) return;
    await workspace.checkpoint({ kind: "timer" });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#workspaces.clear();
  }
}
