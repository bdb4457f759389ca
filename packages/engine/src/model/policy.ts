/** The events that can cause an automatic checkpoint. Safety checkpoints do not depend on them. */
export type CheckpointTrigger = "message" | "tool" | "agent" | "turn";

/** Which events cause automatic checkpoints, under a name. */
export interface CheckpointPolicy {
  readonly name: string;
  readonly triggers: readonly CheckpointTrigger[];
}

/**
 * The named policies. Each covers both ends of a turn: without them Belay could not tell what a turn changed.
 */
export const CHECKPOINT_PRESETS = {
  message: { name: "message", triggers: ["message", "turn"] },
  tool: { name: "tool", triggers: ["message", "turn", "tool"] },
  agent: { name: "agent", triggers: ["message", "turn", "agent"] },
  everything: { name: "everything", triggers: ["message", "turn", "tool", "agent"] },
} as const satisfies Readonly<Record<string, CheckpointPolicy>>;

/** Automatic checkpoints are off. */
export const NO_CHECKPOINTS: CheckpointPolicy = { name: "off", triggers: [] };

/** Automatic checkpoints are off until the pause ends. */
export const PAUSED: CheckpointPolicy = { name: "paused", triggers: [] };
