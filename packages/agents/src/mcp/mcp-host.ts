/**
 * What the MCP server needs of the program that keeps the checkpoints. Nothing here forgets, prunes, approves or switches
 * anything off: a model may look, take checkpoints and propose to go back.
 */
import type { Json } from "@belay/protocol/shapes";
import type * as shapes from "./shapes.ts";

/** A checkpoint as models see it. */
export type CheckpointFacts = Json<typeof shapes.checkpoint>;

/** A changed file as models see it. */
export type FileFacts = Json<typeof shapes.file>;

/** What a restore would do. Bound to the files as they are now. */
export interface RestorePreview extends Json<typeof shapes.preview> {
  /** The code that stands for the consent of a user who saw the preview: no other way leads to the plan. */
  readonly planId: string;
}

/** What a restore did. */
export type RestoreOutcome = Json<typeof shapes.outcome>;

/** The keeper of the checkpoints. */
export interface McpHost {
  create(request: { readonly name?: string; readonly note?: string }): Promise<CheckpointFacts>;
  list(options: { readonly limit: number; readonly search?: string }): Promise<readonly CheckpointFacts[]>;
  show(ref: string): Promise<{ readonly checkpoint: CheckpointFacts; readonly files: readonly FileFacts[] }>;
  /** `to` left out = the disk. */
  diff(request: DiffRequest): Promise<{ readonly files: readonly FileFacts[] }>;
  preview(ref: string, paths?: readonly string[]): Promise<RestorePreview>;
  /** Carries out a plan that was previewed, once and not for long after; fails when the files moved on since. */
  restore(planId: string): Promise<RestoreOutcome>;
  /** Forgets a plan that the user declined. */
  decline(planId: string): void;
}

/** Which states to compare. */
export interface DiffRequest {
  readonly from?: string;
  readonly to?: string;
  readonly paths?: readonly string[];
}
