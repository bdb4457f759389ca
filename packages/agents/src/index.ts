/** Belay's side of coding agents. `@belay/agents/hook`, `/mcp` and `/tools` load less than all of it. */
export type {
  AgentActivity,
  AgentHost,
  ThreadRequest,
  ToolCall,
  TurnEnd,
  UserMessage,
} from "./handling/agent-host.ts";
export type { AgentRun, ToolStatus, TurnStatus } from "./events/agent-event.ts";
export type { Trouble } from "./state/trouble-log.ts";
export { AGENT_IDS, type AgentId } from "./events/agent-id.ts";
export type { AgentAdapter } from "./adapters/adapter.ts";
export type { AgentEvent, Reply } from "./events/agent-event.ts";
export { isAgentId, loadAgent, loadAllAgents, recogniseAgent } from "./adapters/find-adapter.ts";
export { handleEvent, type Scene } from "./handling/handle-event.ts";
export { forgetConversation } from "./handling/forget-conversation.ts";
export { transcriptOf } from "./state/hook-notes.ts";
export type { Conversations, ForkRequest, ForkResult } from "./conversation/conversations.ts";
export { claudePluginLines, writeClaudePlugin } from "./install/claude-plugin.ts";
export { detectAgent, type Detection } from "./install/detect.ts";
export type { HookFile, Place, Scope } from "./settings/hook-file.ts";
export { HOOK_MARK } from "./settings/hook-file.ts";
export { writeHook, type Hook } from "./hooks/write-hook.ts";
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
export { listOverdue, type OverdueEvent } from "./state/overdue-events.ts";
