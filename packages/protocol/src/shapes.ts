/**
 * The shapes of the contract, for `--json`, HTTP and MCP alike: what clients may rely on. Readers must tolerate fields
 * they do not know; writers have no others, because `Json<typeof shape>` is the type of what they make.
 */
export { type Json, pathEntry, gitState } from "./shapes/basics.ts";
export {
  checkpoint,
  taken,
  fileChange,
  fileContent,
  checkpointDetails,
  diff,
  diffHunk,
  fileSide,
  fileDiff,
} from "./shapes/checkpoints.ts";
export {
  plannedDiff,
  step,
  conflictSide,
  conflict,
  outsideEdit,
  planOperation,
  plan,
  plannedFile,
  detailedPlan,
  detailed,
  planned,
  plannedSteps,
  outcomeKind,
  displaced,
  outcome,
  stepsOutcome,
  resetOutcome,
  planOutcome,
} from "./shapes/going-back.ts";
export {
  merge,
  mergeConflict,
  mergeConflictDetails,
  mergeOutcome,
  plannedMerge,
  resolvedConflict,
  triedDecision,
} from "./shapes/merges.ts";
export {
  message,
  rolledBack,
  thread,
  agentRun,
  sessionRecord,
  pendingFile,
  session,
  approval,
} from "./shapes/conversations.ts";
export { run, fix } from "./shapes/runs.ts";
export {
  historyRow,
  uncapturedTurn,
  history,
  historyChanges,
  historyPatch,
  historyFileDiff,
  historyStep,
} from "./shapes/timeline.ts";
export {
  branch,
  fork,
  found,
  ghost,
  indexedFiles,
  indexing,
  searchIndex,
  synced,
  pause,
  residentStatus,
  syncState,
  job,
  watching,
  status,
  workUnderWay,
  setting,
  workspace,
  resident,
  page,
  errorBody,
} from "./shapes/workspaces.ts";
export {
  storage,
  spaceUsage,
  verifyReport,
  gcReport,
  forgetReport,
  pruneReport,
  unpruned,
  doctorReport,
  hookReport,
  foundSpan,
  findings,
  foundAuthor,
  foundLine,
} from "./shapes/upkeep.ts";
