/**
 * Mimir's synchronisation of snapshots, over a remote of the workspace. Snapshots work offline; what could not be sent waits. Uploads
 * are encrypted parcels of compressed frames, so chunking and compression need nothing here. Two machines never write the same
 * snapshot; of names, notes and tags the last write wins.
 */
import { CHECKPOINT_PRESETS, type Checkpoint } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import type { DropInOptions } from "../frame/options.ts";
import { findCheckpoint, findThread } from "../frame/references.ts";
import { Root } from "../frame/root.ts";
import { isShown, snapshotOf } from "./snapshot.ts";
import type { Snapshot } from "./types.ts";

/** What came of a synchronisation. */
export interface SyncResult {
  /** Snapshots of the conversation that the remote is known to have now, and had not. */
  uploaded: number;
  /** Snapshots of the conversation that came from other machines. */
  downloaded: number;
  /** Snapshots of the conversation that still wait to be sent. */
  queued: number;
  /** How many of sending and looking failed; what was to be sent stays queued. */
  failed: number;
  lastSyncedAt: Date | null;
}

/** Everything that can be done with snapshots on other machines. */
export interface ISnapshotCloudSync {
  uploadSnapshot(conversationId: string, snapshotId: string): Promise<void>;
  downloadSnapshot(conversationId: string, snapshotId: string): Promise<Snapshot>;
  sync(conversationId: string): Promise<SyncResult>;
  isSynced(conversationId: string, snapshotId: string): Promise<boolean>;
}

/** What is asked of a remote; `openRemote` of `@belay/remote` gives one. */
export interface SnapshotRemote {
  push(): Promise<unknown>;
  pull(): Promise<unknown>;
  lines(): Promise<readonly { readonly line: string }[]>;
  checkpoints(
    line: string,
    limit: number,
  ): Promise<
    readonly {
      readonly id: string;
      readonly conversation: { readonly agent: string; readonly id: string } | null;
    }[]
  >;
  fetch(reference: string): Promise<{ readonly checkpoint: Checkpoint; readonly isNew: boolean }>;
}

/** The project, and the remote that its snapshots go to. */
export interface SnapshotCloudSyncOptions extends DropInOptions {
  /** The project; the current directory unless said otherwise. */
  directory?: string;
  remote: SnapshotRemote;
  /** How often `start` synchronises. */
  intervalMs?: number;
}

const AGENT = "mimir";
const INTERVAL_MS = 60_000;
/** How many checkpoints of a line are searched for snapshots of a conversation. */
const LOOKED_THROUGH = 1000;

/** Synchronises the snapshots of conversations. */
export class SnapshotCloudSync implements ISnapshotCloudSync {
  readonly #root: Root;
  readonly #options: SnapshotCloudSyncOptions;
  #lastSyncedAt: Date | null = null;

  constructor(options: SnapshotCloudSyncOptions) {
    this.#options = options;
    this.#root = new Root(options.directory, options, CHECKPOINT_PRESETS.agent);
  }

  /** Sends a snapshot, with what else waits; resolves when the remote is known to have it. */
  async uploadSnapshot(conversationId: string, snapshotId: string): Promise<void> {
    this.#found(conversationId, snapshotId);
    await this.#options.remote.push();
    if (!(await this.isSynced(conversationId, snapshotId)))
      throw new Error(`Snapshot ${snapshotId} is not known to be stored; it stays queued`);
  }

  /** Brings a snapshot of another machine here, or finds it here. */
  async downloadSnapshot(_conversationId: string, snapshotId: string): Promise<Snapshot> {
    const { checkpoint } = await this.#options.remote.fetch(snapshotId.replace(/^snap-/, ""));
    return snapshotOf(this.#root.workspace, checkpoint);
  }

  /** Sends what waits and brings what other machines have of the conversation. Offline it fails nothing: it is queued. */
  async sync(conversationId: string): Promise<SyncResult> {
    const waiting = this.#waiting(conversationId);
    const steps = [() => this.#options.remote.push(), () => this.#options.remote.pull()];
    let failed = 0;
    for (const step of steps) await step().catch(() => (failed += 1));
    const downloaded = failed === 0 ? await this.#download(conversationId) : 0;
    if (failed === 0) this.#lastSyncedAt = new Date(this.#root.now());
    const queued = this.#waiting(conversationId);
    const uploaded = [...waiting].filter((id) => !queued.has(id)).length;
    return { uploaded, downloaded, queued: queued.size, failed, lastSyncedAt: this.#lastSyncedAt };
  }

  /** Whether the remote is known to have a snapshot in its present state. */
  async isSynced(conversationId: string, snapshotId: string): Promise<boolean> {
    return this.#found(conversationId, snapshotId).synced === true;
  }

  /** Synchronises a conversation from time to time, every minute unless said otherwise, until the answer is called. */
  start(conversationId: string): () => void {
    const timer = setInterval(() => void this.sync(conversationId), this.#options.intervalMs ?? INTERVAL_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  #waiting(conversationId: string): Set<string> {
    const { workspace } = this.#root;
    const thread = findThread(workspace, AGENT, conversationId)?.id;
    if (thread === undefined) return new Set();
    const snapshots = workspace.list({ thread }).filter(isShown);
    return new Set(snapshots.filter(({ synced }) => synced === false).map(({ id }) => id));
  }

  async #download(conversationId: string): Promise<number> {
    const { remote } = this.#options;
    let downloaded = 0;
    for (const { line } of await remote.lines())
      for (const { id, conversation } of await remote.checkpoints(line, LOOKED_THROUGH)) {
        if (conversation?.agent !== AGENT || conversation.id !== conversationId) continue;
        if ((await remote.fetch(`${line}/${id}`)).isNew) downloaded += 1;
      }
    return downloaded;
  }

  #found(conversationId: string, snapshotId: string): Checkpoint {
    const { workspace }: { workspace: SyncWorkspace } = this.#root;
    const checkpoint = findCheckpoint(workspace, snapshotId);
    const thread = findThread(workspace, AGENT, conversationId)?.id;
    // what was fetched has no conversation here
    if (checkpoint.fetchedFrom !== null || (thread !== undefined && checkpoint.thread === thread))
      return checkpoint;
    const error = new Error(`Snapshot ${snapshotId} not found in conversation ${conversationId}`);
    throw Object.assign(error, { code: "CHECKPOINT_NOT_FOUND" });
  }
}
