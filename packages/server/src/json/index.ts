/** Everything in the contract's shapes, for the command line as for HTTP. */
export { affectedFiles } from "./affected-files.ts";
export { branchJson } from "./branch-json.ts";
export { forkJson, removedForkJson } from "./fork-json.ts";
export { ghostJson, possible } from "./ghost-json.ts";
export { checkpointDetailsJson, checkpointJson, checkpointListJson, takenJson } from "./checkpoint-json.ts";
export {
  changedFileJson,
  changesJson,
  diffJson,
  fileChangeJson,
  fileDiffJson,
  patchJson,
} from "./diff-json.ts";
export { eventJson } from "./event-json.ts";
export { historyJson, historyRowJson, historyStepJson } from "./history-json.ts";
export { findingsJson, foundLineJson } from "./findings-json.ts";
export { isNothingRestorable, leftOut, outcomeWord, type LeftOut } from "./left-out-json.ts";
export { fileContentJson } from "./file-content-json.ts";
export { detailedPlanJson, type GoingBack } from "./detailed-plan-json.ts";
export { listField } from "./list-field.ts";
export {
  mergeConflictDetailsJson,
  mergeConflictJson,
  mergeJson,
  mergeOutcomeJson,
  plannedMergeJson,
  resolvedConflictJson,
  triedDecisionJson,
} from "./merge-json.ts";
export { pathJson, withPathJson } from "./path-json.ts";
export {
  conflictJson,
  outcomeJson,
  planJson,
  plannedStepsJson,
  resetOutcomeJson,
  stepsOutcomeJson,
  untouchedText,
} from "./plan-json.ts";
export { planOperationType, type PlanOperationType } from "./plan-operation.ts";
export { approvalJson, pendingFileJson, sessionRef, sessionStatusJson } from "./session-json.ts";
export { NO_RESIDENT, pauseJson, statusJson, type ResidentStatus } from "./status-json.ts";
export { fixJson, runJson } from "./run-json.ts";
export { stepJson } from "./step-json.ts";
export { doctorJson, forgetJson, gcJson, pruneJson, unpruneJson, verifyJson } from "./upkeep-json.ts";
export { storageJson, usageJson } from "./storage-json.ts";
export {
  agentJson,
  isoTime,
  messageJson,
  optionalTime,
  rolledBackJson,
  sessionJson,
  threadJson,
  uncapturedJson,
} from "./thread-json.ts";
