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
export {
  ReviewerAutoFixLoop,
  type Fixer,
  type Reviewer,
  type ReviewerAutoFixLoopOptions,
} from "./mimir/auto-fix-loop.ts";
export {
  MergeConflictResolver,
  type MergeConflictResolverOptions,
  type MergeConflictUI,
  type MergerAgent,
} from "./mimir/merge-conflict-resolver.ts";
export { CheckpointCommand, type CommandResult } from "./mimir/checkpoint-command.ts";
export { readMimirConfig, type MimirConfig } from "./mimir/config.ts";
export { ConflictSeverity } from "./mimir/types.ts";
export type {
  AgentActivity,
  AgentRole,
  AgentStatus,
  FileChange,
  FileDiff,
  FileSnapshot,
  FixResult,
  IContextStorage,
  ISnapshotManager,
  MergeConflict,
  MergeResolution,
  ResolvedConflict,
  RestoreOptions,
  ReviewIssue,
  RetentionPolicy,
  Snapshot,
  SnapshotDiff,
  SnapshotTimeline,
  SnapshotTimelineItem,
  SnapshotType,
} from "./mimir/types.ts";
