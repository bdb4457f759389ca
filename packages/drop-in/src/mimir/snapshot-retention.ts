/** Mimir's name for pruning. */
import { retentionOf, type MimirConfig } from "./config.ts";
import type { SnapshotManager } from "./conversation-snapshots.ts";
import type { RetentionPolicy } from "./types.ts";

/** Prunes one conversation, or all of them by the configuration. */
export class SnapshotRetentionManager {
  readonly #manager: SnapshotManager;
  readonly #policy: RetentionPolicy;

  constructor(manager: SnapshotManager, config: MimirConfig = {}) {
    this.#manager = manager;
    this.#policy = retentionOf(config);
  }

  /** Newest first: the first `keepMinimum` stay, of the rest those that are younger. Returns how many went. */
  async pruneConversation(conversationId: string, policy: RetentionPolicy): Promise<number> {
    return this.#manager.prune(conversationId, policy);
  }

  /** The same for every conversation. */
  async pruneAllConversations(): Promise<number> {
    let pruned = 0;
    for (const id of this.#manager.conversationIds())
      pruned += await this.pruneConversation(id, this.#policy);
    return pruned;
  }
}
