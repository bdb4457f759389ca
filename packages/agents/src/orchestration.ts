/** Running agents: several at once, their limits and logs, reviews of what they did, and the loop that fixes it. */
export {
  AgentBook,
  readAgentBook,
  type AgentEndpoint,
  type AgentSettings,
  type RunnableAgent,
} from "./orchestrate/agent-book.ts";
export type {
  Batch,
  BatchEvent,
  BatchMerge,
  BatchOutcome,
  FinishedRun,
  MergeKeeper,
} from "./orchestrate/batch.ts";
export { checkWith, exitOf, interrupted } from "./orchestrate/merge-check.ts";
export {
  createOrchestrator,
  type AgentTask,
  type BatchOptions,
  type ForkKeeper,
  type OrchestratedWorkspace,
  type Orchestrator,
  type OrchestratorOptions,
} from "./orchestrate/orchestrator.ts";
export { NO_FACTS, type AgentFacts } from "./run/agent-facts.ts";
export { filledIn, PROMPT } from "./run/agent-template.ts";
export type { Processes, RunLimits, RunPlace, RunRecord, Tokens } from "./run/run-record.ts";
export { AUTO_FIX_DEFAULTS, readAutoFixConfig, type AutoFixConfig } from "./fix/auto-fix-config.ts";
export { CHOICES, escalationText, isChoice, type Choice, type Escalation } from "./fix/escalation.ts";
export type {
  AttemptRecord,
  FixClock,
  FixerRun,
  FixOptions,
  FixRecord,
  FixResult,
  FixWorkspace,
} from "./fix/fix-host.ts";
export { answerFix, fixIssues, INTERRUPTED } from "./fix/fix-issues.ts";
export { fixPrompt, REVIEW_PROMPT } from "./fix/fix-prompt.ts";
export { runReview, type ReviewCommand } from "./fix/run-review.ts";
export { endProcesses, RUN_VARIABLE } from "./run/process-tree.ts";
export { runCommand, type CommandEnd, type CommandRequest } from "./run/run-command.ts";
export { readBelay } from "./review/belay.ts";
export { readReview, REVIEW_FORMATS, type ReviewFormat, type ReviewOutput } from "./review/read-review.ts";
export { isIssueSeverity, type IssueSeverity, type ReviewIssue } from "./review/review-issue.ts";
