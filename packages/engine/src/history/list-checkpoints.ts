/** Lists checkpoints newest first. A list never touches trees or content. */
import type { Checkpoint } from "../model/checkpoint.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import type { Database, Value } from "../store/database.ts";
import { hashIn, readCheckpoints } from "./checkpoints.ts";
import { branchHere, onLine } from "./line.ts";
import { droppedEnds } from "./step-rows.ts";

/** Which checkpoints to list. */
export interface CheckpointFilter {
  readonly thread?: ThreadId | undefined;
  readonly kind?: string | undefined;
  /** All of these have to be found. */
  readonly search?: string | readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The id of the branch whose line to list, or all of the store; defaults to the line of the branch here. */
  readonly branch?: number | "all" | undefined;
}

/** Newest first; pruned ones are not listed. */
export function listCheckpoints(db: Database, filter: CheckpointFilter = {}): Checkpoint[] {
  const conditions = ["c.pruned_at IS NULL"];
  if (filter.branch !== "all") {
    const isOnLine = onLine(db, { seq: "c.seq", branch: "c.branch" }, filter.branch ?? branchHere(db));
    // a conversation that was imported is shown with its checkpoints, and a search finds them; nothing else lists them
    const isMeant = filter.thread !== undefined || filter.search !== undefined;
    conditions.push(isMeant ? `(${isOnLine} OR c.origin IS NOT NULL)` : isOnLine);
  }
  const values: Value[] = [];
  const require = (condition: string, value: string) => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.thread !== undefined) require("c.thread = ?", filter.thread);
  if (filter.kind !== undefined) require("c.kind = ?", filter.kind);
  for (const text of [filter.search ?? []].flat()) conditions.push(matchesText(text, values));
  const limit = filter.limit === undefined ? "" : `LIMIT ${Math.max(0, Math.trunc(filter.limit))}`;
  const dropped = droppedEnds(db);
  const which = `WHERE ${conditions.join(" AND ")} ORDER BY c.seq DESC ${limit}`;
  return readCheckpoints(db, which, ...values).map((checkpoint) => ({
    ...checkpoint,
    undoDropped: dropped.has(checkpoint.seq),
  }));
}

/** The seqs of checkpoints since a moment that were late for some of their files, newest first. */
export function listLate(db: Database, moment: number): number[] {
  return db
    .all(
      `SELECT seq FROM checkpoint c WHERE c.pruned_at IS NULL AND c.created_at >= ? AND EXISTS
         (SELECT 1 FROM doubt d WHERE d.checkpoint = c.seq AND d.reason IN ('late', 'missed')) ORDER BY seq DESC`,
      moment,
    )
    .map((row) => Number(row["seq"]));
}

/** Searches names, notes, descriptions, tags, prompts and changed paths. */
function matchesText(text: string, values: Value[]): string {
  const pattern = `%${text.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`;
  const like = (expression: string) => `${expression} LIKE ? ESCAPE '\\'`;
  const fields = ["c.name", "c.note", "c.description", "c.id"].map(like);
  const tag = `EXISTS (SELECT 1 FROM ref r WHERE r.checkpoint = c.seq AND ${like("substr(r.name, 5)")})`;
  const prompt = `EXISTS (SELECT 1 FROM step s WHERE (s.before = c.seq OR s.after = c.seq) AND ${like("s.prompt")})`;
  const message = `EXISTS (SELECT 1 FROM message m WHERE m.checkpoint = c.seq AND ${like("m.content")})`;
  const path = `EXISTS (SELECT 1 FROM change g WHERE g.checkpoint = c.seq AND ${like("CAST(g.path AS TEXT)")})`;
  for (let i = 0; i < fields.length + 4; i += 1) values.push(pattern);
  return `(${[...fields, tag, prompt, message, path].join(" OR ")})`;
}

/** What each checkpoint of the line here saw, newest first; pruned ones are left out. */
export function listSnapshots(
  db: Database,
): Pick<Checkpoint, "id" | "seq" | "createdAt" | "snapshot" | "rules" | "excluded">[] {
  return db
    .all(
      `SELECT id, seq, created_at, snapshot, rules, excluded FROM checkpoint
         WHERE pruned_at IS NULL AND ${onLine(db, { seq: "seq", branch: "branch" })} ORDER BY seq DESC`,
    )
    .map((row) => ({
      id: String(row["id"]) as CheckpointId,
      seq: Number(row["seq"]),
      createdAt: Number(row["created_at"]) || 0,
      snapshot: hashIn(row, "snapshot"),
      rules: hashIn(row, "rules"),
      excluded: hashIn(row, "excluded"),
    }));
}
