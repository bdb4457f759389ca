/**
 * A checkpoint of another line, made of its records. Records are signed by a member, yet another member's machine may be
 * broken or worse: whatever has another shape is damage, and no path is believed that Belay never captures.
 */
import type { Attribution } from "../history/changes.ts";
import type { NewCheckpoint } from "../history/insert-checkpoint.ts";
import { parseJson } from "../history/row-json.ts";
import { displayPath, pathFromBytes, type BytePath } from "../model/byte-path.ts";
import {
  CARRIED_LIMIT,
  type CheckpointKind,
  type CheckpointPhase,
  type Doubt,
  type Gap,
} from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { HistoryRecord } from "../model/exchange.ts";
import type { CheckpointId } from "../model/ids.ts";
import { HASH_BYTES, hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { assertSafePath, decodeEntry } from "../model/tree.ts";
import { neverCapturedAt } from "../rules/hard-excludes.ts";
import { decodeValue } from "./history-records.ts";

/** What another line says of one checkpoint. */
export interface FetchedState {
  readonly checkpoint: NewCheckpoint;
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  /** What it changed there; no step here made these changes. */
  readonly changes: readonly (Edit & Attribution)[];
}

type Fields = HistoryRecord["row"];

/** The state that a checkpoint's record, and the records of what belongs to it, describe. */
export function fetchedState(record: HistoryRecord, parts: readonly HistoryRecord[]): FetchedState {
  try {
    const rowsOf = (table: string): Fields[] =>
      parts.flatMap(({ row }) => (row["table"] === table && Array.isArray(row["rows"]) ? row["rows"] : []));
    const gaps = rowsOf("gap").map((row): Gap => ({
      path: pathIn(row),
      reason: text(row, "reason") as Gap["reason"],
      size: number(row, "size"),
    }));
    const doubts = rowsOf("doubt").map((row): Doubt => ({
      path: pathIn(row),
      reason: text(row, "reason") as Doubt["reason"],
    }));
    const changes = rowsOf("change").map((row) => ({
      path: pathIn(row),
      from: entryIn(row, "old"),
      to: entryIn(row, "new"),
      attribution: "belay" as const,
      step: null,
      during: null,
    }));
    return { checkpoint: toCheckpoint(record, gaps, doubts), gaps, doubts, changes };
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw damaged(record.id, "its record has another shape", cause);
  }
}

function toCheckpoint(
  { id, row }: HistoryRecord,
  gaps: readonly Gap[],
  doubts: readonly Doubt[],
): NewCheckpoint {
  const json = (column: string) => parseJson(row[column] ?? null);
  const textOrNull = (column: string) => (typeof row[column] === "string" ? row[column] : null);
  const parents: unknown = json("parents");
  return {
    id: id as CheckpointId,
    // a conversation stays where it was
    thread: null,
    session: null,
    kind: text(row, "kind") as CheckpointKind,
    phase: textOrNull("phase") as CheckpointPhase | null,
    name: textOrNull("name"),
    note: textOrNull("note"),
    tags: [],
    description: text(row, "description"),
    createdAt: number(row, "created_at"),
    snapshot: hashIn(row, "snapshot"),
    rules: hashIn(row, "rules"),
    excluded: hashIn(row, "excluded"),
    parents: (Array.isArray(parents) ? parents : []).map((parent) => String(parent) as CheckpointId),
    messageId: textOrNull("message_id"),
    messageIndex: typeof row["message_index"] === "number" ? row["message_index"] : null,
    toolUseId: textOrNull("tool_use_id"),
    tool: textOrNull("tool"),
    rolledBack: false,
    hasChanges: null,
    agent: json("agent") as NewCheckpoint["agent"],
    conversation: json("conversation") as NewCheckpoint["conversation"],
    git: json("git") as NewCheckpoint["git"],
    files: number(row, "files"),
    bytes: number(row, "bytes"),
    changes: {
      added: number(row, "added"),
      modified: number(row, "modified"),
      deleted: number(row, "deleted"),
    },
    gaps: gaps.slice(0, CARRIED_LIMIT),
    gapsTotal: gaps.length,
    doubts: doubts.slice(0, CARRIED_LIMIT),
    doubtsTotal: doubts.length,
  };
}

function text(row: Fields, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`${column} is not text`);
  return value;
}

function number(row: Fields, column: string): number {
  const value = row[column];
  if (typeof value !== "number" || !Number.isFinite(value)) throw new TypeError(`${column} is not a number`);
  return value;
}

function bytesIn(row: Fields, column: string): Uint8Array | null {
  const value = decodeValue(row[column] ?? null);
  if (value === null || value instanceof Uint8Array) return value;
  throw new TypeError(`${column} holds no bytes`);
}

function hashIn(row: Fields, column: string): ObjectHash {
  const bytes = bytesIn(row, column);
  if (bytes?.length !== HASH_BYTES) throw new TypeError(`${column} is not a hash`);
  return hashFromBytes(bytes);
}

function pathIn(row: Fields): BytePath {
  const path = assertSafePath(pathFromBytes(bytesIn(row, "path") ?? Buffer.alloc(0)));
  const never = neverCapturedAt(path);
  if (never !== undefined) throw damaged("", `it holds ${displayPath(never)}, which Belay never captures`);
  return path;
}

function entryIn(row: Fields, column: string): Entry | undefined {
  const bytes = bytesIn(row, column);
  return bytes === null ? undefined : decodeEntry(bytes);
}

/** What another line says cannot be true. */
export function damaged(checkpoint: string, reason: string, cause?: unknown): EngineError<"OBJECT_CORRUPT"> {
  return new EngineError(
    "OBJECT_CORRUPT",
    `What arrived cannot be used: ${reason}. Nothing was kept.`,
    { object: "", checkpoints: checkpoint === "" ? [] : [checkpoint] },
    cause,
  );
}
