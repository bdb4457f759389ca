/** Rows of forks: the working copies of a store beside its root. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { Fork, ForkDependency, ForkState } from "../model/fork.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import { MAIN_WORKING_COPY, type Database, type Row } from "../store/database.ts";

/** What is known of how a fork was made. */
export interface ForkFacts {
  readonly name: string;
  readonly files: number;
  readonly bytesOnDisk: number;
  readonly dependencies: readonly ForkDependency[];
  readonly git: "private" | "none";
  readonly durationMs: number;
  /** Where it was before it was put into the trash. */
  readonly place?: string;
  /** What was captured when it was put into the trash. */
  readonly captured?: { readonly seq: number; readonly snapshot: ObjectHash };
}

/** A fork as it is stored. */
export interface ForkRow extends ForkFacts {
  readonly workingCopy: number;
  readonly root: AbsolutePath;
  readonly dev: string;
  readonly ino: string;
  readonly birth: string;
  readonly branch: number;
  readonly branchName: string;
  readonly base: CheckpointId | null;
  readonly head: CheckpointId | null;
  readonly state: ForkState | "spare";
  readonly method: Fork["method"];
  readonly bytes: number;
  readonly port: number | null;
  readonly owner: ProcessIdentity | undefined;
  readonly createdAt: number;
  readonly removedAt: number | null;
  /** The run that is at work there. */
  readonly run: string | null;
}

const SELECT = `SELECT w.*, b.name AS branch_name, c.id AS base_id, h.id AS head_id,
  (SELECT r.id FROM run r WHERE r.working_copy = w.id AND r.ended_at IS NULL LIMIT 1) AS run_id FROM working_copy w
  JOIN branch b ON b.id = w.branch LEFT JOIN checkpoint c ON c.seq = b.base LEFT JOIN checkpoint h ON h.seq = b.head
  WHERE w.id <> ${MAIN_WORKING_COPY}`;

/** All forks, oldest first; those that are gone, or only spare, where they are asked for. */
export function listForks(db: Database, { gone = false } = {}): ForkRow[] {
  return db
    .all(`${SELECT} AND (?1 = 1 OR w.state NOT IN ('gone', 'spare')) ORDER BY w.id`, gone ? 1 : 0)
    .map(toFork);
}

/** Removed forks whose files the next fork may take over. */
export function listSpareForks(db: Database): ForkRow[] {
  return listForks(db, { gone: true }).filter(({ state }) => state === "spare");
}

/** Whether a fork has this name, one in the trash included: it can be brought back. */
export function isForkNamed(db: Database, name: string): boolean {
  return listForks(db).some((fork) => fork.name === name);
}

/** Where the root of the workspace is. */
export function readForkedRoot(db: Database): AbsolutePath | undefined {
  const root = db.get("SELECT root FROM working_copy WHERE id = ?", MAIN_WORKING_COPY)?.["root"];
  return root instanceof Uint8Array ? (Buffer.from(root).toString("latin1") as AbsolutePath) : undefined;
}

/** Whether a fork is half made or half removed, which costs next to nothing to ask. */
export function isForkUnderWay(db: Database): boolean {
  return db.get("SELECT 1 FROM working_copy WHERE state IN ('making', 'removing') LIMIT 1") !== undefined;
}

/** A fork that is being made. */
export interface NewFork {
  readonly branch: number;
  readonly facts: ForkFacts;
  readonly port: number | null;
  readonly owner: ProcessIdentity;
  readonly now: number;
}

/** Adds a fork that is being made, and returns its working copy. */
export function insertFork(db: Database, { branch, facts, port, owner, now }: NewFork): number {
  return db.run(
    "INSERT INTO working_copy (branch, state, port, owner, created_at, facts) VALUES (?, 'making', ?, ?, ?, ?)",
    branch,
    port,
    JSON.stringify(owner),
    now,
    JSON.stringify(facts),
  ).lastId;
}

/** Where a directory is, and which one it is. */
export interface ForkPlace {
  readonly root: AbsolutePath;
  readonly dev: string;
  readonly ino: string;
  readonly birth: string;
}

/** Records where a fork is, or is about to be. */
export function setForkPlace(db: Database, workingCopy: number, { root, dev, ino, birth }: ForkPlace): void {
  db.run(
    "UPDATE working_copy SET root = ?, dev = ?, ino = ?, birth = ? WHERE id = ?",
    Buffer.from(root, "latin1"),
    dev,
    ino,
    birth,
    workingCopy,
  );
}

/** Records what a fork was made of. */
export function setForkFacts(
  db: Database,
  workingCopy: number,
  { method, bytes, facts }: { method: ForkRow["method"]; bytes: number; facts: ForkFacts },
): void {
  db.run(
    "UPDATE working_copy SET method = ?, bytes = ?, facts = ? WHERE id = ?",
    method,
    bytes,
    JSON.stringify(facts),
    workingCopy,
  );
}

/** Lets a fork be worked in: its work is compared with checkpoint `base`, on a line that left its parent at `start`. */
export function setForkReady(
  db: Database,
  { workingCopy, base }: { workingCopy: number; base: number },
): void {
  db.run(
    "UPDATE branch SET start = coalesce(start, base), base = ?1 WHERE id = (SELECT branch FROM working_copy WHERE id = ?2)",
    base,
    workingCopy,
  );
  db.run(
    "UPDATE working_copy SET state = 'ready', owner = NULL, removed_at = NULL WHERE id = ?",
    workingCopy,
  );
}

/** Says that a fork is in the trash, or will be after the next step. */
export function setForkRemoving(db: Database, workingCopy: number, now: number): void {
  db.run("UPDATE working_copy SET state = 'removing', removed_at = ? WHERE id = ?", now, workingCopy);
}

/** Says that a fork is out of the trash again. */
export function setForkBack(db: Database, workingCopy: number): void {
  db.run("UPDATE working_copy SET state = 'ready', removed_at = NULL WHERE id = ?", workingCopy);
}

/** Says that a removed fork waits for the next one to take over its files, which take this much on the disk. */
export function setForkSpare(db: Database, workingCopy: number, bytesOnDisk: number): void {
  db.run(
    "UPDATE working_copy SET state = 'spare', port = NULL, facts = json_set(facts, '$.bytesOnDisk', ?) WHERE id = ?",
    bytesOnDisk,
    workingCopy,
  );
}

/** Says that nothing is left of a fork but its branch. */
export function setForkGone(db: Database, workingCopy: number): void {
  db.run("UPDATE working_copy SET state = 'gone', port = NULL WHERE id = ?", workingCopy);
}

/** Says that nothing is left of a fork on the disk either. */
export function forgetForkPlace(db: Database, workingCopy: number): void {
  db.run("UPDATE working_copy SET root = NULL WHERE id = ? AND state = 'gone'", workingCopy);
}

/** Takes back the rows of a fork that was never ready, with its branch: no checkpoint is on it. */
export function deleteFork(db: Database, workingCopy: number): void {
  const row = db.get("SELECT branch FROM working_copy WHERE id = ?", workingCopy);
  db.run("DELETE FROM working_copy WHERE id = ?", workingCopy);
  if (row !== undefined)
    db.run(
      "DELETE FROM branch WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM checkpoint WHERE branch = ?1)",
      Number(row["branch"]),
    );
}

function toFork(row: Row): ForkRow {
  const facts = JSON.parse(String(row["facts"] ?? "{}")) as Partial<ForkFacts>;
  const { root, owner } = row;
  return {
    ...UNKNOWN,
    ...facts,
    name: facts.name ?? String(row["branch_name"]),
    workingCopy: Number(row["id"]),
    run: (row["run_id"] ?? null) as string | null,
    root: (root instanceof Uint8Array ? Buffer.from(root).toString("latin1") : "") as AbsolutePath,
    dev: String(row["dev"] ?? ""),
    ino: String(row["ino"] ?? ""),
    birth: String(row["birth"] ?? ""),
    branch: Number(row["branch"]),
    branchName: String(row["branch_name"]),
    base: (row["base_id"] ?? null) as CheckpointId | null,
    head: (row["head_id"] ?? null) as CheckpointId | null,
    state: row["state"] as ForkRow["state"],
    method: (row["method"] ?? "copy") as ForkRow["method"],
    bytes: Number(row["bytes"] ?? 0),
    port: row["port"] === null ? null : Number(row["port"]),
    owner: typeof owner === "string" ? (JSON.parse(owner) as ProcessIdentity) : undefined,
    createdAt: Number(row["created_at"]),
    removedAt: row["removed_at"] === null ? null : Number(row["removed_at"]),
  };
}

const UNKNOWN = { files: 0, bytesOnDisk: 0, dependencies: [], git: "none", durationMs: 0 } as const;
