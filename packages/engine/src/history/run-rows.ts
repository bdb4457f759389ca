/** Rows of runs: programs of agents that Belay started, in which working copy, and how they ended. */
import { EngineError } from "../model/errors.ts";
import type { ChangeCounts } from "../model/file-change.ts";
import { isIdPrefix, type CheckpointId, type ThreadId } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Run, RunLog, RunProgress, RunRequest, RunResult, RunTokens } from "../model/run.ts";
import { MAIN_WORKING_COPY, type Database, type Row } from "../store/database.ts";
import { parseJson } from "./row-json.ts";
import { branchHere } from "./line.ts";

/** A fork keeps its name when its branch gets another one. */
const FORK_NAME = "coalesce(json_extract(w.facts, '$.name'), b.name)";

const SELECT = `SELECT r.*, b.name AS branch_name, ${FORK_NAME} AS fork_name, o.id AS before_id, a.id AS after_id FROM run r
  JOIN branch b ON b.id = r.branch LEFT JOIN working_copy w ON w.id = r.working_copy LEFT JOIN checkpoint o ON o.seq = r.before LEFT JOIN checkpoint a ON a.seq = r.after`;

/** Which runs to list. */
export interface RunFilter {
  readonly batch?: string;
  /** Only those that have not ended. */
  readonly alive?: boolean;
  readonly limit?: number;
}

/** The runs of all working copies, newest first. */
export function listRuns(db: Database, { batch, alive = false, limit = 100 }: RunFilter = {}): Run[] {
  return db
    .all(
      `${SELECT} WHERE (?1 IS NULL OR r.batch = ?1) AND (?2 = 0 OR r.ended_at IS NULL)
         ORDER BY r.created_at DESC, r.rowid DESC LIMIT ?3`,
      batch ?? null,
      alive ? 1 : 0,
      limit,
    )
    .map(toRun);
}

/** How many runs of all working copies have not ended. */
export function countRunsAtWork(db: Database): number {
  return Number(db.get("SELECT count(*) AS n FROM run WHERE ended_at IS NULL")?.["n"] ?? 0);
}

/** A run by its id, the beginning of its id, or the fork it works in (its newest run); throws `RUN_NOT_FOUND`. */
export function findRun(db: Database, ref: string): Run {
  const rows = isIdPrefix(ref)
    ? db.all(`${SELECT} WHERE r.id >= ? AND r.id < ? LIMIT 2`, ref, `${ref}{`)
    : db.all(
        `${SELECT} WHERE ${FORK_NAME} = ? AND r.working_copy <> ? ORDER BY r.rowid DESC LIMIT 1`,
        ref,
        MAIN_WORKING_COPY,
      );
  if (rows.length === 1) return toRun(rows[0]!);
  const which = rows.length === 0 ? `There is no run "${ref}"` : `"${ref}" means several runs`;
  throw new EngineError("RUN_NOT_FOUND", `${which}. Nothing was changed.`, { run: ref });
}

/** The newest run on a branch that worked between two of its checkpoints; null when none did. */
export function runBetween(
  db: Database,
  { branch, from, to }: { readonly branch: number; readonly from: number; readonly to: number },
): string | null {
  const row = db.get(
    `SELECT id FROM run WHERE branch = ? AND before <= ? AND (after IS NULL OR after > ?) ORDER BY rowid DESC LIMIT 1`,
    branch,
    to,
    from,
  );
  return row === undefined ? null : String(row["id"]);
}

/** Adds a run that waits, in the working copy here. */
export function insertRun(
  db: Database,
  run: RunRequest & { id: string; batch: string; now: number; watcher: ProcessIdentity },
): void {
  db.run(
    `INSERT INTO run (id, batch, thread, working_copy, branch, agent, role, command, prompt, limits, status, watcher, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
    run.id,
    run.batch,
    run.thread ?? null,
    db.workingCopy,
    branchHere(db),
    run.agent,
    run.role,
    JSON.stringify(run.command),
    run.prompt,
    JSON.stringify(run.limits),
    JSON.stringify(run.watcher),
    run.now,
  );
}

/** A waiting run begins, in the working copy here. */
export function setRunBegun(
  db: Database,
  id: string,
  begun: { thread: ThreadId; step: string; before: number; log: Omit<RunLog, "truncated">; now: number },
): void {
  db.run(
    `UPDATE run SET status = 'starting', thread = ?, step = ?, before = ?, log = ?, started_at = ?, working_copy = ?, branch = ?
       WHERE id = ?`,
    begun.thread,
    begun.step,
    begun.before,
    JSON.stringify(begun.log),
    begun.now,
    db.workingCopy,
    branchHere(db),
    id,
  );
}

/** The program runs: from now on its turn lasts as long as the program, not as long as the process that started it. */
export function setRunProcess(db: Database, id: string, program: ProcessIdentity): void {
  const { pid, started, boot } = program;
  db.run(
    "UPDATE run SET status = 'running', pid = ?, started = ?, boot = ? WHERE id = ?",
    pid,
    started,
    boot,
    id,
  );
  db.run(
    "UPDATE step SET owner = ? WHERE id = (SELECT step FROM run WHERE id = ?) AND state = 'open'",
    JSON.stringify(program),
    id,
  );
}

/** What the agent told on its way; what it did not tell stays as it was. */
export function setRunProgress(db: Database, id: string, { session, cost, tokens }: RunProgress): void {
  db.run(
    "UPDATE run SET session = coalesce(?, session), cost = coalesce(?, cost), tokens = coalesce(?, tokens) WHERE id = ?",
    session ?? null,
    cost ?? null,
    tokens === undefined || tokens === null ? null : JSON.stringify(tokens),
    id,
  );
}

/** Says why a run is about to end; the first reason stays. */
export function setRunReason(db: Database, id: string, reason: string): void {
  db.run("UPDATE run SET reason = coalesce(reason, ?) WHERE id = ? AND ended_at IS NULL", reason, id);
}

/** Adds paths outside the fork here that its run at work named; in place there is no outside. */
export function noteEscaped(db: Database, paths: readonly string[]): void {
  if (db.workingCopy === MAIN_WORKING_COPY) return;
  const rows = db.all(
    "SELECT id, escaped FROM run WHERE working_copy = ? AND ended_at IS NULL",
    db.workingCopy,
  );
  for (const { id, escaped } of rows)
    db.run(
      "UPDATE run SET escaped = ? WHERE id = ?",
      JSON.stringify(escapedWith(escaped, paths)),
      String(id),
    );
}

/** A run that names every file of a disk needs no list of them. */
const MOST_ESCAPED = 200;

function escapedWith(known: unknown, paths: readonly string[]): string[] {
  const all = new Set([...((parseJson(known) ?? []) as string[]), ...paths]);
  return [...all].slice(0, MOST_ESCAPED);
}

/** Another process of Belay watches it from now on. */
export function setRunWatcher(db: Database, id: string, watcher: ProcessIdentity): void {
  db.run("UPDATE run SET watcher = ? WHERE id = ?", JSON.stringify(watcher), id);
}

/** Records the end of a run. */
export function setRunEnded(
  db: Database,
  id: string,
  result: RunResult & { after: number | null; changes: ChangeCounts | null; now: number },
): void {
  const known = db.get("SELECT escaped FROM run WHERE id = ?", id)?.["escaped"] ?? null;
  db.run(
    `UPDATE run SET status = ?, exit = ?, signal = ?, reason = ?, cost = ?, tokens = ?, session = coalesce(?, session), after = ?,
       changes = ?, escaped = ?, truncated = ?, ended_at = ?, watcher = NULL WHERE id = ?`,
    result.status,
    result.exitCode,
    result.signal,
    result.reason,
    result.cost,
    result.tokens === null ? null : JSON.stringify(result.tokens),
    result.session,
    result.after,
    result.changes === null ? null : JSON.stringify(result.changes),
    JSON.stringify(escapedWith(known, result.escaped ?? [])),
    result.truncated ? 1 : 0,
    result.now,
    id,
  );
}

/**
 * The open step of the run here whose agent a thread is about: hooks of an agent that Belay started tell of the same
 * work as its run. They are matched by the agent's name of the conversation, or by its process.
 */
export function runStepOf(db: Database, thread: ThreadId): string | undefined {
  const row = db.get(
    `SELECT r.step FROM run r JOIN thread t ON t.id = ?1 JOIN step s ON s.id = r.step AND s.state = 'open'
       WHERE r.ended_at IS NULL AND r.working_copy = ?2 AND r.agent = t.agent
         AND (t.external_id = r.session OR json_extract(t.client, '$.pid') = r.pid)`,
    thread,
    db.workingCopy,
  );
  return row === undefined ? undefined : String(row["step"]);
}

function toRun(row: Row): Run {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const number = (column: string) => (row[column] === null ? null : Number(row[column]));
  const isFork = Number(row["working_copy"]) !== MAIN_WORKING_COPY;
  const log = parseJson(row["log"]) as Omit<RunLog, "truncated"> | null;
  const pid = number("pid");
  return {
    id: String(row["id"]),
    batch: String(row["batch"]),
    fork: isFork ? String(row["fork_name"]) : null,
    branch: String(row["branch_name"]),
    thread: text("thread") as ThreadId | null,
    agent: String(row["agent"]),
    role: String(row["role"]),
    command: (parseJson(row["command"]) ?? []) as string[],
    prompt: String(row["prompt"]),
    limits: parseJson(row["limits"]) as Run["limits"],
    status: row["status"] as Run["status"],
    process: pid === null ? null : { pid, started: text("started") ?? "", boot: text("boot") ?? "" },
    watcher: parseJson(row["watcher"]) as ProcessIdentity | null,
    exitCode: number("exit"),
    signal: text("signal"),
    reason: text("reason"),
    createdAt: Number(row["created_at"]),
    startedAt: number("started_at"),
    endedAt: number("ended_at"),
    cost: number("cost"),
    tokens: parseJson(row["tokens"]) as RunTokens | null,
    session: text("session"),
    log: log === null ? null : { ...log, truncated: Number(row["truncated"]) === 1 },
    before: text("before_id") as CheckpointId | null,
    after: text("after_id") as CheckpointId | null,
    changes: parseJson(row["changes"]) as ChangeCounts | null,
    escaped: (parseJson(row["escaped"]) ?? []) as string[],
  };
}
