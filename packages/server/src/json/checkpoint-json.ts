/** Checkpoints in the contract's shape. */
import type { Checkpoint, CheckpointDetails, Doubt, Gap, GitState, TakenCheckpoint } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { fileChangeJson } from "./diff-json.ts";
import { listField } from "./list-field.ts";
import { withPathJson } from "./path-json.ts";

/** What a checkpoint object does not contain. */
export interface CheckpointContext {
  readonly workspace: string;
  /** All of them, where the caller has more than the checkpoint carries. */
  readonly gaps?: readonly Gap[];
  readonly doubts?: readonly Doubt[];
}

type CheckpointJson = Json<typeof shapes.checkpoint>;

/** A checkpoint as the contract shows it. */
export function checkpointJson(checkpoint: Checkpoint, context: CheckpointContext): CheckpointJson {
  return {
    ...identityJson(checkpoint, context.workspace),
    messageId: checkpoint.messageId,
    messageIndex: checkpoint.messageIndex,
    toolUseId: checkpoint.toolUseId,
    tool: checkpoint.tool,
    rolledBack: checkpoint.rolledBack,
    agent: checkpoint.agent,
    conversation: checkpoint.conversation,
    git: gitJson(checkpoint.git),
    files: checkpoint.files,
    bytes: checkpoint.bytes,
    changes: checkpoint.changes,
    hasChanges: checkpoint.hasChanges,
    ...(checkpoint.undoDropped !== undefined && { undoDropped: checkpoint.undoDropped }),
    ...listField("gaps", (context.gaps ?? checkpoint.gaps).map(withPathJson)),
    gapsTotal: checkpoint.gapsTotal,
    ...listField("doubts", (context.doubts ?? checkpoint.doubts).map(withPathJson)),
    doubtsTotal: checkpoint.doubtsTotal,
  };
}

/** Checkpoints as the contract lists them. */
export function checkpointListJson(
  checkpoints: readonly Checkpoint[],
  options: { workspace: string; total: number },
): { readonly checkpoints: readonly CheckpointJson[]; readonly checkpointsTotal: number } {
  return {
    checkpoints: checkpoints.map((checkpoint) =>
      checkpointJson(checkpoint, { workspace: options.workspace }),
    ),
    checkpointsTotal: options.total,
  };
}

/** A checkpoint that was just taken. */
export function takenJson(taken: TakenCheckpoint, workspace: string): Json<typeof shapes.taken> {
  const { checkpoint, gaps, doubts, unchanged, stored, warnings, durationMs } = taken;
  return {
    checkpoint: checkpointJson(checkpoint, { workspace, gaps, doubts }),
    unchanged,
    stored,
    warnings,
    durationMs,
  };
}

/** A checkpoint with what it changed and what it leaves out. */
export function checkpointDetailsJson(
  details: CheckpointDetails,
  workspace: string,
): Json<typeof shapes.checkpointDetails> {
  const { checkpoint, files, gaps, doubts, excluded, outside, newBytes, limits } = details;
  return {
    checkpoint: checkpointJson(checkpoint, { workspace, gaps, doubts }),
    ...listField("files", files.map(fileChangeJson)),
    ...listField("excluded", excluded.map(withPathJson)),
    ...listField(
      "outside",
      outside.map(({ path, entry }) => ({
        path,
        type: entry === undefined ? ("absent" as const) : ("file" as const),
      })),
    ),
    newBytes,
    limits: { ...limits },
  };
}

function identityJson(checkpoint: Checkpoint, workspace: string) {
  const {
    id,
    seq,
    branch,
    fork,
    origin,
    fetchedFrom,
    synced,
    thread,
    session,
    kind,
    phase,
    name,
    note,
    tags,
    description,
    snapshot,
    parents,
  } = checkpoint;
  const createdAt = new Date(checkpoint.createdAt).toISOString();
  return {
    id,
    seq,
    workspace,
    branch,
    fork,
    origin: fetchedFrom ?? origin,
    synced,
    thread,
    session,
    kind,
    phase,
    name,
    note,
    tags,
    description,
    createdAt,
    snapshot,
    parents,
  };
}

/** What git said; null outside a repository. */
export function gitJson(git: GitState | null): Json<typeof shapes.gitState> | null {
  if (git === null) return null;
  return {
    branch: git.branch,
    commit: git.commit,
    dirty: git.dirty,
    ...listField("staged", git.staged),
  };
}
