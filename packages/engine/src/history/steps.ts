/**
 * Steps: what changed the tree and can be taken out as a whole. A turn is open from its prompt to its
 * stop; the others are closed from the start. From the rows come the two lists: `applied` in the order in which the
 * changes were made, `undone` last in, first out. A step that changed nothing is in neither. An open turn has its
 * place in `applied` as soon as it changed something: the place of its last change.
 */
import type { ThreadId } from "../model/ids.ts";
import type { StepKind, StepSummary } from "../model/plan.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import { sameNode, type Entry } from "../model/entry.ts";
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import { decodeEntry } from "../model/tree.ts";
import type { Database, Row } from "../store/database.ts";
import { readWindows, type Change } from "./changes.ts";

export interface Step extends StepSummary {
  readonly state: "open" | "applied" | "undone" | "empty";
  readonly seq: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly owner: ProcessIdentity | null;
  /** A checkpoint that holds part of its delta was dropped: it can be neither undone nor redone. */
  readonly pruned: boolean;
  /** Where its last change stands in the log; 0 while it has made none. */
  readonly position: number;
  readonly changed: boolean;
  /** The turn that this one goes on with. */
  readonly continues: string | null;
}

export interface NewStep {
  readonly id: string;
  readonly kind: StepKind;
  readonly thread: ThreadId | null;
  readonly description: string;
  readonly prompt: string | null;
  readonly owner: ProcessIdentity | null;
  readonly before: number;
  /** seq of the checkpoint to which a restore takes the conversation back too. */
  readonly target?: number | undefined;
  /** What a restore takes back. */
  readonly scope?: "files" | "conversation" | "both";
  readonly continues?: string | null;
  readonly now: number;
}

/** Opens a turn. */
export function openStep(db: Database, step: NewStep): void {
  db.run(
    `INSERT INTO step (id, kind, thread, description, prompt, owner, opened_at, before, target, scope, continues, state, position)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', 0)`,
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
  );
}

/** Goes on with a turn as a step of its own: the one before it is closed and keeps its place. */
export function continueStep(
  db: Database,
  step: Step,
  next: { id: string; before: number; now: number },
): void {
  const { id, before, now } = next;
  closeStep(db, step.id, { after: before, now });
  openStep(db, { ...step, id, before, now, description: continued(step.description), continues: step.id });
}

/** How a turn is called that goes on with another one. */
export function continued(description: string): string {
  return description.endsWith(CONTINUED) ? description : `${description}${CONTINUED}`;
}

const CONTINUED = " (continued)";

/** Closes a step; one that changed nothing is in no list. */
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

/** What comes on top of what is recorded, and the steps that are at work together. */
interface More {
  readonly changes: readonly Change[];
  readonly windows: readonly string[];
}

/** A turn that left every path as it found it changed nothing, whatever it did in between. */
export function cancelsOut(db: Database, { id, kind, pruned }: Step, more?: More): boolean {
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
    // what others did in between, or may have done, is not to be skipped over
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
 * The step made a change that has this place in the log. One that was over and had changed nothing is a step after
 * all: an agent it started went on.
 */
export function noteChange(db: Database, id: string, position: number): void {
  db.run(
    `UPDATE step SET state = CASE state WHEN 'empty' THEN 'applied' ELSE state END, changed = 1, position = ?
       WHERE id = ? AND state <> 'undone'`,
    position,
    id,
  );
}

/** A restore, reset or revert came after the step's last change: what it does now comes after that one. */
export function isOvertaken(db: Database, { changed, position }: Step): boolean {
  if (!changed) return false;
  const row = db.get(
    "SELECT 1 FROM step WHERE kind <> 'turn' AND state = 'applied' AND changed = 1 AND position > ? LIMIT 1",
    position,
  );
  return row !== undefined;
}

/** True while a turn is under way. */
export function hasOpenStep(db: Database): boolean {
  return db.get("SELECT 1 FROM step WHERE state = 'open' LIMIT 1") !== undefined;
}

export function openSteps(db: Database): Step[] {
  return db.all(`${SELECT} WHERE s.state = 'open' ORDER BY s.seq`).map(toStep);
}

/** The thread's turn that is under way. */
export function openTurnOf(db: Database, thread: ThreadId): Step | undefined {
  return openSteps(db).find((step) => step.thread === thread && step.kind === "turn");
}

/** The thread's last turn, whether it is over or not. */
export function lastTurnOf(db: Database, thread: ThreadId): Step | undefined {
  const row = db.get(`${SELECT} WHERE s.thread = ? AND s.kind = 'turn' ORDER BY s.seq DESC LIMIT 1`, thread);
  return row === undefined ? undefined : toStep(row);
}

export function findStep(db: Database, id: string): Step | undefined {
  const row = db.get(`${SELECT} WHERE s.id = ?`, id);
  return row === undefined ? undefined : toStep(row);
}

const SELECT = "SELECT s.*, t.agent AS agent FROM step s LEFT JOIN thread t ON t.id = s.thread";

/** The last of `applied` or `undone` first; a pruned step keeps its place, so that no other is taken for it. */
export function listSteps(
  db: Database,
  list: "applied" | "undone",
  scope: { thread?: ThreadId | undefined; limit: number },
): Step[] {
  const open = list === "applied" ? openSteps(db).length : 0;
  return db
    .all(
      `${SELECT} WHERE (s.state = ?1 OR (?1 = 'applied' AND s.state = 'open' AND s.changed = 1)) AND (?2 IS NULL OR s.thread = ?2) ORDER BY s.position DESC, s.seq DESC LIMIT ?3`,
      list,
      scope.thread ?? null,
      scope.limit + open,
    )
    .map(toStep)
    .filter((step) => step.state !== "open" || !cancelsOut(db, step))
    .slice(0, scope.limit);
}

/** The step that undo or redo would take; null when there is none, or when it can no longer be moved. */
export function nextStep(db: Database, list: "applied" | "undone"): Step | null {
  const [step] = listSteps(db, list, { limit: 1 });
  return step === undefined || step.pruned ? null : step;
}

/** How many steps would be in the undo list if nothing had been dropped. */
export function countDropped(db: Database): number {
  return Number(db.get("SELECT count(*) AS n FROM step WHERE state = 'applied' AND pruned = 1")?.["n"] ?? 0);
}

/** seqs of the checkpoints at which a step that can no longer be undone began or ended. */
export function droppedEnds(db: Database): Set<number> {
  const rows = db.all("SELECT before, after FROM step WHERE state = 'applied' AND pruned = 1");
  return new Set(rows.flatMap((row) => [Number(row["before"]), Number(row["after"])]));
}

/** Takes the steps whose delta a checkpoint holds off the lists; call before it is dropped. */
export function dropStepsOf(db: Database, seq: number): StepSummary[] {
  const steps = stepsHeldBy(db, seq);
  for (const { id } of steps) db.run("UPDATE step SET pruned = 1 WHERE id = ?", id);
  return steps;
}

/** The steps that can no longer be undone or redone without this checkpoint. */
export function stepsHeldBy(db: Database, seq: number): StepSummary[] {
  return db
    .all(
      `${SELECT} WHERE s.pruned = 0 AND s.id IN (SELECT step FROM change WHERE checkpoint = ?1 UNION
         SELECT w.step FROM shared_window w JOIN change g ON g.checkpoint = w.checkpoint AND g.attribution = 'shared' WHERE w.checkpoint = ?1)`,
      seq,
    )
    .map(toStep)
    .map(({ id, kind, thread, agent, prompt, description }) => ({
      id,
      kind,
      thread,
      agent,
      prompt,
      description,
    }));
}

/**
 * [R160] seqs of the checkpoints of turns under way and of the last complete turn, all that lie between their beginning
 * and end included: they are never dropped. `any`: also those of the step that undo would take, whatever it is.
 */
export function checkpointsOfNewestSteps(db: Database, kinds: "turns" | "any"): Set<number> {
  const last = (condition: string) =>
    `id = (SELECT id FROM step WHERE state = 'applied' AND pruned = 0 AND ${condition} ORDER BY position DESC, seq DESC LIMIT 1)`;
  const newest = `SELECT * FROM step WHERE state = 'open' OR ${last("kind = 'turn'")} OR ${kinds === "any" ? last("1") : "0"}`;
  const rows = db.all(
    `WITH newest AS (${newest})
     SELECT before AS seq FROM newest UNION SELECT after FROM newest
     UNION SELECT c.seq FROM newest s JOIN checkpoint c ON c.thread = s.thread AND c.seq >= s.before AND c.seq <= coalesce(s.after, c.seq)
     UNION SELECT g.checkpoint FROM newest s JOIN change g ON g.step = s.id
     UNION SELECT w.checkpoint FROM newest s JOIN shared_window w ON w.step = s.id`,
  );
  return new Set(rows.map(({ seq }) => Number(seq)));
}

/** Moves a step to the end of the other list. */
export function moveStep(db: Database, id: string, to: "applied" | "undone", position: number): void {
  db.run("UPDATE step SET state = ?, position = ? WHERE id = ?", to, position, id);
}

/** The step that a checkpoint belongs to: its turn, or the restore it completed. */
export function stepOfCheckpoint(db: Database, seq: number): Step | undefined {
  const row = db.get(
    `${SELECT} WHERE s.changed = 1 AND (s.after = ?1 OR s.before = ?1) ORDER BY s.after = ?1 DESC, s.seq DESC LIMIT 1`,
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
    before: number("before"),
    after: number("after"),
    owner: row["owner"] === null ? null : (JSON.parse(String(row["owner"])) as ProcessIdentity),
    pruned: row["pruned"] === 1,
    position: Number(row["position"]),
    changed: Number(row["changed"]) === 1,
    continues: text("continues"),
  };
}
