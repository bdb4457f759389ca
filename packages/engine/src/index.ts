/** The engine's public face. Everything else in this package may change without notice. */
export { attachWorkspace, planAttach, type AttachPlan } from "./opening/attach-workspace.ts";
export { diagnose, type Check } from "./opening/diagnose.ts";
export type { EngineOptions } from "./opening/engine-options.ts";
export { findWorkspace } from "./opening/find-workspace.ts";
export {
  receiveWorkspace,
  type ReceivedWorkspace,
  type ReceiveOptions,
} from "./opening/receive-workspace.ts";
export type { Receiver } from "./exchange/receiver.ts";
export {
  initWorkspace,
  openWorkspace,
  type InitializedWorkspace,
  type InitOptions,
  previewInit,
} from "./opening/init-workspace.ts";
export {
  listWorkspaces,
  protectedCopies,
  protectedRoots,
  type WorkspaceSummary,
} from "./opening/list-workspaces.ts";
export { removableWorkspace, removeWorkspace, type RemovedWorkspace } from "./opening/remove-workspace.ts";
export {
  isSettingKey,
  listOwnSettings,
  listSettings,
  readSettings,
  settingKeys,
  writeOwnSetting,
  writeSetting,
  type Settings,
  type SettingKey,
  type SettingWithSource,
} from "./settings/settings.ts";
export {
  readProgramSettings,
  type MergeSettings,
  type ProgramSettings,
  type RunSettings,
} from "./settings/program-settings.ts";
export { setPauseOfAll } from "./settings/pauses.ts";
export { catchInterrupts } from "./restore/catch-interrupts.ts";
export { createSystem, processIdentity } from "./fs/system.ts";
export type { ProcessIdentity } from "./model/process-identity.ts";
export type {
  ListOptions,
  Progress,
  Reconciled,
  RestoreOptions,
  RestoreScope,
  PartialUndoOptions,
  RevertOptions,
  UndoOptions,
  Watching,
  Workspace,
} from "./workspace/interface/workspace.ts";
export type {
  CaptureLimits,
  CheckpointDetails,
  Diff,
  DiffOptions,
  ExportedFile,
  FileContent,
  ShowOptions,
  SyncState,
  WorkspaceStatus,
} from "./queries/answers.ts";
export type { Alias } from "./history/aliases.ts";
export type { Annotations } from "./history/annotations.ts";
export type {
  Imported,
  ImportedFile,
  ImportedMessage,
  ImportedSession,
  ImportedThread,
  ImportRequest,
  ThreadImport,
} from "./model/arrival.ts";
export type { Imports } from "./workspace/interface/imports.ts";
export { whyNotImported } from "./capture/import-checkpoints.ts";
export type { MergeOptions, MergeRequestSource } from "./queries/preview-merge.ts";
export type { TriedChoice, TriedDecision } from "./queries/try-decision.ts";
export { checkResolution, type Resolution } from "./merge/check-resolution.ts";
export { mergeFile, type FileVersions } from "./merge/merge-file.ts";
export type { Contested, Taken } from "./merge/verdict.ts";
export type { OpenSyntax } from "./merge/parsers.ts";
export type { Import, Names, Syntax } from "./merge/syntax.ts";
export type { CompareFileOptions, OneFileOptions } from "./queries/compare-file.ts";
export { parseTime, type Clock, type TimeSpan } from "./history/time-text.ts";
export { isTurnName } from "./history/turn-numbers.ts";
export { tarArchive, type ArchivedFile } from "./queries/tar-archive.ts";
export { meaninglessField } from "./queries/timeline-filter.ts";
export { PlanBook, type PlanBookOptions } from "./workspace/plan-book.ts";
export type { CheckpointRef } from "./model/ids.ts";
export type { Approvals, ResetOptions } from "./workspace/interface/approvals.ts";
export type { Branches } from "./workspace/interface/branches.ts";
export type { Branch, BranchRequest, BranchState, SwitchOptions } from "./model/branch.ts";
export type { Forks } from "./workspace/interface/forks.ts";
export type {
  Fork,
  ForkDependency,
  ForkRequest,
  ForkState,
  MadeFork,
  RemovedFork,
  RemoveForkOptions,
} from "./model/fork.ts";
export type { AfterForget, Events } from "./workspace/interface/events.ts";
export type { Ghosts } from "./workspace/interface/ghosts.ts";
export type { MissingGhost } from "./ghost/ghosts.ts";
export type { Ghost, GhostMode, GhostOptions } from "./model/ghost.ts";
export type {
  BranchMergeOptions,
  ConflictChoice,
  Merges,
  Merging,
  ResolvedConflict,
} from "./workspace/interface/merges.ts";
export type { Exchange } from "./workspace/interface/exchange.ts";
export { remoteOrigin, type RemoteOrigin } from "./model/origin.ts";
export type {
  AnnotatedField,
  Annotation,
  FetchedFrom,
  Fetching,
  ForgetRequest,
  HistoryRecord,
  JournalEntry,
  KeptBack,
  LocatedObject,
  MovedLine,
  NeededObject,
  QueuedRecord,
  RemoteEntry,
  Review,
  Selection,
  StoredPack,
} from "./model/exchange.ts";
export type { Fixes } from "./workspace/interface/fixes.ts";
export type { Runs } from "./workspace/interface/runs.ts";
export type {
  Run,
  RunEnd,
  RunLimits,
  RunLog,
  RunProgress,
  RunRequest,
  RunResult,
  RunStatus,
  RunTokens,
} from "./model/run.ts";
export type { Fix, FixAttempt, FixIssue, FixRequest, FixState, FixUpdate } from "./model/fix.ts";
export type { Threads } from "./workspace/interface/threads.ts";
export type { Timeline } from "./workspace/interface/timeline.ts";
export type { Turn, TurnRequest, TurnResult, Turns } from "./workspace/interface/turns.ts";
export type { Upkeep } from "./workspace/interface/upkeep.ts";
export type { Versions } from "./workspace/interface/versions.ts";
export type { Version, VersionRequest } from "./model/version.ts";
export type { System } from "./model/system.ts";
export { displayPath, isUtf8Path, pathFromBytes, pathToBytes, type BytePath } from "./model/byte-path.ts";
export type {
  AgentFacts,
  Checkpoint,
  CheckpointKind,
  CheckpointPhase,
  CheckpointRequest,
  ConversationFacts,
  Doubt,
  DoubtReason,
  ExcludedRoot,
  Gap,
  GitState,
  TakenCheckpoint,
  Thread,
} from "./model/checkpoint.ts";
export type {
  AgentRequest,
  AgentResult,
  AgentRun,
  EditRequest,
  FileEdit,
  History,
  HistoryOptions,
  Message,
  MessageRequest,
  MessageRole,
  OpenEdit,
  PromptRequest,
  Prompted,
  RolledBack,
  ThreadRequest,
  ThreadSummary,
  ToolRequest,
  ToolResult,
  UncapturedRequest,
  WorkEnd,
  UncapturedTurn,
} from "./model/conversation.ts";
export type { Bounded, Deadline } from "./model/deadline.ts";
export type { EventDetail, EventOptions, RemoteEvent, SyncProgress, WorkspaceEvent } from "./model/event.ts";
export { CHECKPOINT_PRESETS, type CheckpointPolicy, type CheckpointTrigger } from "./model/policy.ts";
export type {
  Approval,
  ApproveOptions,
  PendingFile,
  ResetOutcome,
  Session,
  SessionName,
  SessionStatus,
} from "./model/session.ts";
export type { Entry, GapReason } from "./model/entry.ts";
export type { OutsideEdit, OutsideFile, OutsideOutcome } from "./model/outside.ts";
export { EngineError, type ErrorCode, type ErrorFacts } from "./model/errors.ts";
export { countChanges } from "./diff/count-changes.ts";
export { fromNames } from "./diff/unified.ts";
export type { ChangeCounts, DiffDetail, FileChange } from "./model/file-change.ts";
export type {
  DiffHunk,
  DiffLine,
  FileDiff,
  FileDiffOptions,
  FileSide,
  ImageSize,
} from "./model/file-diff.ts";
export type {
  Findings,
  FindOptions,
  FoundAuthor,
  FoundCause,
  FoundEnd,
  FoundFile,
  FoundLine,
  FoundPlace,
  FoundSpan,
} from "./model/finding.ts";
export type { CheckpointId, OperationId, ThreadId, WorkspaceId } from "./model/ids.ts";
export type {
  ConflictFact,
  ConflictRegion,
  ConflictResolution,
  DroppedLine,
  MadeByMerger,
  Merge,
  CheckRun,
  MergeCheck,
  MergeConflict,
  MergeConflictKind,
  MergedPath,
  MergeOption,
  MergeOutcome,
  MergePlan,
  MergePreview,
  MergePrograms,
  MergeResolution,
  ForkCommits,
  MergeSource,
  MergeState,
  MergeTake,
  NotMerged,
  OnConflict,
  RegionClass,
  ResolutionProblem,
  ResolvedBy,
  Severity,
  SourceOutcome,
} from "./model/merge.ts";
export type { ObjectHash } from "./model/object-hash.ts";
export type { Pause } from "./model/pause.ts";
export type {
  AfterRestore,
  Decision,
  ApplyOptions,
  Asker,
  Conflict,
  Displaced,
  Interrupt,
  RestorePhase,
  RestoreProgress,
  ChosenHunks,
  ConflictReason,
  ConflictSide,
  Edit,
  Kept,
  KeptReason,
  Outcome,
  Plan,
  PlanKind,
  Skipped,
  StepKind,
  StepSummary,
  ThreadPaths,
} from "./model/plan.ts";
export type { PlanDetails, PlannedChange, PlannedDiff, PlannedFile } from "./model/plan-details.ts";
export type {
  TimelineCounts,
  TimelineDay,
  TimelineKind,
  CaptureFailure,
  FailingCaptures,
  TimelineNow,
  TimelineOptions,
  TimelinePage,
  TimelineRow,
  TimelineState,
  TimelineStatus,
  TimelineStep,
} from "./model/timeline.ts";
export type {
  ForgetReport,
  ForgetWordsReport,
  GcReport,
  PruneReport,
  SpaceGroup,
  SpaceUsage,
  SpaceUse,
  Stats,
  UsageBy,
  UseCounts,
  VerifyProblem,
  KnownDamage,
  VerifyReport,
} from "./model/reports.ts";
export {
  onceOnly,
  RETENTION_PRESETS,
  type DropRule,
  type KeepRule,
  type RetentionPolicy,
} from "./model/retention.ts";
