/** The facts that a row of the timeline shows: of a turn or way back, of a checkpoint, and the changes of each. */
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import type { StepKind } from "../model/plan.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { TimelineKind, TimelineState } from "../model/timeline.ts";
import { decodeEntry } from "../model/tree.ts";
import type { Entry } from "../model/entry.ts";
import type { Database, Row } from "../store/database.ts";
import { parseJson, TAG_PREFIX } from "./checkpoints.ts";

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
  readonly state: "open" | "applied" | "undone" | "empty";
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
  readonly scope: "files" | "conversation" | "both";
  readonly pruned: boolean;
  readonly undoneAt: number | null;
  /** True when an agent run of it failed. */
  readonly isFailed: boolean;
}

/** The facts of a step, by its seq. */
export function readStepFacts(db: Database, seq: number): StepFacts | undefined {
  const row = db.get(
    `SELECT s.*, t.agent AS agent,
       CASE s.state WHEN 'undone' THEN (SELECT o.at FROM operation o WHERE o.seq = CAST(s.position AS INTEGER)) END AS undone_at,
       EXISTS (SELECT 1 FROM agent_run a WHERE a.thread = s.thread AND a.step = s.id AND a.parent IS NULL
         AND a.status IN ('failed', 'error')) AS failed
     FROM step s LEFT JOIN thread t ON t.id = s.thread WHERE s.seq = ?`,
    seq,
  );
  return row === undefined ? undefined : toStepFacts(row);
}

function toStepFacts(row: Row): StepFacts {
  const number = (column: string) => (row[column] === null ? null : Number(row[column]));
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    seq: Number(row["seq"]),
    id: String(row["id"]),
    kind: row["kind"] as StepKind,
    state: row["state"] as StepFacts["state"],
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
    scope: row["scope"] as StepFacts["scope"],
    pruned: row["pruned"] === 1,
    undoneAt: number("undone_at"),
    isFailed: row["failed"] === 1,
  };
}

/** Whether another step continues a turn. */
export function isContinued(db: Database, { seq, id }: Pick<StepFacts, "seq" | "id">): boolean {
  return db.get("SELECT 1 FROM step WHERE seq > ? AND continues = ? LIMIT 1", seq, id) !== undefined;
}

/** A checkpoint by its seq; undefined when it was pruned. */
export function readEnd(db: Database, seq: number | null): EndFacts | undefined {
  if (seq === null) return undefined;
  const row = db.get(`${SELECT_END} WHERE c.seq = ? AND c.pruned_at IS NULL`, seq);
  return row === undefined ? undefined : toEnd(row);
}

/** The newest checkpoint before another one, if it is kept. */
export function readPrevious(db: Database, seq: number): EndFacts | undefined {
  const row = db.get(`${SELECT_END} WHERE c.seq < ? ORDER BY c.seq DESC LIMIT 1`, seq);
  return row === undefined || row["pruned_at"] !== null ? undefined : toEnd(row);
}

const END_COLUMNS = `c.seq, c.id, c.kind, c.phase, c.thread, c.session, c.created_at, c.snapshot, c.description,
    c.name, c.note, c.pruned_at, (SELECT json_group_array(CAST(substr(r.name, ${TAG_PREFIX.length + 1}) AS TEXT)) FROM ref r
      WHERE r.checkpoint = c.seq AND r.name GLOB '${TAG_PREFIX}*') AS tags`;

const SELECT_END = `SELECT ${END_COLUMNS} FROM checkpoint c`;

const SELECT_CAPTURE = `SELECT ${END_COLUMNS}, c.tool,
    (SELECT k.nature FROM tool_call k WHERE k.thread = c.thread AND k.id = c.tool_use_id ORDER BY k.seq DESC LIMIT 1) AS nature,
    (SELECT b.description FROM checkpoint b WHERE b.tool_use_id = c.tool_use_id AND b.phase = 'before' AND b.seq < c.seq
       ORDER BY b.seq DESC LIMIT 1) AS announced
  FROM checkpoint c`;

function toEnd(row: Row): EndFacts {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const snapshot = row["snapshot"];
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
    tags: (parseJson(row["tags"]) ?? []) as string[],
  };
}

/** The agent of a thread. */
export function readAgent(db: Database, thread: ThreadId | null): string | null {
  const row = thread === null ? undefined : db.get("SELECT agent FROM thread WHERE id = ?", thread);
  return row === undefined ? null : String(row["agent"]);
}

/** Whether a session of a thread was approved. */
export function isApproved(db: Database, thread: ThreadId | null, session: string | null): boolean {
  if (thread === null || session === null) return false;
  const row = db.get(
    "SELECT 1 FROM session WHERE thread = ? AND number = ? AND status = 'merged'",
    thread,
    Number(session.slice("session_".length)),
  );
  return row !== undefined;
}

/** One path's change in one capture, as it was recorded. It is shown, not acted upon, so it is not verified. */
export interface ListedChange {
  readonly checkpoint: number;
  readonly path: BytePath;
  readonly old: Entry | undefined;
  readonly new: Entry | undefined;
  readonly shared: boolean;
}

/** What a step changed, oldest first. */
export function listStepChanges(db: Database, step: string): ListedChange[] {
  const rows = db.all(
    `SELECT checkpoint, path, old, new, attribution FROM change WHERE step = ?1
     UNION ALL SELECT g.checkpoint, g.path, g.old, g.new, g.attribution FROM shared_window w
       JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared' WHERE w.step = ?1
     ORDER BY checkpoint`,
    step,
  );
  return rows.flatMap(toListed);
}

/** What no tool changed in these captures, oldest first. */
export function listOutsideChanges(db: Database, captures: readonly number[]): ListedChange[] {
  return captures
    .toSorted((a, b) => a - b)
    .flatMap((seq) =>
      db.all(
        "SELECT checkpoint, path, old, new, attribution FROM change WHERE checkpoint = ? AND attribution = 'outside'",
        seq,
      ),
    )
    .flatMap(toListed);
}

/** What Belay changed with a checkpoint: a restore, an undo. */
export function listBackChanges(db: Database, seq: number): ListedChange[] {
  const rows = db.all(
    "SELECT checkpoint, path, old, new, attribution FROM change WHERE checkpoint = ? AND attribution = 'belay'",
    seq,
  );
  return rows.flatMap(toListed);
}

/** A damaged row must not hide the others. */
function toListed(row: Row): ListedChange[] {
  const entry = (column: string) =>
    row[column] === null ? undefined : decodeEntry(row[column] as Uint8Array);
  try {
    return [
      {
        checkpoint: Number(row["checkpoint"]),
        path: pathFromBytes(row["path"] as Uint8Array),
        old: entry("old"),
        new: entry("new"),
        shared: row["attribution"] === "shared",
      },
    ];
  } catch {
    return [];
  }
}

/** How many tool calls of a turn changed something. */
export function countChangingCalls(db: Database, step: string): number {
  const row = db.get(
    `SELECT count(DISTINCT g.checkpoint) AS n FROM change g JOIN checkpoint c ON c.seq = g.checkpoint
       WHERE g.step = ? AND c.kind = 'tool'`,
    step,
  );
  return Number(row?.["n"] ?? 0);
}

/** How many files the captures of a thread in this stretch came too late for, or met while they were being written. */
export function countLate(db: Database, thread: ThreadId, stretch: { from: number; to: number }): number {
  const row = db.get(
    `SELECT count(DISTINCT d.path) AS n FROM checkpoint c JOIN doubt d ON d.checkpoint = c.seq
       WHERE c.thread = ? AND c.seq >= ? AND c.seq <= ? AND d.reason <> 'mid-restore'`,
    thread,
    stretch.from,
    stretch.to,
  );
  return Number(row?.["n"] ?? 0);
}

/** How many files a capture came too late for. */
export function countDoubts(db: Database, seq: number): number {
  const row = db.get("SELECT count(DISTINCT path) AS n FROM doubt WHERE checkpoint = ?", seq);
  return Number(row?.["n"] ?? 0);
}

/** True when a turn was open between two captures, or nothing was captured then on purpose: others may have written. */
export function wasAgentAbout(db: Database, captures: readonly number[]): boolean {
  const [newest = 0, oldest = newest] = [captures[0], captures.at(-1)];
  // a turn that began with the newest capture came after the change
  const row = db.get(
    `SELECT 1 FROM step WHERE kind = 'turn' AND before < ?1 AND (after IS NULL OR after >= ?2) LIMIT 1`,
    newest,
    oldest,
  );
  return row !== undefined;
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
    `${SELECT_CAPTURE} WHERE c.seq IN (SELECT checkpoint FROM change WHERE step = ?1 UNION
       SELECT w.checkpoint FROM shared_window w JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared'
         WHERE w.step = ?1)
     ORDER BY c.seq`,
    step,
  );
  return rows.map((row) => {
    const end = toEnd(row);
    const isCall = end.kind === "tool" && end.phase === "after";
    const text = (column: string) => (row[column] === null ? null : String(row[column]));
    return {
      end,
      tool: isCall ? text("tool") : null,
      nature: isCall ? (text("nature") as StepCapture["nature"]) : null,
      announced: isCall ? text("announced") : null,
    };
  });
}

/** What a search asks of something that happened, without the rest of its row. */
export interface Brief {
  readonly kind: TimelineKind;
  readonly thread: ThreadId | null;
  readonly session: string | null;
  readonly state: TimelineState;
  /** False only for turns that changed nothing. */
  readonly isChanging: boolean;
  readonly name: string | null;
  readonly note: string | null;
}

const POINT_KINDS: Readonly<Record<string, TimelineKind>> = {
  manual: "checkpoint",
  approve: "approved",
  initial: "initial",
};

/** The kind of row that a checkpoint of its own has. */
export function pointKind(kind: string): TimelineKind {
  return POINT_KINDS[kind] ?? "safety";
}

/** The brief facts of something that happened; undefined when it was dropped meanwhile. */
export function readBrief(
  db: Database,
  { kind, seq, step }: { kind: string; seq: number; step: number },
): Brief | undefined {
  const row = db.get(
    `SELECT c.kind AS point, c.thread AS thread, c.session AS session, c.name AS name, c.note AS note,
       s.kind AS step_kind, s.thread AS step_thread, s.state AS state, s.changed AS changed
     FROM (SELECT ?1 AS seq, ?2 AS step) h LEFT JOIN checkpoint c ON c.seq = h.seq LEFT JOIN step s ON s.seq = h.step`,
    seq,
    step,
  );
  if (row === undefined) return undefined;
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const session = text("session");
  const annotations = { name: text("name"), note: text("note") };
  if (kind === "hand")
    return {
      kind: "hand",
      thread: null,
      session: null,
      state: "applied",
      isChanging: true,
      name: null,
      note: null,
    };
  if (kind === "point") {
    const thread = text("thread") as ThreadId | null;
    const point = pointKind(String(row["point"]));
    return { kind: point, thread, session, state: "applied", isChanging: true, ...annotations };
  }
  return {
    kind: row["step_kind"] as TimelineKind,
    thread: text("step_thread") as ThreadId | null,
    session,
    state: row["state"] as TimelineState,
    isChanging: kind !== "turn" || row["changed"] === 1,
    ...annotations,
  };
}
