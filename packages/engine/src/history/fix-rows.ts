/** Rows of loops that fix what a review found, and of their attempts. */
import { EngineError } from "../model/errors.ts";
import type { Fix, FixAttempt, FixIssue, FixRequest, FixState, FixUpdate } from "../model/fix.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import { isIdPrefix } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Database, Row } from "../store/database.ts";
import { readLeases, releaseLease, takeLeaseOf } from "../store/lease.ts";
import { parseJson } from "./row-json.ts";

const SELECT = `SELECT f.*, c.id AS before_id, w.root AS root FROM fix f LEFT JOIN checkpoint c ON c.seq = f.before
  LEFT JOIN working_copy w ON w.id = f.working_copy AND w.state IN ('main', 'ready')`;

/** Whether a process is still there. */
export type IsAlive = (owner: ProcessIdentity) => boolean;

/** The loops of all working copies, newest first. */
export function listFixes(db: Database, isAlive: IsAlive, limit = 100): Fix[] {
  const owners = ownersOf(db, isAlive);
  return db.all(`${SELECT} ORDER BY f.rowid DESC LIMIT ?`, limit).map((row) => toFix(db, row, owners));
}

/** The ids of the loops that a living process is at work on. */
function ownersOf(db: Database, isAlive: IsAlive): ReadonlySet<string> {
  return new Set(
    readLeases(db, "fix")
      .filter(({ owner }) => isAlive(owner))
      .map(({ id }) => id),
  );
}

/** A loop by its id or the beginning of its id; throws `FIX_NOT_FOUND`. */
export function findFix(db: Database, ref: string, isAlive: IsAlive): Fix {
  const rows = isIdPrefix(ref)
    ? db.all(`${SELECT} WHERE f.id >= ? AND f.id < ? LIMIT 2`, ref, `${ref}{`)
    : [];
  if (rows.length === 1) return toFix(db, rows[0]!, ownersOf(db, isAlive));
  const which = rows.length === 0 ? `There is no loop of fixes "${ref}"` : `"${ref}" means several`;
  throw new EngineError("FIX_NOT_FOUND", `${which}. Nothing was changed.`, { fix: ref });
}

/** Adds a loop of fixes that begins now. */
export function insertFix(
  db: Database,
  fix: Omit<FixRequest, "before"> & { id: string; before: number; owner: ProcessIdentity; now: number },
): void {
  takeLeaseOf(db, { id: fix.id, kind: "fix", owner: fix.owner, since: fix.now });
  db.run(
    `INSERT INTO fix (id, working_copy, state, config, review, before, issues, created_at)
     VALUES (?, ?, 'running', ?, ?, ?, ?, ?)`,
    fix.id,
    db.workingCopy,
    JSON.stringify(fix.config),
    JSON.stringify(fix.review),
    fix.before,
    JSON.stringify(fix.issues),
    fix.now,
  );
}

/** Adds an attempt of a loop of fixes that begins now. */
export function insertAttempt(
  db: Database,
  attempt: { fix: string; number: number; severity: string; checkpoint: number; issues: readonly FixIssue[] },
): void {
  db.run(
    "INSERT INTO fix_attempt (fix, number, severity, checkpoint, issues_before) VALUES (?, ?, ?, ?, ?)",
    attempt.fix,
    attempt.number,
    attempt.severity,
    attempt.checkpoint,
    JSON.stringify(attempt.issues),
  );
}

/** Records what an attempt of a loop of fixes left. */
export function setAttemptEnded(
  db: Database,
  { fix, number }: { fix: string; number: number },
  ended: { run: string | null; issues: readonly FixIssue[]; takenBack: boolean },
): void {
  db.run(
    "UPDATE fix_attempt SET run = ?, issues_after = ?, taken_back = ? WHERE fix = ? AND number = ?",
    ended.run,
    JSON.stringify(ended.issues),
    ended.takenBack ? 1 : 0,
    fix,
    number,
  );
}

/** Records where a loop of fixes is. */
export function setFixState(
  db: Database,
  id: string,
  update: FixUpdate & { owner: ProcessIdentity; now: number },
): void {
  const { state, issues, reason = null, result = null, owner, now } = update;
  if (state === "running") takeLeaseOf(db, { id, kind: "fix", owner, since: now });
  else releaseLease(db, id);
  db.run(
    "UPDATE fix SET state = ?, issues = ?, reason = ?, result = ?, ended_at = ? WHERE id = ?",
    state,
    JSON.stringify(issues),
    reason,
    result === null ? null : JSON.stringify(result),
    state === "running" || state === "escalated" ? null : now,
    id,
  );
}

/** [R1453] The reason of a loop whose process was killed. */
export const INTERRUPTED = "Interrupted";

/** The ids of loops that are recorded as running and whose process was killed. */
export function killedFixes(db: Database, isAlive: IsAlive): string[] {
  const running = db.all("SELECT id FROM fix WHERE state = 'running'").map((row) => String(row["id"]));
  if (running.length === 0) return running;
  const atWork = ownersOf(db, isAlive);
  return running.filter((id) => !atWork.has(id));
}

/** Records that a loop whose process was killed waits for a decision. */
export function setFixInterrupted(db: Database, id: string): void {
  releaseLease(db, id);
  db.run("UPDATE fix SET state = 'escalated', reason = ? WHERE id = ?", INTERRUPTED, id);
}

function toFix(db: Database, row: Row, atWork: ReadonlySet<string>): Fix {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const id = String(row["id"]);
  const isKilled = row["state"] === "running" && !atWork.has(id);
  return {
    id,
    thread: text("thread") as ThreadId | null,
    isHere: Number(row["working_copy"]) === db.workingCopy,
    root: row["root"] instanceof Uint8Array ? Buffer.from(row["root"]).toString("utf8") : null,
    state: isKilled ? "escalated" : (row["state"] as FixState),
    config: parseJson(row["config"]),
    review: parseJson(row["review"]),
    before: text("before_id") as CheckpointId | null,
    attempts: attemptsOf(db, id),
    issues: (parseJson(row["issues"]) ?? []) as FixIssue[],
    reason: isKilled ? INTERRUPTED : text("reason"),
    result: parseJson(row["result"]),
    createdAt: Number(row["created_at"]),
    endedAt: row["ended_at"] === null ? null : Number(row["ended_at"]),
  };
}

function attemptsOf(db: Database, fix: string): FixAttempt[] {
  return db
    .all(
      "SELECT a.*, c.id AS checkpoint_id FROM fix_attempt a LEFT JOIN checkpoint c ON c.seq = a.checkpoint WHERE a.fix = ? ORDER BY a.number",
      fix,
    )
    .map((row) => ({
      number: Number(row["number"]),
      severity: String(row["severity"]),
      checkpoint: (row["checkpoint_id"] ?? null) as CheckpointId | null,
      run: row["run"] === null ? null : String(row["run"]),
      issuesBefore: (parseJson(row["issues_before"]) ?? []) as FixIssue[],
      issuesAfter: parseJson(row["issues_after"]) as FixIssue[] | null,
      takenBack: Number(row["taken_back"]) === 1,
    }));
}
