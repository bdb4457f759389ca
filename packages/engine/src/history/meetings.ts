/**
 * Which merges are in the files: where branches met. A merge counts only while its work is surely there: a merge that is
 * taken for one that is in the files would leave out work that is nowhere, the reverse only compares more than it has to.
 */
import type { Database } from "../store/database.ts";
import { beginningOf, type Place } from "./line.ts";
import { listMerges } from "./merge-rows.ts";

/** A place where two branches met: all of a source up to `head` is in the target from `checkpoint` on. */
export interface Meeting {
  readonly into: number;
  readonly checkpoint: number;
  readonly source: number;
  readonly head: number;
}

/**
 * The merges whose work is in the files: their step was not undone, no step took the source out by itself, and no restore
 * went back over them.
 */
export function meetings(db: Database): Meeting[] {
  const known = meetingsByStep(db);
  return known.filter((meeting) => !isRestoredOver(db, meeting, { known, until: Infinity }));
}

/** The newest checkpoint that brought a branch into the branch here and is in effect; undefined when there is none. */
export function checkpointThatBrought(db: Database, branch: number, into: number): number | undefined {
  const brought = meetings(db).filter((each) => each.into === into && each.source === branch);
  return brought.length === 0 ? undefined : Math.max(...brought.map(({ checkpoint }) => checkpoint));
}

/** Those that no undo and no revert took out. */
function meetingsByStep(db: Database): Meeting[] {
  return listMerges(db).flatMap(({ into, sources }) =>
    sources.flatMap(({ branch, head, checkpoint, step, takenOutBy }) => {
      if (checkpoint === null || !isInEffect(db, step)) return [];
      if (takenOutBy !== null && isInEffect(db, takenOutBy)) return [];
      return [{ into, checkpoint, source: branch, head }];
    }),
  );
}

/** A step that changed nothing cannot be undone. */
function isInEffect(db: Database, step: string | null): boolean {
  const row = db.get("SELECT state FROM step WHERE id = ?", step);
  return row?.["state"] === "applied" || row?.["state"] === "empty";
}

/** The state that is asked about: of a whole branch, or as it was at a checkpoint. */
interface Asked {
  readonly known: readonly Meeting[];
  readonly until: number;
}

/**
 * Whether a restore or reset on the merge's branch put back what the merge had changed, from a state without it. That
 * state may be on any line, so numbers alone say nothing. In an earlier state, restores that were undone since count too.
 */
function isRestoredOver(db: Database, { into, checkpoint }: Meeting, { known, until }: Asked): boolean {
  const rows = db.all(
    `SELECT s.id AS id, s.target AS target, c.branch AS branch FROM step s LEFT JOIN checkpoint c ON c.seq = s.target
       WHERE s.kind IN ('restore', 'reset') AND s.branch = ?1 AND s.before >= ?2 AND s.scope <> 'conversation'
         AND (s.state = 'applied' OR (s.state = 'undone' AND ?3 IS NOT NULL)) AND coalesce(s.after, 0) <= coalesce(?3, s.after, 0)`,
    into,
    checkpoint,
    until === Infinity ? null : until,
  );
  return rows.some(({ id, target, branch }) => {
    if (target !== null && branch === null) return true;
    const place = { branch: Number(branch ?? into), seq: Number(target ?? 0) };
    return (
      !holdsPlace(db, place, { place: { branch: into, seq: checkpoint }, known }) &&
      putsBack(db, String(id), checkpoint)
    );
  });
}

/** Whether all of one place is surely in another, by where its branches began and what was merged into them. */
function holdsPlace(
  db: Database,
  from: Place,
  { place, known }: { place: Place; known: readonly Meeting[] },
): boolean {
  const waiting: Place[] = [from];
  const seen = new Map<number, number>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { branch, seq } = next;
    if ((seen.get(branch) ?? -1) >= seq) continue;
    seen.set(branch, seq);
    if (branch === place.branch && seq >= place.seq) return true;
    const beginning = beginningOf(db, branch);
    if (beginning !== undefined)
      waiting.push({ branch: beginning.branch, seq: Math.min(beginning.seq, seq) });
    for (const meeting of known)
      if (
        meeting.into === branch &&
        meeting.checkpoint <= seq &&
        !isRestoredOver(db, meeting, { known, until: seq })
      )
        waiting.push({ branch: meeting.source, seq: meeting.head });
  }
  return false;
}

/** Whether a restore changed a path that a merge had brought. What is no longer known counts as changed. */
function putsBack(db: Database, step: string, checkpoint: number): boolean {
  const isKnown = (sql: string, key: string | number) => db.get(sql, key) !== undefined;
  if (!isKnown("SELECT 1 FROM change WHERE step = ? LIMIT 1", step)) return true;
  if (!isKnown("SELECT 1 FROM change WHERE checkpoint = ? LIMIT 1", checkpoint)) return true;
  const row = db.get(
    `SELECT 1 FROM change r JOIN change m ON m.checkpoint = ?2 AND m.path = r.path WHERE r.step = ?1 LIMIT 1`,
    step,
    checkpoint,
  );
  return row !== undefined;
}
