/**
 * The restore journal: the running operation, written before its first change, marked settled by the
 * transaction that records the result, and removed with the staging directory. An unsettled row of a dead
 * process means: finish it or take it back. A settled one means: end its stage.
 */
import { pathFromBytes, pathToBytes } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId, OperationId, ThreadId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Asker, Edit, PlanKind, StepKind } from "../model/plan.ts";
import { assertSafePath, decodeEntry, encodeEntry } from "../model/tree.ts";
import type { MergeRecord } from "./merge-rows.ts";
import type { Database, Row } from "../store/database.ts";

/** What to record when the files are in place. */
export interface Finish {
  readonly kind: PlanKind;
  readonly description: string;
  readonly thread: ThreadId | null;
  /** The checkpoint to which a restore rewinds the conversation; null when it does not. */
  readonly target: CheckpointId | null;
  /** The step this restore becomes; null for undo and redo, which move steps instead. */
  readonly step: { readonly id: string; readonly kind: StepKind } | null;
  /** The turn the changes belong to: an aborted edit is not a step of its own. */
  readonly within?: string;
  /** Set when the conversation is rewound too, or alone. */
  readonly scope?: "conversation" | "both";
  /** Set when the working copy goes to another branch: their ids. */
  readonly branch?: { readonly from: number; readonly to: number };
  /** Set when the work of other branches comes in. */
  readonly merge?: MergeFinish;
  /** The checkpoint of the merge whose source a revert takes out whole. */
  readonly takesOut?: number;
  /** Set for the first files of a clone: the snapshot that an empty directory is to become. Its edits follow from it. */
  readonly fills?: ObjectHash;
  /** The steps that undo or redo moves to the other list, in order. */
  readonly moved: readonly string[];
  /** Who asked for it, where that is known. */
  readonly by?: Asker;
}

/** What to record of a merge when the files are in place. */
export interface MergeFinish {
  readonly record: MergeRecord;
  /** What each source brings, in their order; sources that bring nothing now are left out. */
  readonly parts: readonly { readonly source: number; readonly edits: readonly EncodedEdit[] }[];
}

/** One operation of the journal. */
export interface JournalEntry {
  readonly id: OperationId;
  /** The seq of the safety checkpoint. */
  readonly safety: number;
  readonly edits: readonly Edit[];
  readonly finish: Finish;
  readonly startedAt: number;
  /** True when the result is recorded and only the staging directory is left. */
  readonly settled: boolean;
}

/** Adds an operation, before its first change. */
export function writeJournal(db: Database, entry: Omit<JournalEntry, "settled">): void {
  const plan = Buffer.from(JSON.stringify(entry.edits.map(encodeEdit)), "utf8");
  db.run(
    "INSERT INTO journal (id, kind, safety, plan, finish, started_at, working_copy) VALUES (?, ?, ?, ?, ?, ?, ?)",
    entry.id,
    entry.finish.kind,
    entry.safety,
    plan,
    JSON.stringify(entry.finish),
    entry.startedAt,
    db.workingCopy,
  );
}

/** Operations of the journal, oldest first: those on the files here, or `all` that the store is needed for. */
export function readJournal(db: Database, which: "here" | "all" = "here"): JournalEntry[] {
  const rows = db.all(
    "SELECT * FROM journal WHERE working_copy = ?1 OR ?2 = 1 ORDER BY started_at",
    db.workingCopy,
    which === "all" ? 1 : 0,
  );
  try {
    return rows.map(toEntry);
  } catch (error) {
    // [R26] a row that cannot be read is never acted on
    throw new EngineError(
      "STORE_CORRUPT",
      "The record of an interrupted operation is damaged. It was not used; your files are untouched.",
      { store: "" },
      error,
    );
  }
}

/** Marks an operation as settled. Call inside the transaction that records its result. */
export function settleJournal(db: Database, id: OperationId): void {
  db.run("UPDATE journal SET settled = 1 WHERE id = ?", id);
}

/** The ids and states of the operations here, without their edits. The table is nearly always empty. */
export function listJournal(db: Database): Pick<JournalEntry, "id" | "settled">[] {
  return db.all("SELECT id, settled FROM journal WHERE working_copy = ?", db.workingCopy).map((row) => ({
    id: String(row["id"]) as OperationId,
    settled: Number(row["settled"]) === 1,
  }));
}

/** Operations that are neither finished nor taken back. */
export function readUnsettled(db: Database, which: "here" | "all" = "here"): JournalEntry[] {
  return readJournal(db, which).filter(({ settled }) => !settled);
}

/** Removes an operation from the journal of restores. */
export function removeJournal(db: Database, id: OperationId): void {
  db.run("DELETE FROM journal WHERE id = ?", id);
}

/** An edit as JSON. */
export type EncodedEdit = readonly [path: string, from: string | null, to: string | null];

/** An edit as JSON, for the journal of restores. */
export function encodeEdit({ path, from, to }: Edit): EncodedEdit {
  const entry = (value: Edit["from"]) => (value === undefined ? null : encodeEntry(value).toString("base64"));
  return [pathToBytes(path).toString("base64"), entry(from), entry(to)];
}

/** An edit that was JSON; throws on a path that leads out of the root. */
export function decodeEdit([path, from, to]: EncodedEdit): Edit {
  const entry = (value: string | null) =>
    value === null ? undefined : decodeEntry(Buffer.from(value, "base64"));
  const safe = assertSafePath(pathFromBytes(Buffer.from(path, "base64")));
  return { path: safe, from: entry(from), to: entry(to) };
}

function toEntry(row: Row): JournalEntry {
  const plan = Buffer.from(row["plan"] as Uint8Array).toString("utf8");
  return {
    id: String(row["id"]) as OperationId,
    safety: Number(row["safety"]),
    edits: (JSON.parse(plan) as EncodedEdit[]).map(decodeEdit),
    finish: JSON.parse(String(row["finish"])) as Finish,
    startedAt: Number(row["started_at"]),
    settled: Number(row["settled"]) === 1,
  };
}
