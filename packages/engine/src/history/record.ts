/**
 * Records a capture as a checkpoint: the row, its gaps and doubts, and the changes since the workspace's
 * previous capture with their attribution. Everything in one transaction.
 */
import {
  CARRIED_LIMIT,
  type Checkpoint,
  type CheckpointRequest,
  type Doubt,
  type Gap,
} from "../model/checkpoint.ts";
import { countChanges } from "../diff/count-changes.ts";
import { pathToBytes } from "../model/byte-path.ts";
import type { CheckpointId, OperationId, ThreadId } from "../model/ids.ts";
import type { Asker, Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import type { CheckpointBefore } from "./checkpoints.ts";
import { insertDoubts, insertGaps, readGaps } from "./gaps-and-doubts.ts";
import { insertCheckpoint, type NewCheckpoint } from "./insert-checkpoint.ts";
import { attributeChanges, inOrder, type AttributedEdit, type AttributionMoment } from "./attribution.ts";
import { deltaHash, encodeChanges, insertChanges } from "./changes.ts";
import { appendEvent } from "./events.ts";
import { conversationFacts } from "./messages.ts";
import { appendOperation, type OperationKind } from "./operations.ts";
import { setFirstSessionBase, readOpenSession } from "./sessions.ts";
import { noteChange } from "./step-rows.ts";
import { touchThread } from "./threads.ts";

/** How a capture is recorded. */
export interface Recording {
  readonly request: CheckpointRequest;
  readonly description: string;
  readonly operation?: OperationKind;
  /** Who asked for the operation, where that is known. */
  readonly by?: Asker;
  /**
   * Set when Belay itself made the changes. They belong to this step, or to none (undo, redo), and then
   * concern the moved ones.
   */
  readonly madeBy?: { readonly step: string | null; readonly moved?: readonly string[] };
  /** Set when the changes came from another branch: its checkpoint, and the steps whose work it is. */
  readonly mergedFrom?: { readonly checkpoint: CheckpointId | null; readonly steps: readonly string[] };
}

/** What is known when a capture is recorded. */
interface Circumstances {
  /** What the capture found; all gaps and doubts, not only those that a checkpoint carries. */
  readonly facts: Pick<
    Checkpoint,
    "snapshot" | "rules" | "excluded" | "files" | "bytes" | "gaps" | "doubts" | "git"
  >;
  /** The time of recording, and what is known about agents at work until then. */
  readonly moment: AttributionMoment;
  readonly newId: () => string;
  /**
   * The checkpoint before, and what changed since; undefined for the first one. `changes` is undefined when that
   * checkpoint is damaged.
   */
  readonly since:
    | { readonly base: CheckpointBefore; readonly changes: readonly Edit[] | undefined }
    | undefined;
}

/** A capture that is a checkpoint now. */
export interface Recorded {
  readonly checkpoint: Checkpoint;
  readonly changes: readonly Edit[];
  readonly unchanged: boolean;
  /** How many files the checkpoint before has. */
  readonly filesBefore: number;
  /** False when the previous checkpoint is damaged: what changed since cannot be told. */
  readonly comparable: boolean;
  /** All of them; the checkpoint itself carries the first ones. */
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  readonly operationSeq: number;
  /** New contents of files that were stored for it; left out where none was read. */
  readonly stored?: { readonly objects: number; readonly bytes: number };
}

/** Records a capture; call inside a transaction. */
export function recordCheckpoint(db: Database, recording: Recording, known: Circumstances): Recorded {
  const { request } = recording;
  const { since, moment, newId } = known;
  const facts = { ...known.facts, doubts: inStoredOrder(known.facts.doubts) };
  const { now } = moment;
  const previous = since?.base;
  const changes = since?.changes ?? [];
  const attributed = attribute(db, recording, known);
  const rows = encodeChanges(attributed.changes);
  const row = {
    ...rowOf(recording, { ...known, facts }),
    ...threadFacts(db, request),
    parents: [previous?.id, recording.mergedFrom?.checkpoint].flatMap((id) => id ?? []),
    changes: countChanges(changes),
  };
  const checkpoint = insertCheckpoint(db, row, deltaHash(rows));
  insertGaps(db, checkpoint.seq, facts.gaps);
  insertDoubts(db, checkpoint.seq, facts.doubts);
  insertChanges(db, checkpoint.seq, rows, attributed.windows);
  const operationSeq = appendOperation(db, {
    id: newId() as OperationId,
    kind: recording.operation ?? "checkpoint",
    at: now,
    detail: {
      checkpoint: checkpoint.id,
      kind: request.kind ?? "manual",
      ...(request.thread !== undefined && { thread: request.thread }),
      ...(recording.by !== undefined && { by: recording.by }),
    },
  });
  for (const step of authorsOf(attributed)) noteChange(db, step, operationSeq);
  if (checkpoint.thread !== null) {
    setFirstSessionBase(db, checkpoint.thread, checkpoint.seq);
    touchThread(db, checkpoint.thread, { now, isAgent: AGENT_KINDS.has(checkpoint.kind) });
  }
  tell(db, checkpoint, attributed.changes, previous);
  return {
    checkpoint,
    changes,
    unchanged: previous?.snapshot === facts.snapshot,
    filesBefore: previous?.files ?? 0,
    comparable: since === undefined || since.changes !== undefined,
    gaps: facts.gaps,
    doubts: facts.doubts,
    operationSeq,
  };
}

/** [R870] The store has each doubt once, by path: the answer is not read from it again. */
function inStoredOrder(doubts: readonly Doubt[]): readonly Doubt[] {
  if (doubts.length < 2) return doubts;
  const unique = new Map(doubts.map((doubt) => [`${doubt.path}\0${doubt.reason}`, doubt]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, doubt]) => doubt);
}

/** The kinds of checkpoint that an agent's event causes. */
const AGENT_KINDS: ReadonlySet<string> = new Set(["message", "tool", "agent", "turn"]);

/** The steps that changed something; for shared changes, all that were open. */
function authorsOf({ changes, windows }: ReturnType<typeof attribute>): Set<string> {
  const own = changes.flatMap(({ step }) => step ?? []);
  const isShared = changes.some(({ attribution }) => attribution === "shared");
  return new Set(isShared ? [...own, ...windows] : own);
}

/** What a checkpoint records about its thread. */
function threadFacts(
  db: Database,
  { thread, messageIndex, conversation }: CheckpointRequest,
): Pick<Checkpoint, "session" | "messageIndex" | "conversation"> {
  const given = { messageIndex: messageIndex ?? null, conversation: conversation ?? null };
  if (thread === undefined) return { session: null, ...given };
  const { messageCount, lastMessageId, lastIndex } = conversationFacts(db, thread);
  const known = messageCount === 0 ? null : { messageCount, lastMessageId, artifacts: [] };
  return {
    session: readOpenSession(db, thread).name,
    messageIndex: given.messageIndex ?? lastIndex,
    conversation: given.conversation ?? known,
  };
}

/** At most this many edits of one capture become events. */
const TOLD_EDITS = 200;

function tell(
  db: Database,
  checkpoint: Checkpoint,
  changes: readonly AttributedEdit[],
  previous: CheckpointBefore | undefined,
): void {
  const { id, thread, createdAt: at, gaps, gapsTotal } = checkpoint;
  appendEvent(db, { type: "checkpoint_created", thread, at, data: { checkpoint: id } });
  const edits = changes.filter(
    ({ attribution, from, to }) => attribution === "tool" && (to ?? from)?.kind !== "directory",
  );
  for (const { path, step } of edits.slice(0, TOLD_EDITS)) {
    const by = db.get("SELECT thread FROM step WHERE id = ?", step);
    const data = { checkpoint: checkpoint.seq, path: pathToBytes(path).toString("base64") };
    appendEvent(db, { type: "file_edit", thread: (by?.["thread"] ?? null) as ThreadId | null, at, data });
  }
  if (gaps.length === 0) return;
  // a gap is reported when it appears, not with every checkpoint that still has it
  const before = previous === undefined ? [] : readGaps(db, previous.seq);
  const known = new Set(before.map(({ path }) => path));
  if (gaps.some(({ path }) => !known.has(path)))
    appendEvent(db, { type: "coverage_gap", thread, at, data: { checkpoint: id, gaps: gapsTotal } });
}

function rowOf(
  { request, description }: Recording,
  { facts, moment, newId }: Circumstances,
): Omit<NewCheckpoint, "parents" | "changes" | "session" | "messageIndex" | "conversation"> {
  return {
    id: newId() as CheckpointId,
    thread: request.thread ?? null,
    kind: request.kind ?? "manual",
    phase: request.phase ?? null,
    name: request.name ?? null,
    note: request.note ?? null,
    tags: (request.tags ?? []).toSorted(),
    description,
    createdAt: moment.now,
    snapshot: facts.snapshot,
    rules: facts.rules,
    excluded: facts.excluded,
    messageId: request.messageId ?? null,
    toolUseId: request.toolUseId ?? null,
    tool: request.tool ?? null,
    rolledBack: false,
    hasChanges: null,
    agent: request.agent ?? null,
    git: facts.git,
    files: facts.files,
    bytes: facts.bytes,
    gaps: facts.gaps.slice(0, CARRIED_LIMIT),
    gapsTotal: facts.gaps.length,
    doubts: facts.doubts.slice(0, CARRIED_LIMIT),
    doubtsTotal: facts.doubts.length,
  };
}

function attribute(
  db: Database,
  { madeBy, mergedFrom }: Recording,
  { since, moment, newId }: Circumstances,
): { changes: readonly AttributedEdit[]; windows: readonly string[] } {
  const changes = since?.changes ?? [];
  if (madeBy !== undefined)
    return {
      changes: changes.map((change) => ({
        ...change,
        attribution: mergedFrom === undefined ? ("belay" as const) : ("merge" as const),
        step: madeBy.step,
        during: null,
      })),
      windows: mergedFrom?.steps ?? madeBy.moved ?? [],
    };
  const { now } = moment;
  return inOrder(db, attributeChanges(db, changes, moment), { newId, now, before: since?.base.seq ?? 0 });
}
