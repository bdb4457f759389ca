/**
 * The append-only log of everything Belay did. Each entry carries the hash of the previous one, so that a
 * rewritten history is noticed.
 */
import { hash } from "node:crypto";
import type { OperationId } from "../model/ids.ts";
import type { Database, Row } from "../store/database.ts";

/** What Belay did. */
export type OperationKind =
  | "init"
  | "checkpoint"
  | "turn"
  | "restore"
  | "reset"
  | "approve"
  | "conversation"
  | "undo"
  | "redo"
  | "revert"
  | "recover"
  | "annotate"
  | "prune"
  | "unprune"
  | "gc"
  | "forget"
  | "branch"
  | "import"
  | "fork"
  | "merge"
  | "resolve"
  | "run"
  | "fix"
  | "pause"
  | "resume";

/** One entry of the log. */
export interface Operation {
  readonly seq: number;
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly at: number;
  readonly detail: Record<string, unknown>;
}

const NO_CHAIN = Buffer.alloc(32);

/** Appends an operation and returns its seq. Call inside the transaction that performs it. */
export function appendOperation(db: Database, operation: Omit<Operation, "seq">): number {
  const last = db.get("SELECT chain FROM operation ORDER BY seq DESC LIMIT 1")?.["chain"];
  const detail = JSON.stringify(operation.detail);
  const chain = chainOf(asChain(last), operation, detail);
  const { id, kind, at } = operation;
  return db.run(
    "INSERT INTO operation (id, kind, at, detail, chain) VALUES (?, ?, ?, ?, ?)",
    id,
    kind,
    at,
    detail,
    chain,
  ).lastId;
}

function chainOf(previous: Uint8Array, operation: Omit<Operation, "seq" | "detail">, detail: string): Buffer {
  const line = Buffer.from(`${operation.id} ${operation.kind} ${operation.at} ${detail}`, "utf8");
  return hash("sha256", Buffer.concat([previous, line]), "buffer");
}

/** A damaged link counts as none: the entry after it then does not follow. */
function asChain(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : NO_CHAIN;
}

/** The seqs of entries that do not continue the one before. */
export function findBrokenChain(db: Database): number[] {
  const broken: number[] = [];
  let previous: Uint8Array = NO_CHAIN;
  for (const row of db.iterate("SELECT seq, id, kind, at, detail, chain FROM operation ORDER BY seq")) {
    const chain = asChain(row["chain"]);
    const { seq, id, kind, at } = toOperation(row);
    if (!chainOf(previous, { id, kind, at }, String(row["detail"])).equals(chain)) broken.push(seq);
    previous = chain;
  }
  return broken;
}

/**
 * Rewrites the details of entries and rebuilds the chain from the first changed one. Call inside a
 * transaction.
 */
export function rewriteDetails(db: Database, rewrite: (detail: string) => string): void {
  let previous: Uint8Array = NO_CHAIN;
  let isChanged = false;
  for (const row of db.all("SELECT seq, id, kind, at, detail, chain FROM operation ORDER BY seq")) {
    const detail = rewrite(String(row["detail"]));
    isChanged ||= detail !== row["detail"];
    const chain = isChanged ? chainOf(previous, toOperation(row), detail) : asChain(row["chain"]);
    const { seq } = toOperation(row);
    if (isChanged) db.run("UPDATE operation SET detail = ?, chain = ? WHERE seq = ?", detail, chain, seq);
    previous = chain;
  }
}

function toOperation(row: Row): Omit<Operation, "detail"> {
  return {
    seq: Number(row["seq"]),
    id: String(row["id"]) as OperationId,
    kind: row["kind"] as OperationKind,
    at: Number(row["at"]),
  };
}

/** How many operations of each kind the log holds. */
export function countOperations(db: Database): Record<string, number> {
  const rows = db.all("SELECT kind, count(*) AS n FROM operation GROUP BY kind ORDER BY kind");
  return Object.fromEntries(rows.map((row) => [String(row["kind"]), Number(row["n"])]));
}

/** How many operations of these kinds there are, and how many threads they were done for; of checkpoints, those of one kind. */
export function countThreadsWith(
  db: Database,
  kinds: readonly OperationKind[],
  checkpointKind: string | null = null,
): { operations: number; threads: number } {
  const row = db.get(
    `SELECT count(*) AS operations, count(DISTINCT json_extract(detail, '$.thread')) AS threads FROM operation
     WHERE kind IN (${kinds.map(() => "?").join(", ")}) AND (?${kinds.length + 1} IS NULL OR json_extract(detail, '$.kind') = ?${kinds.length + 1})`,
    ...kinds,
    checkpointKind,
  )!;
  return { operations: Number(row["operations"]), threads: Number(row["threads"]) };
}
