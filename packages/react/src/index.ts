/** Parts of Belay for React: the page is made of them. */
export { BelayProvider, useBelay, useLiveState, type Belay } from "./data/belay.tsx";
export { createClient, type Connection } from "./data/client.ts";
export type { History, HistoryFilter, HistoryRow } from "./data/history.ts";
export type { LiveState } from "./data/live-events.ts";
export { useLoaded, type Loaded } from "./data/loaded.ts";
export { useStatus, useThreads, useVersion, type Status, type Thread } from "./data/facts.ts";
export { forgetKey, openSession, takeCode, type Session } from "./data/page-key.ts";
export { useHistory } from "./data/use-history.ts";
export { AnnotateDialog } from "./checkpoints/annotate-dialog.tsx";
export { CheckpointDialog } from "./checkpoints/checkpoint-dialog.tsx";
export { DiffView, type DiffViewProps } from "./diff/diff-view.tsx";
export { FileTree } from "./diff/file-tree.tsx";
export { FileDiffCard, fileId } from "./diff/file-diff-card.tsx";
export type { DiffLook, FileActions } from "./diff/look.ts";
export { FileCounts, FileList, StatusLetter } from "./diff/file-list.tsx";
export { PatchLines } from "./diff/patch-lines.tsx";
export { patchOf, useComparison, type ChangedFile, type Comparison, type Pair } from "./diff/files.ts";
export { copyText } from "./parts/copy.ts";
export { Dialog } from "./parts/dialog.tsx";
export { agentColour, AgentBadge, Icon, Lines, PathName } from "./parts/icon.tsx";
export { Toasts, useToast, type Toast } from "./parts/toasts.tsx";
export { PendingPanel, type PendingPanelProps } from "./pending/pending-panel.tsx";
export { planResult, type PlanResult } from "./plans/plan-result.ts";
export { restoreTo } from "./plans/restore-to.ts";
export { StoragePanel, VerifyButton } from "./storage/storage-panel.tsx";
export { PlanDialog, type PlanDialogProps } from "./plans/plan-dialog.tsx";
export { changedLines, type DetailedPlan, type PlanOutcome, type PlanRequest } from "./plans/request.ts";
export { afterOf, filesOf, targetOf, titleOf, type Target } from "./timeline/row-text.ts";
export { useSteps, type Step } from "./timeline/step-list.tsx";
export { Timeline, type TimelineProps } from "./timeline/timeline.tsx";
export type { RowAction } from "./timeline/turn-row.tsx";
export {
  agentName,
  ago,
  clock,
  clockWithSeconds,
  dayAndClock,
  duration,
  gitWords,
  offset,
  quantity,
  quoted,
  size,
  visible,
  WORDS,
} from "./words.ts";
