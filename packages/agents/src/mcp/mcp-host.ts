/**
 * What the MCP server asks of whoever keeps the checkpoints. There is nothing here that forgets, prunes,
 * approves or switches anything off: a model may look, take checkpoints and propose to go back.
 */
export interface CheckpointFacts {
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly name: string | null;
  readonly description: string;
  readonly createdAt: string;
  readonly changes: { readonly added: number; readonly modified: number; readonly deleted: number };
}

export interface FileFacts {
  readonly path: string;
  readonly type: string;
  readonly linesAdded: number | null;
  readonly linesDeleted: number | null;
  /** Unified; null for binary files and where it was not asked for. */
  readonly diff: string | null;
}

/** A path that stands in the way, with the lines of both sides where there are any. */
export interface ConflictFacts {
  readonly path: string;
  readonly reason: string;
  readonly ours?: ConflictSideFacts | undefined;
  readonly theirs?: ConflictSideFacts | undefined;
  /** The checkpoint from which a restore of this path brings exactly what was wanted. */
  readonly restoreFrom?: string | undefined;
}

/** What is there now, or what was wanted. */
export interface ConflictSideFacts {
  readonly kind: string;
  readonly lines: readonly string[];
  readonly line: number | null;
  readonly more: number;
}

/** A command that the user can type. */
export interface WayOutFacts {
  readonly command: string;
  readonly does: string;
}

/** What a restore would do. Bound to the files as they are now. */
export interface RestorePreview {
  readonly planId: string;
  readonly description: string;
  readonly operations: readonly { readonly type: string; readonly path: string }[];
  readonly kept: readonly string[];
  readonly conflicts: readonly ConflictFacts[];
  /** How to go on in spite of conflicts; none without any. */
  readonly waysOut: readonly WayOutFacts[];
  readonly warnings: readonly string[];
}

export interface RestoreOutcome {
  readonly outcome: "applied" | "unchanged" | "conflicts" | "partial" | "displaced";
  readonly safetyCheckpoint: string | null;
  readonly created: number;
  readonly modified: number;
  readonly deleted: number;
  readonly conflicts: readonly ConflictFacts[];
  readonly waysOut: readonly WayOutFacts[];
  /** What another program wrote while files were put in place, and the checkpoint that holds it. */
  readonly displaced: readonly { readonly path: string; readonly checkpoint: string }[];
  /** What was done because of it: hooks that were put back. */
  readonly warnings: readonly string[];
}

export interface McpHost {
  create(request: { readonly name?: string; readonly note?: string }): Promise<CheckpointFacts>;
  list(options: { readonly limit: number; readonly search?: string }): Promise<readonly CheckpointFacts[]>;
  show(ref: string): Promise<{ readonly checkpoint: CheckpointFacts; readonly files: readonly FileFacts[] }>;
  /** `to` left out: the disk. */
  diff(request: DiffRequest): Promise<{ readonly files: readonly FileFacts[] }>;
  preview(ref: string, paths?: readonly string[]): Promise<RestorePreview>;
  /** Carries out a plan that was previewed; fails when the files moved on since. */
  restore(planId: string): Promise<RestoreOutcome>;
}

export interface DiffRequest {
  readonly from?: string;
  readonly to?: string;
  readonly paths?: readonly string[];
}
