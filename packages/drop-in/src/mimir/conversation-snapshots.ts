/** Makes, lists, compares, restores and drops the snapshots of conversations. */
import { CHECKPOINT_PRESETS, type Checkpoint, type ConversationFacts, type ThreadId } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { assertApplied } from "../frame/applied.ts";
import { drop } from "../frame/drop.ts";
import type { DropInOptions } from "../frame/options.ts";
import { begunThread, findCheckpoint, findThread } from "../frame/references.ts";
import { messageOf, Root } from "../frame/root.ts";
import { retentionOf, type MimirConfig, type Retention } from "./config.ts";
import { conversationDiff, fileDiffs, restoreDiffs } from "./differences.ts";
import { isShown, kindOf, snapshotOf } from "./snapshot.ts";
import { timelineOf } from "./timeline.ts";
import type {
  AgentRole,
  AgentStatus,
  IContextStorage,
  ISnapshotManager,
  RestoreOptions,
  RetentionPolicy,
  Snapshot,
  SnapshotDiff,
  SnapshotTimeline,
  SnapshotType,
} from "./types.ts";

/** The project, its conversations, and what the host wants to be asked and told. */
export interface SnapshotManagerOptions extends DropInOptions {
  /** The project; the current directory unless said otherwise. */
  directory?: string;
  config?: MimirConfig;
  contextStorage?: IContextStorage;
  /** Asked before a restore with `preview`; without it such a restore changes nothing, and `lastPreview` says what it would. */
  confirm?: (preview: SnapshotDiff) => Promise<boolean>;
  /** Told that a conversation went back; its messages are marked in Belay and never removed anywhere. */
  onConversationRestored?: (id: string, to: Snapshot["conversation"]) => void;
}

const AGENT = "mimir";
/** The cap that a store begins with. */
const CAP_BYTES = 10 * 1024 ** 3;

/** The snapshots of all conversations about one project. */
export class SnapshotManager implements ISnapshotManager {
  readonly #root: Root;
  readonly #options: SnapshotManagerOptions;
  readonly #retention: Retention;
  readonly #seen = new Set<string>();
  #isStarted = false;
  #lastPreview: SnapshotDiff | null = null;

  constructor(options?: SnapshotManagerOptions);
  constructor(
    fs: unknown,
    snapshotStorage: unknown,
    contextStorage: IContextStorage,
    workingDirectory: string,
  );
  constructor(first: unknown = {}, _storage?: unknown, contextStorage?: IContextStorage, directory?: string) {
    this.#options =
      directory === undefined
        ? (first as SnapshotManagerOptions)
        : { directory, ...(contextStorage && { contextStorage }) };
    this.#retention = retentionOf(this.#options.config);
    this.#root = new Root(this.#options.directory, this.#options, CHECKPOINT_PRESETS.agent);
  }

  /** What the last restore with `preview` would have done, or did. */
  get lastPreview(): SnapshotDiff | null {
    return this.#lastPreview;
  }

  /** Takes a snapshot of the whole project. */
  async createSnapshot(conversationId: string, type: SnapshotType, description?: string): Promise<Snapshot> {
    const { workspace, thread } = this.#begin(conversationId);
    const conversation = await this.#conversation(workspace, conversationId, thread);
    const { checkpoint, warnings } = workspace.checkpoint({
      kind: kindOf(type, description),
      thread,
      description: description ?? (type === "manual" ? "Manual snapshot" : "Automatic snapshot"),
      conversation,
    });
    for (const warning of warnings) this.#root.log("warning", "snapshot", { warning });
    return snapshotOf(workspace, checkpoint);
  }

  /** Takes the snapshot before an agent runs. It stays when the agent fails. */
  async createAgentSnapshot(
    conversationId: string,
    agentId: string,
    { role = "agent" }: { role?: AgentRole } = {},
  ): Promise<Snapshot> {
    const { workspace, thread } = this.#begin(conversationId);
    const run = workspace.turns.beginAgent(thread, { id: agentId, role });
    if (run.checkpoint === null)
      return this.createSnapshot(conversationId, "auto-agent", `Before ${role} ${agentId}`);
    return snapshotOf(workspace, workspace.resolve(run.checkpoint));
  }

  /** Notes how an agent's run ended; its snapshot tells it from then on. */
  async endAgent(
    conversationId: string,
    agentId: string,
    { status, cost, tokens }: { status: AgentStatus; cost?: number; tokens?: number },
  ): Promise<void> {
    const { workspace, thread } = this.#begin(conversationId);
    workspace.turns.endAgent(thread, {
      id: agentId,
      status,
      ...(cost !== undefined && { cost }),
      ...(tokens !== undefined && { tokens }),
    });
  }

  /** The snapshots of a conversation, newest first. No content is read. */
  async listSnapshots(conversationId: string): Promise<Snapshot[]> {
    const { workspace, listed } = this.#listed(conversationId);
    return listed.map((checkpoint) => snapshotOf(workspace!, checkpoint));
  }

  /** A snapshot of a conversation. */
  async getSnapshot(conversationId: string, snapshotId: string): Promise<Snapshot> {
    const { workspace, checkpoint } = this.#found(conversationId, snapshotId);
    return snapshotOf(workspace, checkpoint);
  }

  /** The snapshot that the files stand on; null without any. */
  async getCurrentSnapshot(conversationId: string): Promise<Snapshot | null> {
    const { currentSnapshotId } = await this.getTimeline(conversationId);
    return currentSnapshotId === "" ? null : this.getSnapshot(conversationId, currentSnapshotId);
  }

  /** The snapshots with the agents that began there and what changed since the one before. */
  async getTimeline(conversationId: string): Promise<SnapshotTimeline> {
    const { workspace, thread, listed } = this.#listed(conversationId);
    if (workspace === undefined || thread === undefined) return { snapshots: [], currentSnapshotId: "" };
    return timelineOf(workspace, { thread, listed, now: this.#root.now() });
  }

  /** Compares two snapshots: unified diffs of files, and what the conversation gained. */
  async diff(conversationId: string, fromSnapshotId: string, toSnapshotId: string): Promise<SnapshotDiff> {
    const { workspace, checkpoint: from } = this.#found(conversationId, fromSnapshotId);
    const { checkpoint: to } = this.#found(conversationId, toSnapshotId);
    return {
      files: fileDiffs(workspace, from.id, to),
      conversationDiff: conversationDiff(
        snapshotOf(workspace, from).conversation,
        snapshotOf(workspace, to).conversation,
      ),
    };
  }

  /** Goes back to a snapshot: files and conversation, or one of them. Messages are marked, never removed. */
  async restore(conversationId: string, snapshotId: string, options: RestoreOptions = {}): Promise<void> {
    const { filesOnly = false, conversationOnly = false, selectiveFiles, preview = false } = options;
    const { workspace, thread, checkpoint } = this.#found(conversationId, snapshotId);
    if (preview && !(await this.#isConfirmed(workspace, conversationId, checkpoint))) return;
    const scope = conversationOnly
      ? "conversation"
      : filesOnly || selectiveFiles !== undefined
        ? "files"
        : "both";
    // no file is chosen: none goes back
    if (selectiveFiles?.length === 0 && scope === "files") return;
    const paths = selectiveFiles === undefined ? {} : { paths: this.#root.insideAll(selectiveFiles) };
    assertApplied(workspace.restoreTo(checkpoint.id, { thread, scope, ...paths }));
    if (scope === "files") return;
    this.#options.onConversationRestored?.(conversationId, snapshotOf(workspace, checkpoint).conversation);
  }

  /** Brings single files back. */
  async restoreFiles(conversationId: string, snapshotId: string, filePaths: string[]): Promise<void> {
    await this.restore(conversationId, snapshotId, { filesOnly: true, selectiveFiles: filePaths });
  }

  /** Drops what is older than the policy keeps; the newest ones and tagged ones stay. Returns how many went. */
  async prune(conversationId: string, policy: RetentionPolicy): Promise<number> {
    const { workspace, listed } = this.#listed(conversationId, false);
    if (workspace === undefined) return 0;
    const before = this.#root.now() - policy.keepForHours * 3_600_000;
    const old = listed
      .slice(policy.keepMinimum)
      .filter(({ createdAt, tags }) => createdAt < before && tags.length === 0);
    return old.filter((taken) => drop(this.#root, taken)).length;
  }

  /** Prunes all conversations by the configuration. */
  async pruneAll(): Promise<number> {
    let pruned = 0;
    for (const id of this.conversationIds()) pruned += await this.prune(id, this.#retention);
    return pruned;
  }

  /** The conversations that have snapshots here. */
  conversationIds(): string[] {
    const threads = this.#root.known?.threads.list() ?? [];
    return threads.filter(({ agent }) => agent === AGENT).map(({ externalId }) => externalId);
  }

  /** Gives a snapshot a name of its own; it is not pruned from then on. */
  async tagSnapshot(conversationId: string, snapshotId: string, tag: string): Promise<void> {
    const { workspace, checkpoint } = this.#found(conversationId, snapshotId);
    workspace.tag(checkpoint.id, tag);
  }

  /** Deletes a conversation with its snapshots. */
  async deleteConversation(conversationId: string): Promise<void> {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, conversationId)?.id;
    if (thread !== undefined) workspace!.threads.delete(thread, { checkpoints: true });
  }

  /** How much disk all snapshots of the project take, and how much they may. */
  async usage(): Promise<{ bytes: number; capBytes: number }> {
    const { bytes, capBytes } = this.#root.known?.status().disk ?? { bytes: 0, capBytes: CAP_BYTES };
    return { bytes, capBytes };
  }

  /** The thread of a conversation. What is due for pruning goes first: at the start, and when a conversation is first used. */
  #begin(conversationId: string): { workspace: SyncWorkspace; thread: ThreadId } {
    const { workspace } = this.#root;
    const thread = begunThread(workspace, AGENT, conversationId);
    this.#cleanUp(conversationId);
    return { workspace, thread };
  }

  #cleanUp(conversationId: string): void {
    const { autoCleanup, pruneOnStartup } = this.#retention;
    const isFirst = !this.#seen.has(conversationId);
    this.#seen.add(conversationId);
    const isAll = pruneOnStartup && !this.#isStarted;
    if (!isAll && !(autoCleanup && isFirst)) return;
    this.#isStarted = true;
    // done when it returns: nothing in it waits. No caller asked for it, so its failure is told and stops nothing
    (isAll ? this.pruneAll() : this.prune(conversationId, this.#retention)).catch((error: unknown) =>
      this.#root.log("warning", "prune", { reason: messageOf(error) }),
    );
  }

  /** `isUse`: what is due for pruning goes first. */
  #listed(
    conversationId: string,
    isUse = true,
  ): {
    workspace: SyncWorkspace | undefined;
    thread: ThreadId | undefined;
    listed: Checkpoint[];
  } {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, conversationId)?.id;
    if (workspace === undefined || thread === undefined) return { workspace, thread, listed: [] };
    if (isUse) this.#cleanUp(conversationId);
    return { workspace, thread, listed: workspace.list({ thread }).filter(isShown) };
  }

  #found(
    conversationId: string,
    snapshotId: string,
  ): { workspace: SyncWorkspace; thread: ThreadId; checkpoint: Checkpoint } {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, conversationId)?.id;
    if (workspace === undefined || thread === undefined) throw notFound(conversationId, snapshotId);
    this.#cleanUp(conversationId);
    try {
      const checkpoint = findCheckpoint(workspace, snapshotId);
      if (checkpoint.thread === thread) return { workspace, thread, checkpoint };
    } catch (error) {
      if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
    }
    throw notFound(conversationId, snapshotId);
  }

  async #conversation(
    workspace: SyncWorkspace,
    conversationId: string,
    thread: ThreadId,
  ): Promise<ConversationFacts> {
    const { contextStorage } = this.#options;
    if (contextStorage === undefined) {
      const { messages } = workspace.threads.history(thread, { limit: Number.MAX_SAFE_INTEGER });
      const counted = messages.filter(({ rolledBack }) => !rolledBack);
      const last = counted.at(-1);
      const artifacts = counted.flatMap((message) => message.artifacts);
      return { messageCount: counted.length, lastMessageId: last?.externalId ?? last?.id ?? null, artifacts };
    }
    const messages = await contextStorage.getMessages(conversationId);
    const artifacts = (await contextStorage.getArtifacts?.(conversationId)) ?? [];
    return { messageCount: messages.length, lastMessageId: messages.at(-1)?.id ?? null, artifacts };
  }

  async #isConfirmed(workspace: SyncWorkspace, conversationId: string, to: Checkpoint): Promise<boolean> {
    const [newest] = this.#listed(conversationId).listed;
    const now = newest === undefined ? undefined : snapshotOf(workspace, newest).conversation;
    const { conversation } = snapshotOf(workspace, to);
    this.#lastPreview = {
      files: restoreDiffs(workspace, to),
      conversationDiff: conversationDiff(now ?? conversation, conversation),
    };
    return (await this.#options.confirm?.(this.#lastPreview)) ?? false;
  }
}

function notFound(conversationId: string, snapshotId: string): Error {
  const error = new Error(`Snapshot ${snapshotId} not found in conversation ${conversationId}`);
  return Object.assign(error, { code: "CHECKPOINT_NOT_FOUND" });
}
