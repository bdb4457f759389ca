/** Which events make a checkpoint by themselves. What goes back over files always makes its safety checkpoint. */
export type CheckpointTrigger = "message" | "tool" | "agent" | "turn";

export interface CheckpointPolicy {
  readonly name: string;
  readonly triggers: readonly CheckpointTrigger[];
}

/** A turn has its two ends in every preset: without them nobody could tell what it changed. */
export const CHECKPOINT_PRESETS = {
  message: { name: "message", triggers: ["message", "turn"] },
  tool: { name: "tool", triggers: ["message", "turn", "tool"] },
  agent: { name: "agent", triggers: ["message", "turn", "agent"] },
  everything: { name: "everything", triggers: ["message", "turn", "tool", "agent"] },
} as const satisfies Readonly<Record<string, CheckpointPolicy>>;

/** Automatic checkpoints switched off. */
export const NO_CHECKPOINTS: CheckpointPolicy = { name: "off", triggers: [] };

/** The same for a while. */
export const PAUSED: CheckpointPolicy = { name: "paused", triggers: [] };
