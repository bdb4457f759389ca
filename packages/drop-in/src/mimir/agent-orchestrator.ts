/** Runs an agent with a snapshot before it. */
import type { SnapshotManager } from "./conversation-snapshots.ts";
import type { AgentRole } from "./types.ts";

/** An agent that can be run. */
export interface SubAgent {
  readonly id: string;
  readonly role: AgentRole;
  execute(task: string): Promise<AgentResult>;
}

/** What an agent answers; what it cost is noted where it says so. */
export interface AgentResult {
  readonly cost?: number;
  readonly tokens?: number;
  readonly [fact: string]: unknown;
}

/** Where the orchestrator says what it does. */
export interface Logger {
  debug(text: string): void;
  error(text: string): void;
}

/** Runs the agents of one conversation. */
export class AgentOrchestrator {
  readonly #options: { snapshotManager: SnapshotManager; conversationId: string; logger?: Logger };

  constructor(options: { snapshotManager: SnapshotManager; conversationId: string; logger?: Logger }) {
    this.#options = options;
  }

  /** Takes the snapshot, then runs the agent. When it fails, the snapshot stays, and its id is logged for going back. */
  async executeAgent(agent: SubAgent, task: string): Promise<AgentResult> {
    const { snapshotManager, conversationId, logger } = this.#options;
    const snapshot = await snapshotManager.createAgentSnapshot(conversationId, agent.id, {
      role: agent.role,
    });
    logger?.debug(`Snapshot created: ${snapshot.id} (before ${agent.role})`);
    try {
      const result = await agent.execute(task);
      const { cost, tokens } = result;
      await snapshotManager.endAgent(conversationId, agent.id, {
        status: "completed",
        ...(cost !== undefined && { cost }),
        ...(tokens !== undefined && { tokens }),
      });
      return result;
    } catch (error) {
      await snapshotManager.endAgent(conversationId, agent.id, { status: "failed" });
      logger?.error(`Agent ${agent.id} failed. Snapshot ${snapshot.id} available for rollback.`);
      throw error;
    }
  }
}
