/** The checkpoints of an agent supervisor, over Belay. */
export { CheckpointManager, type CheckpointManagerOptions } from "./supervisor/session-checkpoints.ts";
export { CheckpointStorage } from "./supervisor/checkpoint-storage.ts";
export { CheckpointInterceptor } from "./supervisor/checkpoint-interceptor.ts";
export { RollbackEngine } from "./supervisor/rollback-engine.ts";
export type { Checkpoint, CheckpointFile, Session } from "./supervisor/checkpoint.ts";
export type { RollbackOperation, RollbackPlan } from "./supervisor/rollback-plan.ts";
export type { Diff } from "@belay/engine";
