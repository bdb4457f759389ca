/** Writes the row of a checkpoint: one that was captured here, or one from elsewhere. */
import type { Checkpoint } from "../model/checkpoint.ts";
import { hashToBytes } from "../model/object-hash.ts";
import { remoteOrigin } from "../model/origin.ts";
import type { Database, Value } from "../store/database.ts";
import { ELSEWHERE } from "../store/schema.ts";
import { deltaHash } from "./changes.ts";
import { SEAL_VERSION, sealOf } from "./checkpoint-seal.ts";
import { placeOf, TAG_PREFIX } from "./checkpoints.ts";
import { branchHere } from "./line.ts";

/** A checkpoint before it has its place in the store. */
export type NewCheckpoint = Omit<
  Checkpoint,
  "seq" | "branch" | "fork" | "origin" | "arrivedAt" | "fetchedFrom" | "synced"
>;

/** Where a checkpoint comes from that was captured elsewhere, and when it came. */
export interface Arrival {
  readonly origin: string;
  readonly arrivedAt: number;
}

/** The hash of no changes: what a checkpoint from elsewhere changed here. */
const NO_CHANGES = deltaHash([]);

/**
 * Adds a checkpoint whose changes hash to `delta`, as the head of the branch here, and returns it with its seq. Call
 * inside a transaction.
 */
export function insertCheckpoint(db: Database, checkpoint: NewCheckpoint, delta: Buffer): Checkpoint {
  const branch = branchHere(db);
  const seq = insertRow(db, checkpoint, {
    delta,
    branch,
    working_copy: db.workingCopy,
    origin: null,
    arrived_at: null,
  });
  // a new store has its first branch before it has a clock: that begins with its first checkpoint
  const { name } =
    db.get(
      "UPDATE branch SET head = ?1, created_at = CASE created_at WHEN 0 THEN ?2 ELSE created_at END WHERE id = ?3 RETURNING name",
      seq,
      checkpoint.createdAt,
      branch,
    ) ?? {};
  const here = { origin: null, fetchedFrom: null, arrivedAt: null, synced: null };
  return { ...checkpoint, seq, ...placeOf(String(name), db.workingCopy), ...here };
}

/**
 * [R371] Adds a checkpoint that was captured elsewhere: it is on no branch, so it is the head of none. `delta` covers what
 * it changed there, if that is known. Call inside a transaction.
 */
export function insertArrival(
  db: Database,
  checkpoint: NewCheckpoint,
  { origin, arrivedAt, delta = NO_CHANGES }: Arrival & { readonly delta?: Buffer },
): Checkpoint {
  const place = { branch: ELSEWHERE, working_copy: ELSEWHERE };
  const seq = insertRow(db, checkpoint, { delta, ...place, origin, arrived_at: arrivedAt });
  const fetchedFrom = remoteOrigin(origin) ?? null;
  return { ...checkpoint, seq, branch: null, fork: null, origin, fetchedFrom, arrivedAt, synced: null };
}

/** What a row has that its checkpoint does not say. */
interface OwnColumns {
  readonly delta: Buffer;
  readonly branch: number;
  readonly working_copy: number;
  readonly origin: string | null;
  readonly arrived_at: number | null;
}

function insertRow(db: Database, checkpoint: NewCheckpoint, own: OwnColumns): number {
  const columns: Record<string, Value> = {
    id: checkpoint.id,
    thread: checkpoint.thread,
    session: checkpoint.session,
    kind: checkpoint.kind,
    phase: checkpoint.phase,
    name: checkpoint.name,
    note: checkpoint.note,
    description: checkpoint.description,
    created_at: checkpoint.createdAt,
    snapshot: hashToBytes(checkpoint.snapshot),
    rules: hashToBytes(checkpoint.rules),
    excluded: hashToBytes(checkpoint.excluded),
    parents: JSON.stringify(checkpoint.parents),
    message_id: checkpoint.messageId,
    message_index: checkpoint.messageIndex,
    tool_use_id: checkpoint.toolUseId,
    tool: checkpoint.tool,
    agent: toJson(checkpoint.agent),
    conversation: toJson(checkpoint.conversation),
    git: toJson(checkpoint.git),
    files: checkpoint.files,
    bytes: checkpoint.bytes,
    added: checkpoint.changes.added,
    modified: checkpoint.changes.modified,
    deleted: checkpoint.changes.deleted,
    seal: sealOf(checkpoint, own.delta),
    sealed: SEAL_VERSION,
    ...own,
  };
  insertion ??= insertionOf(Object.keys(columns));
  const { lastId } = db.run(insertion, ...Object.values(columns));
  for (const tag of checkpoint.tags)
    db.run("INSERT INTO ref (name, checkpoint) VALUES (?, ?)", TAG_PREFIX + tag, lastId);
  return lastId;
}

/** The same text for every row: the columns are always the same. */
let insertion: string | undefined;

function insertionOf(names: readonly string[]): string {
  return `INSERT INTO checkpoint (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
