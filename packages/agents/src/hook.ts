/** Carrying out hook events, without what installs hooks. */
export type { AgentHost, Deadline } from "./handling/agent-host.ts";
export { HookService } from "./handling/hook-service.ts";
export { runHook } from "./handling/run-hook.ts";
