/**
 * Notices on the desktop (`notices.desktop`, off unless it is switched on): a capture that failed or came late, and the
 * end of an agent's turn. The resident process follows the events of its workspaces for them. A notice is a program that
 * is started and never waited for: whatever becomes of it, no capture is slower for it and none fails.
 */
import { basename } from "node:path";
import { readSettings, type Workspace, type WorkspaceEvent } from "@belay/engine";
import { noticeCommand, startProgram, type DesktopNotice } from "./notice-command.ts";

/** What the notices need of the process they belong to. */
export interface NoticesOptions {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly clock: () => number;
}

/** What a notice is about. Of each kind and place one is shown, and then none for a while. */
type NoticeKind = "failed" | "late" | "finished";

/** A failure repeats with every event of the agent; turns end as often as the agent answers. */
const QUIET_MS: Readonly<Record<NoticeKind, number>> = { failed: 5 * 60_000, late: 60_000, finished: 2000 };
/** The events that a notice may be about. */
const TOLD = ["capture_failed", "done", "checkpoint_created"] as const;
/** How soon a change of the setting is noticed. */
const SETTING_MS = 2000;

/** The notices of one process. */
export class DesktopNotices implements Disposable {
  readonly #options: NoticesOptions;
  readonly #workspaces = new Map<Workspace, AbortController | undefined>();
  readonly #shown = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: NoticesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#followSetting(), SETTING_MS).unref();
  }

  /** From now on, tells what happens in a workspace, while the setting is on. */
  follow(workspace: Workspace): void {
    this.#workspaces.set(workspace, undefined);
    this.#followSetting();
  }

  /** A capture failed at an agent's step: nothing of it may be in the store. */
  captureFailed = ({ agent, cwd }: { readonly agent: string; readonly cwd: string }): void => {
    const roots = [...this.#workspaces.keys()].map(({ root }) => root);
    const root = roots.find((each) => cwd === each || cwd.startsWith(`${each}/`));
    this.#show("failed", root ?? cwd, `A step of ${agent} was not captured. \`belay doctor\` says why.`);
  };

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const reading of this.#workspaces.values()) reading?.abort();
    this.#workspaces.clear();
  }

  /** While the setting is off, no workspace is read. */
  #followSetting(): void {
    const isOn = this.#isOn();
    for (const [workspace, reading] of this.#workspaces) {
      if (isOn === (reading !== undefined)) continue;
      reading?.abort();
      const next = isOn ? new AbortController() : undefined;
      this.#workspaces.set(workspace, next);
      if (next !== undefined) void this.#read(workspace, next.signal);
    }
  }

  #isOn(): boolean {
    try {
      return readSettings(this.#options.home)["notices.desktop"] === "on";
    } catch {
      // settings that cannot be read are reported where they matter; here they only mean silence
      return false;
    }
  }

  async #read(workspace: Workspace, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of workspace.events.read({ types: TOLD, signal }))
        await this.#tell(workspace, event);
    } catch {
      // a store that cannot be read is reported by what reads it for its own sake
    }
    if (!signal.aborted) this.#workspaces.delete(workspace);
  }

  async #tell(workspace: Workspace, event: WorkspaceEvent): Promise<void> {
    if (event.thread === null) return;
    if (event.type === "capture_failed")
      return this.captureFailed({
        agent: (await workspace.threads.get(event.thread)).agent,
        cwd: workspace.root,
      });
    if (event.type === "done") return this.#turnEnded(workspace, event);
    if (event.type !== "checkpoint_created" || event.checkpoint === null) return;
    const late = event.checkpoint.doubts.filter(({ reason }) => reason === "late" || reason === "missed");
    if (late.length === 0) return;
    const { agent } = await workspace.threads.get(event.thread);
    this.#show(
      "late",
      workspace.root,
      `A checkpoint of ${agent} came late: ${files(late.length)} marked in it.`,
    );
  }

  async #turnEnded(
    workspace: Workspace,
    { thread, checkpoint }: WorkspaceEvent & { type: "done" },
  ): Promise<void> {
    const { agent } = await workspace.threads.get(thread!);
    const row =
      checkpoint === null ? undefined : await workspace.timeline.row(checkpoint).catch(() => undefined);
    // a turn that cannot be read, or was not captured, may have changed anything: nothing is said about its files
    const what = row === undefined ? "" : `: ${changedWords(row.added + row.modified + row.deleted)}`;
    this.#show("finished", workspace.root, `${agent} finished a turn${what}.`);
  }

  #show(kind: NoticeKind, directory: string, text: string): void {
    const now = this.#options.clock();
    const key = `${kind} ${directory}`;
    if (now - (this.#shown.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS[kind] || !this.#isOn()) return;
    this.#shown.set(key, now);
    // no prompt and no path of a file: others may see the screen
    const notice: DesktopNotice = {
      title: `Belay: ${basename(directory)}`,
      text,
      isUrgent: kind === "failed",
    };
    const command = noticeCommand(notice, this.#options.platform);
    if (command !== undefined) startProgram(command);
  }
}

function changedWords(number: number): string {
  return number === 0 ? "no file changed" : `${files(number)} changed`;
}

function files(number: number): string {
  return number === 1 ? "1 file" : `${number} files`;
}
