/** Parts of Belay for React: the page is made of them. */
export { BelayProvider, type BelayProviderProps } from "./provider.tsx";
export { useBelay, useClient, useEvents, useLiveState, type Belay } from "./data/belay.tsx";
export { createClient, NoAnswer, type BrowserClient, type Connection } from "./data/client.ts";
export type { History, HistoryRow } from "./data/history.ts";
export type { LiveState } from "./data/live-events.ts";
export { useLoaded, type Loaded } from "./data/loaded.ts";
export {
  useOpenMerges,
  useStatus,
  useThreads,
  useVersion,
  type Branch,
  type Fix,
  type Merge,
  type Run,
  type Status,
  type Thread,
} from "./data/facts.ts";
export { endedWords, forgetKey, openPage, takeCode, type PageKey } from "./data/page-key.ts";
export { useHistory } from "./data/use-history.ts";
export { askFirstRows, type HistoryFilter } from "./data/first-rows.ts";
export { AnnotateDialog } from "./checkpoints/annotate-dialog.tsx";
export { CheckpointBadge, type CheckpointBadgeProps } from "./checkpoints/checkpoint-badge.tsx";
export { RestoreDialog, type Restored, type RestoreDialogProps } from "./checkpoints/restore-dialog.tsx";
export type {
  Checkpoint,
  CheckpointResult,
  CleanupResult,
  RestoreResult,
} from "./checkpoints/conversation-calls.ts";
export type { Invoke } from "./checkpoints/invoke-calls.ts";
export { useCheckpoints, type Checkpoints, type CheckpointsOptions } from "./checkpoints/use-checkpoints.ts";
export { useStreamingRefresh, type StreamingStatus } from "./checkpoints/use-streaming-refresh.ts";
export { CheckpointDialog } from "./checkpoints/checkpoint-dialog.tsx";
export type { ConflictViewProps } from "./conflicts/conflict-host.ts";
export { ConflictView } from "./conflicts/conflict-view.tsx";
export type { DecidablePlan } from "./conflicts/plan-question.ts";
export { mergeResult, sourceNames } from "./conflicts/merge-result.ts";
export { DiffView, type DiffViewProps } from "./diff/diff-view.tsx";
export { FileTree } from "./diff/file-tree.tsx";
export { FileDiffCard, fileId } from "./diff/file-diff-card.tsx";
export type { DiffLook, FileActions } from "./diff/look.ts";
export { FileCounts, FileList, StatusLetter } from "./diff/file-list.tsx";
export { PatchLines } from "./diff/patch-lines.tsx";
export { patchOf, useDiff, type ChangedFile, type Comparison, type Own, type Pair } from "./diff/files.ts";
export { CommandLine } from "./parts/command-line.tsx";
export { copyText } from "./parts/copy.ts";
export { Dialog } from "./parts/dialog.tsx";
export { Field, FormDialog, type FormDialogProps } from "./parts/form-dialog.tsx";
export { agentColour, AgentBadge, Icon, Lines, PathName } from "./parts/icon.tsx";
export { useToast, type Toast } from "./parts/toasts.tsx";
export { useAct, type Act } from "./parts/use-act.ts";
export { PendingPanel, type PendingPanelProps } from "./pending/pending-panel.tsx";
export { useGoBack, usePlans } from "./plans/going-back.tsx";
export { NO_CHOICES, usePlan, type Choices, type PlanState, type Scope } from "./plans/use-plan.ts";
export { useSession, type PendingSession, type SessionState } from "./pending/use-session.ts";
export { restoreTo } from "./plans/restore-to.ts";
export { StoragePanel, VerifyButton } from "./storage/storage-panel.tsx";
export { PlannedChanges, shownPlan } from "./plans/planned-changes.tsx";
export { PlanDialog, type PlanDialogProps } from "./plans/plan-dialog.tsx";
export {
  changedLines,
  type DetailedPlan,
  type PlanBody,
  type PlanOutcome,
  type PlanRequest,
} from "./plans/request.ts";
export { afterOf, filesOf, targetOf, titleOf, type Target } from "./timeline/row-text.ts";
export { StepList, useSteps, type Step } from "./timeline/step-list.tsx";
export { Timeline, type TimelineProps } from "./timeline/live-timeline.tsx";
export { TimelineList, type TimelineListProps } from "./timeline/timeline.tsx";
export { TurnRow, type RowAction, type TurnRowProps } from "./timeline/turn-row.tsx";
export {
  agentName,
  ago,
  clock,
  clockWithSeconds,
  dayAndClock,
  duration,
  gapReason,
  gitWords,
  offset,
  quantity,
  quoted,
  shellWord,
  size,
  visible,
  WORDS,
} from "./words.ts";
