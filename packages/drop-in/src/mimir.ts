/** Mimir's snapshots of conversations, over Belay. */
export { SnapshotManager, type SnapshotManagerOptions } from "./mimir/conversation-snapshots.ts";
export {
  SnapshotCloudSync,
  type ISnapshotCloudSync,
  type SnapshotCloudSyncOptions,
  type SnapshotRemote,
  type SyncResult,
} from "./mimir/snapshot-cloud-sync.ts";
export { SnapshotRetentionManager } from "./mimir/snapshot-retention.ts";
export {
  AgentOrchestrator,
  type AgentResult,
  type Logger,
  type SubAgent,
} from "./mimir/agent-orchestrator.ts";
export { CheckpointCommand, type CommandResult } from "./mimir/checkpoint-command.ts";
export type { MimirConfig } from "./mimir/config.ts";
export type {
  AgentActivity,
  AgentRole,
  AgentStatus,
  FileChange,
  FileDiff,
  FileSnapshot,
  IContextStorage,
  ISnapshotManager,
  RestoreOptions,
  RetentionPolicy,
  Snapshot,
  SnapshotDiff,
  SnapshotTimeline,
  SnapshotTimelineItem,
  SnapshotType,
} from "./mimir/types.ts";
