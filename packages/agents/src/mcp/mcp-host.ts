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

/** A branch as models see it. */
export type BranchFacts = Json<typeof shapes.branch>;

/** What a restore did. */
export type RestoreOutcome = Json<typeof shapes.outcome>;

/** A merge that was not carried out. */
export type MergeFacts = Json<typeof shapes.mergePreview>;

/** A conflict of a merge. */
export type MergeConflictFacts = Json<typeof shapes.mergeConflict>;

/** A conflict with what its sides hold. */
export type MergeConflictContents = Json<typeof shapes.mergeConflictContents>;

/** The keeper of the checkpoints. */
export interface McpHost {
  create(request: { readonly name?: string; readonly note?: string }): Promise<CheckpointFacts>;
  list(options: { readonly limit: number; readonly search?: string }): Promise<readonly CheckpointFacts[]>;
  show(ref: string): Promise<{ readonly checkpoint: CheckpointFacts; readonly files: readonly FileFacts[] }>;
  /** Pieces of files that answer a question, best first: on disk, or in a checkpoint. */
  find(question: FindQuestion): Promise<Json<typeof shapes.findOutput>["hits"]>;
  /** When each line that has a text was there, who brought it and who took it out; newest first. */
  history(question: HistoryQuestion): Promise<Json<typeof shapes.historyOutput>["spans"]>;
  /** `to` left out = the disk. */
  diff(request: DiffRequest): Promise<{ readonly files: readonly FileFacts[] }>;
  branches(): Promise<readonly BranchFacts[]>;
  /** What merging branches would do; nothing is stored or changed. */
  mergePreview(branches: readonly string[]): Promise<MergeFacts>;
  conflicts(): Promise<readonly MergeConflictFacts[]>;
  conflict(ref: string): Promise<MergeConflictContents>;
  preview(ref: string, paths?: readonly string[]): Promise<RestorePreview>;
  /** Carries out a plan that was previewed, once and not for long after; fails when the files moved on since. */
  restore(planId: string): Promise<RestoreOutcome>;
  /** Forgets a plan that the user declined. */
  decline(planId: string): void;
}

/** What is looked for in the files. */
export interface FindQuestion {
  readonly query: string;
  readonly k: number;
  readonly checkpoint?: string;
}

/** Which lines are looked for in all checkpoints. */
export interface HistoryQuestion {
  readonly text: string;
  readonly limit: number;
  readonly paths?: readonly string[];
}

/** Which states to compare. */
export interface DiffRequest {
  readonly from?: string;
  readonly to?: string;
  readonly paths?: readonly string[];
}
