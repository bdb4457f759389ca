/**
 * Steps: what changed the working copy and can be taken out as a whole. A turn is open from its prompt to its
 * end; other steps are closed from the start. The rows form two lists: `applied` in the order of the changes,
 * `undone` last in, first out. A step without changes is in neither. An open turn is in `applied` from its
 * first change on, at the place of its last one.
 */
import type { ThreadId } from "../model/ids.ts";
import type { StepKind, StepSummary } from "../model/plan.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import { sameNode, type Entry } from "../model/entry.ts";
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import { decodeEntry } from "../model/tree.ts";
import type { Database, Row } from "../store/database.ts";
import { readWindows, type Change } from "./changes.ts";
import { BRANCH_HERE, branchHere, onLine, STEP_PLACE } from "./line.ts";

/** A step with its state. */
export interface Step extends StepSummary {
  readonly state: "open" | "applied" | "undone" | "empty";
  readonly seq: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly owner: ProcessIdentity | null;
  /** True when a checkpoint with part of its delta was dropped: it can be neither undone nor redone. */
  readonly pruned: boolean;
  /** The log position of its last change; 0 while it has none. */
  readonly position: number;
  readonly changed: boolean;
  /** The turn that this one continues. */
  readonly continues: string | null;
  /** The id of its branch; of a switch, the one it leads to. */
  readonly branch: number;
  /** The id of the branch that a switch left; null for every other step. */
  readonly fromBranch: number | null;
}

/** A step to insert. */
export interface NewStep {
  readonly id: string;
  readonly kind: StepKind;
  readonly thread: ThreadId | null;
  readonly description: string;
  readonly prompt: string | null;
  readonly owner: ProcessIdentity | null;
  readonly before: number;
  /** The seq of the checkpoint to which a restore also rewinds the conversation. */
  readonly target?: number | undefined;
  /** What a restore takes back. */
  readonly scope?: "files" | "conversation" | "both";
  readonly continues?: string | null;
  /** The id of the branch that a switch leaves. */
  readonly fromBranch?: number | null;
  readonly now: number;
}

/** Opens a step on the branch here. */
export function openStep(db: Database, step: NewStep): void {
  db.run(
    `INSERT INTO step (id, kind, thread, description, prompt, owner, opened_at, before, target, scope, continues, branch, from_branch, state, position)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', 0)`,
    step.id,
    step.kind,
    step.thread,
    step.description,
    step.prompt,
    step.owner === null ? null : JSON.stringify(step.owner),
    step.now,
    step.before,
    step.target ?? null,
    step.scope ?? "files",
    step.continues ?? null,
    branchHere(db),
    step.fromBranch ?? null,
  );
}

/** Continues a turn as a new step: the earlier one is closed and keeps its place. */
export function continueStep(
  db: Database,
  step: Step,
  next: { id: string; before: number; now: number },
): void {
  const { id, before, now } = next;
  closeStep(db, step.id, { after: before, now });
  openStep(db, { ...step, id, before, now, description: continued(step.description), continues: step.id });
}

/** The description of a turn that continues another. */
export function continued(description: string): string {
  return description.endsWith(CONTINUED) ? description : `${description}${CONTINUED}`;
}

const CONTINUED = " (continued)";

/** Closes a step; one without changes is in no list. */
export function closeStep(db: Database, id: string, closing: { after: number; now: number }): void {
  db.run(
    `UPDATE step SET closed_at = ?, after = ?, state = CASE changed WHEN 1 THEN 'applied' ELSE 'empty' END
       WHERE id = ? AND state = 'open'`,
    closing.now,
    closing.after,
    id,
  );
  const step = findStep(db, id);
  if (step?.state === "applied" && cancelsOut(db, step))
    db.run("UPDATE step SET state = 'empty', changed = 0 WHERE id = ?", id);
}

/** Changes beyond the recorded ones, and the steps that were open together. */
interface ChangesToCome {
  readonly changes: readonly Change[];
  readonly windows: readonly string[];
}

/** True when a turn left every path as it found it, whatever it did in between. */
export function cancelsOut(db: Database, { id, kind, pruned }: Step, more?: ChangesToCome): boolean {
  if (kind !== "turn" || pruned) return false;
  const left = new Map<BytePath, { first: Entry | undefined; last: Entry | undefined; owners: string }>();
  const follows = (
    change: Pick<Change, "path" | "old" | "new" | "shared">,
    windows: () => readonly string[],
  ) => {
    const owners = change.shared ? windows().toSorted().join() : id;
    const known = left.get(change.path);
    left.set(change.path, {
      first: known === undefined ? change.old : known.first,
      last: change.new,
      owners,
    });
    // changes that other steps made in between, or may have made, must not be skipped
    return known === undefined || (sameNode(known.last, change.old) && known.owners === owners);
  };
  for (const row of db.iterate(DELTA, id)) {
    const entry = (column: string) =>
      row[column] === null ? undefined : decodeEntry(row[column] as Uint8Array);
    const path = pathFromBytes(row["path"] as Uint8Array);
    const change = { path, old: entry("old"), new: entry("new"), shared: row["attribution"] === "shared" };
    if (!follows(change, () => readWindows(db, Number(row["checkpoint"])))) return false;
  }
  if (more?.changes.every((change) => follows(change, () => more.windows)) === false) return false;
  return left.size > 0 && [...left.values()].every(({ first, last }) => sameNode(first, last));
}

const DELTA = `SELECT checkpoint, path, old, new, attribution FROM change WHERE step = ?1
  UNION ALL SELECT g.checkpoint, g.path, g.old, g.new, g.attribution FROM shared_window w
    JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared' WHERE w.step = ?1 ORDER BY checkpoint`;

/**
 * Records that a step made a change at this log position. A closed step without changes enters the list after
 * all: an agent it started kept working.
 */
export function noteChange(db: Database, id: string, position: number): void {
  db.run(
    `UPDATE step SET state = CASE state WHEN 'empty' THEN 'applied' ELSE state END, changed = 1, position = ?
       WHERE id = ? AND state <> 'undone'`,
    position,
    id,
  );
}

/**
 * True when a restore, reset or revert came after the step's last change: its further work comes after that.
 */
export function isOvertaken(db: Database, { changed, position, branch }: Step): boolean {
  if (!changed) return false;
  const row = db.get(
    "SELECT 1 FROM step WHERE kind <> 'turn' AND state = 'applied' AND changed = 1 AND position > ? AND branch = ? LIMIT 1",
    position,
    branch,
  );
  return row !== undefined;
}

/** True while a turn is under way here. */
export function hasOpenStep(db: Database): boolean {
  const row = db.get(
    `SELECT 1 FROM step WHERE state = 'open' AND branch = ${BRANCH_HERE} LIMIT 1`,
    db.workingCopy,
  );
  return row !== undefined;
}

/** [R94] The turns that are open here, oldest first: those in other working copies change nothing in this one. */
export function openSteps(db: Database): Step[] {
  return db
    .all(`${SELECT} WHERE s.state = 'open' AND s.branch = ${BRANCH_HERE} ORDER BY s.seq`, db.workingCopy)
    .map(toStep);
}

/** The thread's turn that is open here. */
export function openTurnOf(db: Database, thread: ThreadId): Step | undefined {
  return openSteps(db).find((step) => step.thread === thread && step.kind === "turn");
}

/** The thread's last turn on the line here, open or closed; one that is open in another working copy is not its last here. */
export function lastTurnOf(db: Database, thread: ThreadId): Step | undefined {
  const row = db.get(
    `${SELECT} WHERE s.thread = ?1 AND s.kind = 'turn' AND ${onLine(db, STEP_PLACE)} AND (s.state <> 'open' OR s.branch = ?2)
       ORDER BY s.seq DESC LIMIT 1`,
    thread,
    branchHere(db),
  );
  return row === undefined ? undefined : toStep(row);
}

/** The newest turns here, from a checkpoint on, that changed nothing as far as is known. */
export function emptyTurns(db: Database, since: number, thread: ThreadId | undefined): Step[] {
  return db
    .all(
      `${SELECT} WHERE s.kind = 'turn' AND s.state = 'empty' AND s.before >= ?1 AND s.branch = ?2 AND (?3 IS NULL OR s.thread = ?3)
         ORDER BY s.seq DESC LIMIT ${MOST_EMPTY_TURNS}`,
      since,
      branchHere(db),
      thread ?? null,
    )
    .map(toStep);
}

const MOST_EMPTY_TURNS = 100;

/** Whether a turn of another thread changed something after a checkpoint, on the line here. */
export function haveOthersWorked(db: Database, thread: ThreadId, since: number): boolean {
  const row = db.get(
    `SELECT 1 FROM step s WHERE thread <> ? AND kind = 'turn' AND changed = 1 AND (after IS NULL OR after > ?)
       AND ${onLine(db, STEP_PLACE)} LIMIT 1`,
    thread,
    since,
  );
  return row !== undefined;
}

/** What people see of a step. */
export function summaryOf({ id, kind, thread, agent, prompt, description, at }: Step): StepSummary {
  return { id, kind, thread, agent, prompt, description, at };
}

/** A step by id. */
export function findStep(db: Database, id: string): Step | undefined {
  const row = db.get(`${SELECT} WHERE s.id = ?`, id);
  return row === undefined ? undefined : toStep(row);
}

const SELECT = "SELECT s.*, t.agent AS agent FROM step s LEFT JOIN thread t ON t.id = s.thread";

/**
 * The last of `applied` or `undone` first, of the branch here. A pruned step keeps its place, so that no other takes it.
 * A switch is applied where it led to; undone, it can be taken again from where it left.
 */
export function listSteps(
  db: Database,
  list: "applied" | "undone",
  scope: { thread?: ThreadId | undefined; limit: number },
): Step[] {
  const open = list === "applied" ? openSteps(db).length : 0;
  return db
    .all(
      `${SELECT} WHERE (s.state = ?1 OR (?1 = 'applied' AND s.state = 'open' AND s.changed = 1)) AND (?2 IS NULL OR s.thread = ?2)
         AND CASE WHEN s.kind = 'switch' AND ?1 = 'undone' THEN s.from_branch ELSE s.branch END = ?4
       ORDER BY s.position DESC, s.seq DESC LIMIT ?3`,
      list,
      scope.thread ?? null,
      scope.limit + open,
      branchHere(db),
    )
    .map(toStep)
    .filter((step) => step.state !== "open" || !cancelsOut(db, step))
    .slice(0, scope.limit);
}

/** The step that undo or redo would take; null when there is none or it can no longer be moved. */
export function nextStep(db: Database, list: "applied" | "undone"): Step | null {
  const [step] = listSteps(db, list, { limit: 1 });
  return step === undefined || step.pruned ? null : step;
}

/** How many steps the undo list here has lost because their checkpoints were dropped. */
export function countDropped(db: Database): number {
  const row = db.get(
    "SELECT count(*) AS n FROM step WHERE state = 'applied' AND pruned = 1 AND branch = ?",
    branchHere(db),
  );
  return Number(row?.["n"] ?? 0);
}

/** The seqs of checkpoints at which a step that can no longer be undone began or ended. */
export function droppedEnds(db: Database): Set<number> {
  const rows = db.all("SELECT before, after FROM step WHERE state = 'applied' AND pruned = 1");
  return new Set(rows.flatMap((row) => [Number(row["before"]), Number(row["after"])]));
}

/** Takes the steps whose delta a checkpoint holds off the lists. Call before dropping it. */
export function dropStepsOf(db: Database, seq: number): StepSummary[] {
  const steps = stepsHeldBy(db, seq);
  for (const { id } of steps) db.run("UPDATE step SET pruned = 1 WHERE id = ?", id);
  return steps;
}

/** The steps that cannot be undone or redone without this checkpoint. */
export function stepsHeldBy(db: Database, seq: number): StepSummary[] {
  return db
    .all(
      `${SELECT} WHERE s.pruned = 0 AND s.id IN (SELECT step FROM change WHERE checkpoint = ?1 UNION
         SELECT w.step FROM shared_window w JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared' WHERE w.checkpoint = ?1)`,
      seq,
    )
    .map((row) => summaryOf(toStep(row)));
}

/**
 * [R160] The seqs of all checkpoints from beginning to end of the open turns and of each branch's last complete turn:
 * they are never dropped. `any` adds those of the step that undo would take there, whatever its kind.
 */
export function checkpointsOfNewestSteps(db: Database, kinds: "turns" | "any"): Set<number> {
  const last = (condition: string) =>
    `id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY branch ORDER BY position DESC, seq DESC) AS place
       FROM step WHERE state = 'applied' AND pruned = 0 AND ${condition}) WHERE place = 1)`;
  const newest = `SELECT * FROM step WHERE state = 'open' OR ${last("kind = 'turn'")} OR ${kinds === "any" ? last("1") : "0"}`;
  const rows = db.all(
    `WITH newest AS (${newest})
     SELECT before AS seq FROM newest UNION SELECT after FROM newest
     UNION SELECT c.seq FROM newest s JOIN checkpoint c ON c.thread = s.thread AND c.branch = s.branch AND c.seq >= s.before AND c.seq <= coalesce(s.after, c.seq)
     UNION SELECT g.checkpoint FROM newest s JOIN change g ON g.step = s.id
     UNION SELECT w.checkpoint FROM newest s JOIN shared_window w ON w.step = s.id`,
  );
  return new Set(rows.map(({ seq }) => Number(seq)));
}

/** Moves a step to the end of the other of the two lists: from the applied ones to the undone ones, or back. */
export function moveStep(db: Database, id: string, to: "applied" | "undone", position: number): void {
  db.run("UPDATE step SET state = ?, position = ? WHERE id = ?", to, position, id);
}

/** The step a checkpoint belongs to: its turn, or the restore it completed. */
export function stepOfCheckpoint(db: Database, seq: number): Step | undefined {
  const row = db.get(
    `${SELECT} WHERE s.changed = 1 AND s.kind <> 'switch' AND (s.after = ?1 OR s.before = ?1) ORDER BY s.after = ?1 DESC, s.seq DESC LIMIT 1`,
    seq,
  );
  return row === undefined ? undefined : toStep(row);
}

function toStep(row: Row): Step {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const number = (column: string) => (row[column] === null ? null : Number(row[column]));
  return {
    seq: Number(row["seq"]),
    id: String(row["id"]),
    state: row["state"] as Step["state"],
    kind: row["kind"] as StepKind,
    thread: text("thread") as ThreadId | null,
    agent: text("agent"),
    prompt: text("prompt"),
    description: String(row["description"]),
    at: Number(row["opened_at"]),
    before: number("before"),
    after: number("after"),
    owner: row["owner"] === null ? null : (JSON.parse(String(row["owner"])) as ProcessIdentity),
    pruned: row["pruned"] === 1,
    position: Number(row["position"]),
    changed: Number(row["changed"]) === 1,
    continues: text("continues"),
    branch: Number(row["branch"]),
    fromBranch: number("from_branch"),
  };
}

/** The snapshot that was restored last, unless that was taken back. */
export function restoredLast(db: Database): ObjectHash | undefined {
  const row = db.get(
    `SELECT c.snapshot FROM step s JOIN checkpoint c ON c.seq = s.target
       WHERE s.kind = 'restore' AND s.state <> 'undone' AND s.branch = ${BRANCH_HERE} ORDER BY s.seq DESC LIMIT 1`,
    db.workingCopy,
  );
  return row === undefined ? undefined : hashFromBytes(row["snapshot"] as Uint8Array);
}
