/** Mimir's words. */

/** What caused a snapshot. */
export type SnapshotType = "manual" | "auto-agent" | "auto-checkpoint";

/** What an agent is for, such as "thinker". */
export type AgentRole = string;
/** How far an agent is, such as "running", "completed" or "failed". */
export type AgentStatus = string;

/** One file of a snapshot. Its content is read when it is looked at. */
export interface FileSnapshot {
  path: string;
  content: Buffer;
  /** SHA-256. */
  hash: string;
  mimeType?: string;
}

/** The files and the conversation at one moment. */
export interface Snapshot {
  id: string;
  timestamp: Date;
  type: SnapshotType;
  files: FileSnapshot[];
  conversation: { messageCount: number; lastMessageId: string; artifacts: string[] };
  agent?: { id: string; role: AgentRole; status: AgentStatus; cost: number; tokens: number };
  description?: string;
  tags?: string[];
  size: number;
}

/** What a restore brings back: files and conversation unless it says otherwise. */
export interface RestoreOptions {
  filesOnly?: boolean;
  conversationOnly?: boolean;
  selectiveFiles?: string[];
  preview?: boolean;
}

/** A file that changed. */
export interface FileChange {
  path: string;
  type: "added" | "modified" | "deleted";
  linesAdded: number;
  linesDeleted: number;
}

/** A file that changed, with its unified diff. */
export interface FileDiff extends FileChange {
  diff: string;
}

/** What differs between two snapshots. */
export interface SnapshotDiff {
  files: FileDiff[];
  conversationDiff: { messagesAdded: number; artifactsAdded: string[] };
}

/** An agent's run. */
export interface AgentActivity {
  agentId: string;
  role: AgentRole;
  startTime: Date;
  /** Now, while it runs. */
  endTime: Date;
  status: AgentStatus;
  snapshotsBefore: string[];
  snapshotsAfter: string[];
}

/** A snapshot with what happened around it. */
export interface SnapshotTimelineItem {
  snapshot: Snapshot;
  agents?: AgentActivity[];
  /** Against the snapshot before it in time. */
  fileChanges: FileChange[];
}

/** The snapshots of a conversation, newest first. */
export interface SnapshotTimeline {
  snapshots: SnapshotTimelineItem[];
  /** The one last restored to if nothing was captured since, else the newest; "" without any. */
  currentSnapshotId: string;
}

/** How long snapshots stay. */
export interface RetentionPolicy {
  keepForHours: number;
  keepMinimum: number;
}

/** What Mimir keeps of conversations; where it is missing, the thread in Belay's store says it. */
export interface IContextStorage {
  getMessages(conversationId: string): Promise<readonly { readonly id: string }[]>;
  getArtifacts?(conversationId: string): Promise<readonly string[]>;
}

/** Everything that can be done with snapshots. */
export interface ISnapshotManager {
  createSnapshot(conversationId: string, type: SnapshotType, description?: string): Promise<Snapshot>;
  createAgentSnapshot(conversationId: string, agentId: string): Promise<Snapshot>;
  listSnapshots(conversationId: string): Promise<Snapshot[]>;
  getSnapshot(conversationId: string, snapshotId: string): Promise<Snapshot>;
  getCurrentSnapshot(conversationId: string): Promise<Snapshot | null>;
  getTimeline(conversationId: string): Promise<SnapshotTimeline>;
  restore(conversationId: string, snapshotId: string, options?: RestoreOptions): Promise<void>;
  restoreFiles(conversationId: string, snapshotId: string, filePaths: string[]): Promise<void>;
  diff(conversationId: string, fromSnapshotId: string, toSnapshotId: string): Promise<SnapshotDiff>;
  prune(conversationId: string, policy: RetentionPolicy): Promise<number>;
  pruneAll(): Promise<number>;
}

/** How bad an issue or a conflict is, worst first. */
export const SEVERITIES = ["critical", "high", "medium", "low"] as const;

/** A file that several agents changed. */
export interface MergeConflict {
  path: string;
  /** The agents that changed it. */
  agents: string[];
  severity: (typeof SEVERITIES)[number];
  autoResolvable: boolean;
  reason: string;
}

/** How bad a conflict is. */
export const ConflictSeverity = {
  /** Whitespace, formatting changes. */
  LOW: "low",
  /** Logic changes, no overlap. */
  MEDIUM: "medium",
  /** Overlapping logic changes. */
  HIGH: "high",
  /** Syntax errors, breaking changes. */
  CRITICAL: "critical",
} as const;

/** One of them. */
export type ConflictSeverity = (typeof ConflictSeverity)[keyof typeof ConflictSeverity];

/** A conflict that is settled. */
export interface ResolvedConflict {
  path: string;
  /** Who settled it, such as "auto", or what was chosen. */
  resolution: string;
  content: string;
}

/** What became of conflicts. */
export interface MergeResolution {
  autoResolved: ResolvedConflict[];
  mergerResolved: ResolvedConflict[];
  userResolved: ResolvedConflict[];
  /** True if everything is settled and the user did not have to be asked. */
  success: boolean;
  /** True if everything is settled, by the user or without. */
  settled: boolean;
  unresolved: MergeConflict[];
}

/** What a reviewer wants changed. */
export interface ReviewIssue {
  severity: (typeof SEVERITIES)[number];
  message: string;
  file: string;
  line: number;
  suggestion?: string;
}

/** How a loop of fixing ended. */
export interface FixResult {
  success: boolean;
  code?: string;
  totalRetries?: number;
  ignoredIssues?: ReviewIssue[];
  rollback?: boolean;
  manualFix?: boolean;
}
