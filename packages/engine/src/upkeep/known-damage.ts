/**
 * What the last verification found wrong, kept so that every face can say it without reading the store again. Writing it
 * must never make a verification fail: a damaged store may refuse.
 */
import { EngineError } from "../model/errors.ts";
import type { KnownDamage, VerifyReport } from "../model/reports.ts";
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta, type Store } from "../store/store.ts";

const KEY = "damage";

interface Note {
  readonly at: number;
  /** Every byte was read: only such a look can take it back. */
  readonly full: boolean;
  /** Ids. */
  readonly checkpoints: readonly string[];
}

/** Keeps what was found. A sound store without an earlier finding is not written to. */
export function keepDamage(
  { db }: Store,
  { problems }: Pick<VerifyReport, "problems">,
  { now, full }: { readonly now: number; readonly full: boolean },
): void {
  if (db.readOnly) return;
  try {
    const known = readNote(db);
    const checkpoints = [...new Set(problems.flatMap((problem) => problem.checkpoints))];
    if (checkpoints.length > 0) {
      const note: Note = { at: now, full, checkpoints };
      db.transaction(() => writeMeta(db, KEY, JSON.stringify(note)));
    } else if (known !== undefined && problems.length === 0 && (full || !known.full))
      db.transaction(() => db.run("DELETE FROM meta WHERE key = ?", KEY));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

/** The checkpoints among those that are kept which cannot be restored in full; null when none is known. */
export function knownDamage(db: Database): KnownDamage | null {
  const note = readNote(db);
  if (note === undefined) return null;
  const row = db.get(
    `SELECT count(*) AS kept, count(*) FILTER (WHERE id IN (SELECT value FROM json_each(?))) AS damaged
       FROM checkpoint WHERE pruned_at IS NULL`,
    JSON.stringify(note.checkpoints),
  );
  const [kept, damaged] = [Number(row?.["kept"]), Number(row?.["damaged"])];
  return damaged === 0 ? null : { at: note.at, checkpoints: damaged, sound: kept - damaged };
}

/** The ids of checkpoints that the last verification found damaged. */
export function damagedCheckpoints(db: Database): ReadonlySet<string> {
  return new Set(readNote(db)?.checkpoints);
}

function readNote(db: Database): Note | undefined {
  const text = readMeta(db, KEY);
  if (text === undefined) return undefined;
  try {
    const { at, full, checkpoints } = JSON.parse(text) as Note;
    return Array.isArray(checkpoints) && typeof at === "number" ? { at, full, checkpoints } : undefined;
  } catch {
    // the note itself is damaged: the next verification writes it again
    return undefined;
  }
}
