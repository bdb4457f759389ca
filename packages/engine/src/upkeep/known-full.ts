/**
 * Since when captures have failed because the store is full. The note holds until something is captured again, or until
 * there is more room: nothing on the path of a capture that succeeds reads or clears it.
 */
import { appendEvent } from "../history/events.ts";
import { EngineError } from "../model/errors.ts";
import type { System } from "../model/system.ts";
import type { Database } from "../store/database.ts";
import { pageBytes, readMeta, writeMeta, type Store } from "../store/store.ts";

const KEY = "full";

interface Note {
  readonly at: number;
  /** The newest checkpoint then. */
  readonly newest: number;
  /** Those of the pages: the log beside them comes and goes with every process, and makes no room by that. */
  readonly bytes: number;
  readonly capBytes: number;
}

/** Notes that a capture failed; one that failed before it, with nothing captured between, has said so already. */
export function noteFull(store: Store, system: Pick<System, "now">, capBytes: number): void {
  const { db } = store;
  if (db.readOnly || fullSince(store, capBytes) !== null) return;
  const at = system.now();
  const note: Note = { at, newest: newestSeq(db), bytes: pageBytes(db).total, capBytes };
  try {
    db.transaction(() => {
      writeMeta(db, KEY, JSON.stringify(note));
      appendEvent(db, {
        type: "capture_failed",
        thread: null,
        at,
        data: { events: 1, problem: "The store is full." },
      });
    });
  } catch (error) {
    // on a full disk not even this fits: the capture's own error says it
    if (!(error instanceof EngineError)) throw error;
  }
}

/** When the first capture failed of those that fail now; null while captures succeed, as far as is known. */
export function fullSince(store: Store, capBytes: number): number | null {
  const text = readMeta(store.db, KEY);
  if (text === undefined) return null;
  const note = JSON.parse(text) as Note;
  const isStill =
    note.newest === newestSeq(store.db) &&
    note.capBytes >= capBytes &&
    note.bytes <= pageBytes(store.db).total;
  return isStill ? note.at : null;
}

function newestSeq(db: Database): number {
  return Number(db.get("SELECT max(seq) AS seq FROM checkpoint")?.["seq"] ?? 0);
}
