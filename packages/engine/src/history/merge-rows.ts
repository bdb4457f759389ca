/**
 * Rows of merges and their conflicts. A merge is data: which branches came in, what became of each, and what is left to
 * decide. Whether the work of a source is still in the files follows from the steps: see `meetings.ts`.
 */
import { pathFromBytes, pathToBytes, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type {
  ConflictFact,
  ConflictRegion,
  DroppedLine,
  MergeCheck,
  MergeConflictKind,
  MergedPath,
  MergeOption,
  MergeState,
  MergeTake,
  NotMerged,
  OnConflict,
  ResolvedBy,
  Severity,
  SourceOutcome,
} from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { assertSafePath, decodeEntry, encodeEntry } from "../model/tree.ts";
import type { Database, Row } from "../store/database.ts";
import { MAIN_BRANCH } from "../store/schema.ts";
import { setBranchState } from "./branches.ts";

/** One source of a merge; `bases`, `head` and `checkpoint` are seqs. */
export interface SourceRecord {
  readonly branch: number;
  readonly bases: readonly number[];
  readonly head: number;
  readonly outcome: SourceOutcome;
  /** The checkpoint that brought all of it; null while it is held back. */
  readonly checkpoint: number | null;
  /** The step that did. */
  readonly step: string | null;
  /** The step that took it out again, by itself. */
  readonly takenOutBy: string | null;
}

/** A merge as it is stored. */
export interface MergeRecord {
  readonly id: string;
  readonly into: number;
  /** The seq of the target's head when it was planned. */
  readonly intoHead: number;
  readonly onConflict: OnConflict;
  readonly sources: readonly SourceRecord[];
  readonly merged: readonly MergedPath[];
  /** What sources that are held back combine by themselves. */
  readonly clean: readonly MergedPath[];
  readonly notMerged: readonly NotMerged[];
  readonly checks: readonly MergeCheck[];
  /** Those that this record opens or opens again. */
  readonly conflicts: readonly ConflictRecord[];
  readonly createdAt: number;
}

/** Content that was made for a conflict and is in the store. */
export interface MadeText {
  readonly hash: ObjectHash;
  readonly size: number;
}

/** What the analysis found out about a conflict. */
export interface ConflictFacts {
  readonly reasons: readonly ConflictFact[];
  readonly regions: readonly ConflictRegion[];
  readonly options: readonly MergeOption[];
  readonly agents: readonly string[];
  readonly proposal: MadeText | null;
  /** The other path of a rename, and what the two sides have there. */
  readonly other: {
    readonly path: BytePath;
    readonly ours: Entry | null;
    readonly theirs: Entry | null;
  } | null;
  /** What the two sides have at the path itself: in a rename, the versions may come from the other one. */
  readonly here: { readonly ours: Entry | null; readonly theirs: Entry | null };
  /** What a merger agent made, which a person may take. */
  readonly merger?: MadeText & { readonly explanation: string; readonly dropped: readonly DroppedLine[] };
}

/** What is said about a decision, or about the part of it that is made. */
export interface ResolutionNote {
  readonly take?: MergeTake;
  readonly explanation?: string | null;
  readonly dropped?: readonly DroppedLine[];
  readonly chosen?: Readonly<Record<number, MergeOption>>;
}

/** A path and what is to stand there; null: nothing. */
export type ResultEntry = readonly [path: BytePath, entry: Entry | null];

/** A conflict as it is stored. */
export interface ConflictRecord {
  readonly id: string;
  readonly merge: string;
  readonly sourceBranch: number;
  readonly path: BytePath;
  readonly kind: MergeConflictKind;
  readonly severity: Severity;
  readonly base: Entry | null;
  readonly ours: Entry | null;
  readonly theirs: Entry | null;
  readonly facts: ConflictFacts;
  readonly state: "open" | "resolved";
  /** What the decision comes to; null while it is open. */
  readonly result: readonly ResultEntry[] | null;
  readonly by: ResolvedBy | null;
  readonly note: ResolutionNote;
  readonly at: number | null;
}

/** A merge as it is listed. */
export interface MergeRow extends Omit<MergeRecord, "conflicts"> {
  readonly state: MergeState;
}

/** Adds a merge, or replaces what is known of it, and opens its conflicts. Call inside a transaction. */
export function putMerge(
  db: Database,
  merge: MergeRecord,
  { state, step, now }: { state: MergeState; step: string | null; now: number },
): void {
  const { id, into, intoHead, onConflict, sources, merged, clean, notMerged, checks, createdAt } = merge;
  db.run(
    `INSERT INTO merge (id, into_branch, into_head, sources, state, step, checks, report, created_at, closed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET sources = excluded.sources, state = excluded.state, step = excluded.step,
         checks = excluded.checks, report = excluded.report, closed_at = excluded.closed_at`,
    id,
    into,
    intoHead,
    JSON.stringify(sources),
    state,
    step,
    JSON.stringify(checks),
    JSON.stringify({ onConflict, merged, clean, notMerged }),
    createdAt,
    state === "open" ? null : now,
  );
  for (const conflict of merge.conflicts) putConflict(db, conflict);
}

/** Ends a merge without its conflicts being decided. */
export function setMergeState(db: Database, id: string, state: MergeState, now: number): void {
  db.run("UPDATE merge SET state = ?, closed_at = ? WHERE id = ?", state, state === "open" ? null : now, id);
}

/** Changes what is known of a merge's sources. */
function setSources(db: Database, id: string, sources: readonly SourceRecord[]): void {
  db.run("UPDATE merge SET sources = ? WHERE id = ?", JSON.stringify(sources), id);
}

/** Merges, newest first; of one branch or of all. */
export function listMerges(
  db: Database,
  { into, state }: { into?: number; state?: MergeState } = {},
): MergeRow[] {
  return db
    .all(
      `SELECT * FROM merge WHERE (?1 IS NULL OR into_branch = ?1) AND (?2 IS NULL OR state = ?2)
         ORDER BY created_at DESC, id DESC`,
      into ?? null,
      state ?? null,
    )
    .map(toMerge);
}

/** The merge with this id; undefined when there is none. */
export function mergeAt(db: Database, id: string): MergeRow | undefined {
  const row = db.get("SELECT * FROM merge WHERE id = ?", id);
  return row === undefined ? undefined : toMerge(row);
}

/** The merge with this id; throws `MERGE_NOT_FOUND`. */
export function findMerge(db: Database, id: string): MergeRow {
  const merge = mergeAt(db, id);
  if (merge !== undefined) return merge;
  throw new EngineError("MERGE_NOT_FOUND", `There is no merge "${id}". Nothing was changed.`, { merge: id });
}

/** Adds a conflict, or replaces what is known of it. */
export function putConflict(db: Database, conflict: ConflictRecord): void {
  const entry = (value: Entry | null) => (value === null ? null : encodeEntry(value));
  const { id, merge, sourceBranch, path, kind, base, ours, theirs, severity, state, result, by, at } =
    conflict;
  db.run(
    `INSERT OR REPLACE INTO conflict
       (id, merge, source_branch, path, kind, base, ours, theirs, facts, severity, state, result, by, note, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    merge,
    sourceBranch,
    pathToBytes(path),
    kind,
    entry(base),
    entry(ours),
    entry(theirs),
    JSON.stringify(conflict.facts),
    severity,
    state,
    result === null ? null : JSON.stringify(result),
    by,
    JSON.stringify(conflict.note),
    at,
  );
}

/** The conflicts of a merge, or of all merges that are open: by path, those of one path in the order in which they came. */
export function listConflicts(db: Database, merge?: string): ConflictRecord[] {
  return db
    .all(
      `SELECT c.* FROM conflict c JOIN merge m ON m.id = c.merge WHERE CASE WHEN ?1 IS NULL THEN m.state = 'open'
         ELSE c.merge = ?1 END ORDER BY c.path, m.created_at, c.source_branch, c.id`,
      merge ?? null,
    )
    .map(toConflict);
}

/** Forgets the conflicts about which something holds; a merge that is open finds them again. Call inside a transaction. */
export function forgetConflicts(db: Database, isForgotten: (path: BytePath, entry: Entry) => boolean): void {
  for (const conflict of db.all("SELECT * FROM conflict").map(toConflict)) {
    const { path, facts, base, ours, theirs, result } = conflict;
    const here = [base, ours, theirs, facts.here.ours, facts.here.theirs].map(
      (entry) => [path, entry] as const,
    );
    const there = [facts.other?.ours, facts.other?.theirs].map(
      (entry) => [facts.other?.path ?? path, entry] as const,
    );
    const isHit = [...here, ...there, ...(result ?? [])].some(
      ([at, entry]) =>
        entry !== null && entry !== undefined && entry.kind !== "gap" && isForgotten(at, entry),
    );
    if (isHit) db.run("DELETE FROM conflict WHERE id = ?", conflict.id);
  }
}

/** The conflict with this id; undefined when there is none. */
export function conflictAt(db: Database, id: string): ConflictRecord | undefined {
  const row = db.get("SELECT * FROM conflict WHERE id = ?", id);
  return row === undefined ? undefined : toConflict(row);
}

/** How many conflicts of open merges nothing was decided about yet. */
export function countOpenConflicts(db: Database): number {
  const row = db.get(
    "SELECT count(*) AS n FROM conflict WHERE state = 'open' AND merge IN (SELECT id FROM merge WHERE state = 'open')",
  );
  return Number(row?.["n"] ?? 0);
}

/** The source that a checkpoint brought in; undefined for every other checkpoint. */
function sourceBroughtBy(
  db: Database,
  seq: number,
): { readonly merge: MergeRow; readonly source: SourceRecord } | undefined {
  for (const merge of listMerges(db)) {
    const source = merge.sources.find(({ checkpoint }) => checkpoint === seq);
    if (source !== undefined) return { merge, source };
  }
  return undefined;
}

/** Notes that a step took out the source that a checkpoint brought. Call inside the transaction that records it. */
export function noteTakenOut(db: Database, seq: number, { step, now }: { step: string; now: number }): void {
  const brought = sourceBroughtBy(db, seq);
  if (brought === undefined) return;
  const { merge, source } = brought;
  const sources = merge.sources.map((each) => (each === source ? { ...each, takenOutBy: step } : each));
  setSources(db, merge.id, sources);
  markBranch(db, source.branch, "open", now);
}

/** Branches whose work an undo took out are open again, and merged after a redo. Call inside the same transaction. */
export function moveSources(
  db: Database,
  step: string,
  { to, now }: { to: "applied" | "undone"; now: number },
): void {
  for (const { sources } of listMerges(db))
    for (const source of sources) {
      if (source.step === step) markBranch(db, source.branch, to === "applied" ? "merged" : "open", now);
      else if (source.takenOutBy === step)
        markBranch(db, source.branch, to === "applied" ? "open" : "merged", now);
    }
}

/** The first branch is never over: forks are brought up to date from it. */
export function markBranch(db: Database, branch: number, state: "open" | "merged", now: number): void {
  const row = db.get("SELECT state FROM branch WHERE id = ?", branch);
  if (branch !== MAIN_BRANCH && row?.["state"] !== "discarded") setBranchState(db, branch, state, now);
}

/** The ids of the steps on a branch that changed something after its bases, up to its head. */
export function stepsOfSource(db: Database, { branch, bases, head }: SourceRecord): string[] {
  return db
    .all(
      `SELECT id FROM step WHERE branch = ? AND changed = 1 AND state IN ('applied', 'open')
         AND coalesce(after, ?) > ? AND before <= ? ORDER BY seq`,
      branch,
      head,
      Math.max(0, ...bases),
      head,
    )
    .map((row) => String(row["id"]));
}

function toMerge(row: Row): MergeRow {
  const report = JSON.parse(String(row["report"])) as Pick<
    MergeRecord,
    "onConflict" | "merged" | "notMerged"
  > &
    Partial<Pick<MergeRecord, "clean">>;
  return {
    // a merge that an earlier version recorded does not say it
    clean: [],
    ...report,
    id: String(row["id"]),
    into: Number(row["into_branch"]),
    intoHead: Number(row["into_head"]),
    sources: JSON.parse(String(row["sources"])) as SourceRecord[],
    state: row["state"] as MergeState,
    checks: JSON.parse(String(row["checks"])) as MergeCheck[],
    createdAt: Number(row["created_at"]),
  };
}

function toConflict(row: Row): ConflictRecord {
  const entry = (column: string) => (row[column] === null ? null : decodeEntry(row[column] as Uint8Array));
  const result = row["result"] === null ? null : (JSON.parse(String(row["result"])) as ResultEntry[]);
  for (const [path] of result ?? []) assertSafePath(path);
  return {
    id: String(row["id"]),
    merge: String(row["merge"]),
    sourceBranch: Number(row["source_branch"]),
    // what a check refuses is not a single path
    path: row["kind"] === "check" ? ROOT_PATH : assertSafePath(pathFromBytes(row["path"] as Uint8Array)),
    kind: row["kind"] as MergeConflictKind,
    severity: row["severity"] as Severity,
    base: entry("base"),
    ours: entry("ours"),
    theirs: entry("theirs"),
    facts: JSON.parse(String(row["facts"])) as ConflictFacts,
    state: row["state"] as ConflictRecord["state"],
    result,
    by: row["by"] as ResolvedBy | null,
    note: (row["note"] === null ? {} : JSON.parse(String(row["note"]))) as ResolutionNote,
    at: row["at"] === null ? null : Number(row["at"]),
  };
}
