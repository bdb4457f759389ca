/** Belay's side of coding agents. `@belay/agents/hook`, `/mcp` and `/tools` load less than all of it. */
export type {
  AgentActivity,
  AgentHost,
  AgentRun,
  ThreadRequest,
  ToolCall,
  ToolStatus,
  Trouble,
  TurnEnd,
  TurnStatus,
  UserMessage,
} from "./agent-host.ts";
export { AGENT_IDS, type AgentAdapter, type AgentEvent, type AgentId, type Reply } from "./agent-event.ts";
export { isAgentId, loadAgent, loadAllAgents, recogniseAgent } from "./agents.ts";
export { handleEvent, type Scene } from "./handle-event.ts";
export { forgetConversation } from "./forget-conversation.ts";
export { transcriptOf } from "./hook-notes.ts";
export type { Conversations, ForkRequest, ForkResult } from "./conversation/conversations.ts";
export { claudePluginLines, writeClaudePlugin } from "./install/claude-plugin.ts";
export { detectAgent, type Detection } from "./install/detect.ts";
export type { HookFile, Place, Scope } from "./install/hook-file.ts";
export { HOOK_MARK } from "./install/hook-file.ts";
export { hookScript, writeHookScript, type HookScript } from "./install/hook-script.ts";
export {
  install,
  planInstall,
  type InstalledReport,
  type InstallPlan,
  type InstallReport,
  type PlannedFile,
} from "./install/install.ts";
export { readRecord as installedFiles, type InstalledFile } from "./install/install-record.ts";
export { putBackHooks, type PutBackRequest } from "./install/put-back.ts";
export { uninstall, uninstallAll, type EverythingRequest, type RemovalReport } from "./install/uninstall.ts";
export { listOverdue, type OverdueEvent } from "./overdue.ts";
