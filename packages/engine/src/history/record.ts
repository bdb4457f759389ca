/**
 * Records a capture as a checkpoint: the row, its gaps and doubts, and what changed since the workspace's
 * previous capture, each change attributed to whoever was at work. Everything in one transaction.
 */
import {
  CARRIED_LIMIT,
  type Checkpoint,
  type CheckpointRequest,
  type Doubt,
  type Gap,
  type GitState,
} from "../model/checkpoint.ts";
import type { CheckpointId, OperationId, ThreadId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import { insertCheckpoint, insertDoubts, insertGaps } from "./checkpoints.ts";
import { deltaHash, encodeChanges, insertChanges, type Attribution } from "./changes.ts";
import { appendOperation, type OperationKind } from "./operations.ts";
import { openSteps } from "./steps.ts";

/** What a capture found. */
export interface CaptureFacts {
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
  readonly excluded: ObjectHash;
  readonly files: number;
  readonly bytes: number;
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  readonly git: GitState | null;
}

export interface Recording {
  readonly request: CheckpointRequest;
  readonly facts: CaptureFacts;
  readonly now: number;
  readonly newId: () => string;
  readonly operation?: OperationKind;
  /** What changed, and on top of which checkpoint; undefined for the first one. */
  readonly since: { readonly base: Checkpoint; readonly changes: readonly Edit[] } | undefined;
  /** Belay itself made the changes: they belong to this step, or to none (undo, redo). */
  readonly madeBy?: { readonly step: string | null };
  readonly description: string;
}

export interface Recorded {
  readonly checkpoint: Checkpoint;
  readonly changes: readonly Edit[];
  readonly unchanged: boolean;
  readonly operationSeq: number;
}

/** Records a capture; call inside a transaction. */
export function recordCheckpoint(db: Database, recording: Recording): Recorded {
  const { facts, request, now } = recording;
  const previous = recording.since?.base;
  const changes = recording.since?.changes ?? [];
  const rows = encodeChanges(changes, attribute(db, recording));
  const row = {
    ...rowOf(recording),
    parents: previous === undefined ? [] : [previous.id],
    changes: countChanges(changes),
  };
  const checkpoint = insertCheckpoint(db, row, deltaHash(rows));
  insertGaps(db, checkpoint.seq, facts.gaps);
  insertDoubts(db, checkpoint.seq, facts.doubts);
  insertChanges(db, checkpoint.seq, rows);
  const operationSeq = appendOperation(db, {
    id: recording.newId() as OperationId,
    kind: recording.operation ?? "checkpoint",
    at: now,
    detail: { checkpoint: checkpoint.id, kind: request.kind ?? "manual" },
  });
  return { checkpoint, changes, unchanged: previous?.snapshot === facts.snapshot, operationSeq };
}

function rowOf({
  request,
  facts,
  now,
  newId,
  description,
}: Recording): Omit<Checkpoint, "seq" | "parents" | "changes"> {
  return {
    id: newId() as CheckpointId,
    thread: request.thread ?? null,
    session: null,
    kind: request.kind ?? "manual",
    phase: request.phase ?? null,
    name: request.name ?? null,
    note: request.note ?? null,
    tags: request.tags ?? [],
    description,
    createdAt: now,
    snapshot: facts.snapshot,
    rules: facts.rules,
    excluded: facts.excluded,
    messageId: request.messageId ?? null,
    messageIndex: request.messageIndex ?? null,
    toolUseId: request.toolUseId ?? null,
    tool: request.tool ?? null,
    rolledBack: false,
    hasChanges: null,
    agent: request.agent ?? null,
    conversation: request.conversation ?? null,
    git: facts.git,
    files: facts.files,
    bytes: facts.bytes,
    gaps: facts.gaps.slice(0, CARRIED_LIMIT),
    gapsTotal: facts.gaps.length,
    doubts: facts.doubts.slice(0, CARRIED_LIMIT),
    doubtsTotal: facts.doubts.length,
  };
}

/** Directories are not counted: people count files. */
export function countChanges(changes: readonly Edit[]): Checkpoint["changes"] {
  const count = { added: 0, modified: 0, deleted: 0 };
  for (const { from, to } of changes) {
    const before = from !== undefined && from.kind !== "directory";
    const after = to !== undefined && to.kind !== "directory";
    if (before && after) count.modified += 1;
    else if (after) count.added += 1;
    else if (before) count.deleted += 1;
  }
  return count;
}

/** One turn open since the last capture: it is its doing. Several: shared. None: somebody outside. */
function attribute(db: Database, recording: Recording): Attribution {
  if (recording.madeBy !== undefined)
    return { attribution: "belay", step: recording.madeBy.step, windows: [] };
  const open = openSteps(db).map(({ id }) => id);
  if (open.length === 0) return { attribution: "outside", step: null, windows: [] };
  if (open.length === 1) return { attribution: "tool", step: open[0]!, windows: [] };
  return { attribution: "shared", step: null, windows: open };
}

/** Whose changes lie between a checkpoint and now, by path: the threads that touched it. */
export function threadsSince(db: Database, seq: number): Map<string, Set<ThreadId>> {
  const byPath = new Map<string, Set<ThreadId>>();
  const rows = db.iterate(
    `SELECT DISTINCT g.path AS path, s.thread AS thread FROM change g
       JOIN step s ON s.id = g.step WHERE g.checkpoint > ? AND s.state = 'applied' AND s.thread IS NOT NULL AND s.kind = 'turn'`,
    seq,
  );
  for (const row of rows) {
    const path = Buffer.from(row["path"] as Uint8Array).toString("latin1");
    const threads = byPath.get(path) ?? new Set();
    byPath.set(path, threads.add(row["thread"] as ThreadId));
  }
  return byPath;
}
