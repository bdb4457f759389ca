/**
 * The facts that rows of the timeline show, read for a whole page at once. They are shown, not acted upon, so they are
 * not verified: a damaged row must not hide the others.
 */
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import type { Asker, StepKind } from "../model/plan.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { RunEnd } from "../model/run.ts";
import type { TimelineKind, TimelineState } from "../model/timeline.ts";
import { decodeEntry } from "../model/tree.ts";
import type { Database, Row } from "../store/database.ts";
import { TAG_PREFIX } from "./checkpoints.ts";
import { parseJson } from "./row-json.ts";
import { onLine, STEP_PLACE } from "./line.ts";

/** A checkpoint, as far as rows show it. */
export interface EndFacts {
  readonly seq: number;
  readonly id: CheckpointId;
  readonly kind: string;
  readonly phase: string | null;
  readonly thread: ThreadId | null;
  readonly session: string | null;
  readonly at: number;
  /** In hexadecimal digits. */
  readonly snapshot: string;
  readonly description: string;
  readonly name: string | null;
  readonly note: string | null;
  readonly tags: readonly string[];
}

/** A step, as far as rows show it. */
export interface StepFacts {
  readonly seq: number;
  readonly id: string;
  readonly kind: StepKind;
  readonly state: TimelineState;
  readonly thread: ThreadId | null;
  readonly agent: string | null;
  readonly description: string;
  readonly prompt: string | null;
  readonly owner: ProcessIdentity | null;
  readonly openedAt: number;
  readonly closedAt: number | null;
  readonly before: number;
  readonly after: number | null;
  readonly target: number | null;
  readonly pruned: boolean;
  readonly undoneAt: number | null;
  /** Null where it is not undone, or it is not known who undid it. */
  readonly undoneBy: Asker | null;
  /** True when an agent run of it failed. */
  readonly isFailed: boolean;
  /** How many files its captures came too late for, or met while they were being written. */
  readonly late: number;
}

/** A list of numbers or texts as a parameter; `AMONG` selects from it. */
function listOf(values: Iterable<number | string>): string {
  return JSON.stringify([...values]);
}

const AMONG = "IN (SELECT value FROM json_each(?1))";

/** The facts of steps, by their seqs. */
export function readStepFacts(db: Database, seqs: Iterable<number>): Map<number, StepFacts> {
  const rows = db.all(
    `SELECT s.*, t.agent AS agent,
       CASE s.state WHEN 'undone' THEN (SELECT o.at FROM operation o WHERE o.seq = CAST(s.position AS INTEGER)) END AS undone_at,
       CASE s.state WHEN 'undone' THEN (SELECT o.detail ->> 'by' FROM operation o WHERE o.seq = CAST(s.position AS INTEGER)) END AS undone_by,
       EXISTS (SELECT 1 FROM agent_run a WHERE a.thread = s.thread AND a.step = s.id AND a.parent IS NULL
         AND a.status IN ('failed', 'error')) AS failed,
       (SELECT count(DISTINCT d.path) FROM checkpoint c JOIN doubt d ON d.checkpoint = c.seq AND d.reason <> 'mid-restore'
         WHERE c.thread = s.thread AND c.branch = s.branch AND c.seq >= s.before
           AND c.seq <= coalesce(s.after, 9223372036854775807)) AS late
     FROM step s LEFT JOIN thread t ON t.id = s.thread WHERE s.seq ${AMONG}`,
    listOf(seqs),
  );
  return new Map(rows.map((row) => [Number(row["seq"]), toStepFacts(row)]));
}

function toStepFacts(row: Row): StepFacts {
  const number = (column: string) => (row[column] === null ? null : Number(row[column]));
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    seq: Number(row["seq"]),
    id: String(row["id"]),
    kind: row["kind"] as StepKind,
    state: row["state"] as TimelineState,
    thread: text("thread") as ThreadId | null,
    agent: text("agent"),
    description: String(row["description"]),
    prompt: text("prompt"),
    owner: parseJson(row["owner"]) as ProcessIdentity | null,
    openedAt: Number(row["opened_at"]),
    closedAt: number("closed_at"),
    before: Number(row["before"]),
    after: number("after"),
    target: number("target"),
    pruned: row["pruned"] === 1,
    undoneAt: number("undone_at"),
    undoneBy: text("undone_by") as Asker | null,
    isFailed: row["failed"] === 1,
    late: Number(row["late"]),
  };
}

/** Those of these steps, by id, that another step continues. */
export function continuedAmong(db: Database, ids: Iterable<string>): Set<string> {
  const rows = db.all(`SELECT continues FROM step WHERE continues ${AMONG}`, listOf(ids));
  return new Set(rows.map((row) => String(row["continues"])));
}

/** How the runs of agents ended that Belay started, by their turns. */
export function runEndsAmong(db: Database, ids: Iterable<string>): Map<string, RunEnd> {
  const rows = db.all(
    `SELECT step, status FROM run WHERE ended_at IS NOT NULL AND step ${AMONG}`,
    listOf(ids),
  );
  return new Map(rows.map((row) => [String(row["step"]), row["status"] as RunEnd]));
}

/** Checkpoints by their seqs; pruned ones are left out. */
export function readEnds(db: Database, seqs: Iterable<number>): Map<number, EndFacts> {
  const rows = db.all(`${SELECT_END} WHERE c.seq ${AMONG} AND c.pruned_at IS NULL`, listOf(seqs));
  return new Map(rows.map((row) => [Number(row["seq"]), toEnd(row)]));
}

/** The seqs of the checkpoints just before others on their line, pruned or not. */
export function previousSeqs(db: Database, seqs: Iterable<number>): Map<number, number> {
  const rows = db.all(
    `SELECT c.seq AS seq, coalesce((SELECT max(p.seq) FROM checkpoint p WHERE p.seq < c.seq AND p.branch = c.branch),
       (SELECT coalesce(b.start, b.base) FROM branch b WHERE b.id = c.branch)) AS previous FROM checkpoint c WHERE c.seq ${AMONG}`,
    listOf(seqs),
  );
  return new Map(
    rows.flatMap((row) => (row["previous"] === null ? [] : [[Number(row["seq"]), Number(row["previous"])]])),
  );
}

const END_COLUMNS = `c.seq, c.id, c.kind, c.phase, c.thread, c.session, c.created_at, c.snapshot, c.description, c.name,
  c.note, (SELECT json_group_array(CAST(substr(r.name, ${TAG_PREFIX.length + 1}) AS TEXT)) FROM ref r
    WHERE r.checkpoint = c.seq AND r.name GLOB '${TAG_PREFIX}*') AS tags`;

const SELECT_END = `SELECT ${END_COLUMNS} FROM checkpoint c`;

function toEnd(row: Row): EndFacts {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const snapshot = row["snapshot"];
  const tags = row["tags"] === "[]" ? [] : ((parseJson(row["tags"]) ?? []) as string[]);
  return {
    seq: Number(row["seq"]),
    id: String(row["id"]) as CheckpointId,
    kind: String(row["kind"]),
    phase: text("phase"),
    thread: text("thread") as ThreadId | null,
    session: text("session"),
    at: Number(row["created_at"]),
    snapshot: snapshot instanceof Uint8Array ? Buffer.from(snapshot).toString("hex") : "",
    description: String(row["description"]),
    name: text("name"),
    note: text("note"),
    tags,
  };
}

/** The agents of threads. */
export function readAgents(db: Database, threads: Iterable<ThreadId>): Map<ThreadId, string> {
  const rows = db.all(`SELECT id, agent FROM thread WHERE id ${AMONG}`, listOf(threads));
  return new Map(rows.map((row) => [row["id"] as ThreadId, String(row["agent"])]));
}

/** The approved sessions, as "thread session_2". */
export function approvedSessions(db: Database): Set<string> {
  const rows = db.all("SELECT thread, number FROM session WHERE status = 'merged'");
  return new Set(rows.map((row) => `${String(row["thread"])} session_${Number(row["number"])}`));
}

/** One path's change in one capture, as it was recorded. */
export interface ListedChange {
  readonly checkpoint: number;
  readonly path: BytePath;
  readonly old: Entry | undefined;
  readonly new: Entry | undefined;
  readonly shared: boolean;
}

/** What steps changed, by their ids; the changes of each oldest first. */
export function listStepChanges(db: Database, ids: Iterable<string>): Map<string, ListedChange[]> {
  const rows = db.all(
    `SELECT g.step AS step, g.checkpoint, g.path, g.old, g.new, g.attribution FROM change g WHERE g.step ${AMONG}
     UNION ALL SELECT w.step AS step, g.checkpoint, g.path, g.old, g.new, g.attribution FROM shared_window w
       JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared' WHERE w.step ${AMONG}
     ORDER BY checkpoint`,
    listOf(ids),
  );
  return grouped(rows, (row) => String(row["step"]));
}

/** What no tool changed (`outside`), Belay did (`belay`), or anything did, by the captures that found it. */
export function listCaptureChanges(
  db: Database,
  captures: Iterable<number>,
  attribution: "outside" | "belay" | "any",
): Map<number, ListedChange[]> {
  const rows = db.all(
    `SELECT checkpoint, path, old, new, attribution FROM change WHERE checkpoint ${AMONG}
       AND (?2 = 'any' OR attribution = ?2)`,
    listOf(captures),
    attribution,
  );
  return grouped(rows, (row) => Number(row["checkpoint"]));
}

function grouped<Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, ListedChange[]> {
  const groups = new Map<Key, ListedChange[]>();
  for (const row of rows) {
    const change = toListed(row);
    if (change === undefined) continue;
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [change]);
    else group.push(change);
  }
  return groups;
}

function toListed(row: Row): ListedChange | undefined {
  const entry = (column: string) =>
    row[column] === null ? undefined : decodeEntry(row[column] as Uint8Array);
  try {
    return {
      checkpoint: Number(row["checkpoint"]),
      path: pathFromBytes(row["path"] as Uint8Array),
      old: entry("old"),
      new: entry("new"),
      shared: row["attribution"] === "shared",
    };
  } catch {
    return undefined;
  }
}

/** How many tool calls of each turn changed something, by the turns' ids. */
export function countChangingCalls(db: Database, ids: Iterable<string>): Map<string, number> {
  const rows = db.all(
    `SELECT g.step AS step, count(DISTINCT g.checkpoint) AS n FROM change g JOIN checkpoint c ON c.seq = g.checkpoint
       WHERE g.step ${AMONG} AND c.kind = 'tool' GROUP BY g.step`,
    listOf(ids),
  );
  return new Map(rows.map((row) => [String(row["step"]), Number(row["n"])]));
}

/** How many files captures came too late for, or met while they were being written. */
export function countDoubts(db: Database, seqs: Iterable<number>): Map<number, number> {
  const rows = db.all(
    `SELECT checkpoint, count(DISTINCT path) AS n FROM doubt WHERE checkpoint ${AMONG} AND reason <> 'mid-restore' GROUP BY checkpoint`,
    listOf(seqs),
  );
  return new Map(rows.map((row) => [Number(row["checkpoint"]), Number(row["n"])]));
}

/** A turn by the seqs of the checkpoints around it; `after` is infinite while it is open. */
export interface OpenStretch {
  readonly before: number;
  readonly after: number;
}

/** The turns that were open at some moment of a stretch. */
export function turnsOpenIn(db: Database, { before, after }: OpenStretch): OpenStretch[] {
  return db
    .all(
      `SELECT before, after FROM step s WHERE kind = 'turn' AND before < ?1 AND (after IS NULL OR after >= ?2)
         AND ${onLine(db, STEP_PLACE)}`,
      after,
      before,
    )
    .map((row) => ({
      before: Number(row["before"]),
      after: row["after"] === null ? Infinity : Number(row["after"]),
    }));
}

/**
 * The times after turns that left a command running in the background: until the thread's next turn it may have written.
 */
export function backgroundStretches(db: Database): OpenStretch[] {
  return db
    .all(
      `SELECT s.after AS before, (SELECT min(n.before) FROM step n WHERE n.kind = 'turn' AND n.thread = s.thread
           AND n.branch = s.branch AND n.seq > s.seq) AS after
         FROM step s WHERE s.after IS NOT NULL AND s.id IN (SELECT step FROM tool_call WHERE background = 1)
           AND ${onLine(db, STEP_PLACE)}`,
    )
    .map((row) => ({
      before: Number(row["before"]),
      after: row["after"] === null ? Infinity : Number(row["after"]),
    }));
}

/** One capture that holds changes of a turn. */
export interface StepCapture {
  readonly end: EndFacts;
  readonly tool: string | null;
  readonly nature: "edit" | "command" | null;
  /** How the checkpoint before the call describes it: "Before Bash: npm test". */
  readonly announced: string | null;
}

/** The captures that hold changes of a turn, oldest first. */
export function listStepCaptures(db: Database, step: string): StepCapture[] {
  const rows = db.all(
    `SELECT ${END_COLUMNS}, c.tool,
       (SELECT k.nature FROM tool_call k WHERE k.thread = c.thread AND k.id = c.tool_use_id ORDER BY k.seq DESC LIMIT 1) AS nature,
       (SELECT b.description FROM checkpoint b WHERE b.tool_use_id = c.tool_use_id AND b.phase = 'before' AND b.seq < c.seq
         ORDER BY b.seq DESC LIMIT 1) AS announced
     FROM checkpoint c WHERE c.seq IN (SELECT checkpoint FROM change WHERE step = ?1 UNION
       SELECT w.checkpoint FROM shared_window w JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared'
         WHERE w.step = ?1)
     ORDER BY c.seq`,
    step,
  );
  return rows.map((row) => {
    const end = toEnd(row);
    const isCall = end.kind === "tool" && end.phase === "after";
    const text = (column: string) => (row[column] === null || !isCall ? null : String(row[column]));
    return {
      end,
      tool: text("tool"),
      nature: text("nature") as StepCapture["nature"],
      announced: text("announced"),
    };
  });
}

const POINT_KINDS: Readonly<Record<string, TimelineKind>> = {
  manual: "checkpoint",
  approve: "approved",
  initial: "initial",
};

/** The kind of its row in the timeline where every checkpoint has one of its own. */
export function captureKind(kind: string): TimelineKind {
  if (kind === "restore" || kind === "reset" || kind === "switch" || kind === "safety") return kind;
  return POINT_KINDS[kind] ?? "capture";
}

/** The kind of row that a checkpoint of its own has. */
export function pointKind(kind: string): TimelineKind {
  return POINT_KINDS[kind] ?? "safety";
}
