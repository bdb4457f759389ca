/** A checkpoint in the contract's shape. */
import type { Checkpoint, Doubt, Gap, GitState } from "@belay/engine";
import { listField } from "./list-field.ts";
import { withPathJson } from "./path-json.ts";

export interface CheckpointContext {
  readonly workspace: string;
  /** All of them, where the caller has more than the checkpoint carries. */
  readonly gaps?: readonly Gap[];
  readonly doubts?: readonly Doubt[];
}

export function checkpointJson(checkpoint: Checkpoint, context: CheckpointContext) {
  return {
    ...identityJson(checkpoint, context.workspace),
    messageId: checkpoint.messageId,
    messageIndex: checkpoint.messageIndex,
    toolUseId: checkpoint.toolUseId,
    tool: checkpoint.tool,
    rolledBack: checkpoint.rolledBack,
    agent: checkpoint.agent,
    conversation: checkpoint.conversation,
    git: checkpoint.git === null ? null : gitJson(checkpoint.git),
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

/** Rows of a list. */
export function checkpointListJson(
  checkpoints: readonly Checkpoint[],
  options: { workspace: string; total: number },
) {
  return {
    checkpoints: checkpoints.map((checkpoint) =>
      checkpointJson(checkpoint, { workspace: options.workspace }),
    ),
    checkpointsTotal: options.total,
  };
}

function identityJson(checkpoint: Checkpoint, workspace: string) {
  const { id, seq, thread, session, kind, phase, name, note, tags, description, snapshot, parents } =
    checkpoint;
  const createdAt = new Date(checkpoint.createdAt).toISOString();
  return {
    id,
    seq,
    workspace,
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

function gitJson(git: GitState) {
  return {
    branch: git.branch,
    commit: git.commit,
    dirty: git.dirty,
    ...listField("staged", git.staged),
  };
}
