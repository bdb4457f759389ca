/**
 * Which processes are at work in the store. A lease identifies its process exactly, so the lease of a dead
 * process is recognised and blocks nothing.
 */
import { EngineError } from "../model/errors.ts";
import { randomId } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Database, Row } from "./database.ts";

/** The kinds of work that take a lease. */
export type LeaseKind = "capture" | "restore" | "gc" | "sync" | "fix";

/** The right of one process to do one kind of work. */
export interface Lease {
  readonly id: string;
  readonly kind: LeaseKind;
  readonly owner: ProcessIdentity;
  readonly since: number;
  /** Packs from this number on may hold objects that nothing refers to yet. */
  readonly firstPack: number;
}

/** Takes a lease; call inside a transaction. */
export function takeLease(db: Database, kind: LeaseKind, owner: ProcessIdentity, since = 0): string {
  const id = randomId();
  takeLeaseOf(db, { id, kind, owner, since });
  return id;
}

/** Takes the lease of one thing that has an id of its own; it is no longer the one of the process that had it. Call inside a transaction. */
export function takeLeaseOf(db: Database, { id, kind, owner, since }: Omit<Lease, "firstPack">): void {
  db.run(
    `INSERT OR REPLACE INTO lease (id, kind, pid, started, boot, since, working_copy, first_pack)
     VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) + 1 FROM pack))`,
    id,
    kind,
    owner.pid,
    owner.started,
    owner.boot,
    since,
    db.workingCopy,
  );
}

/** Deletes a lease that this process took. */
export function releaseLease(db: Database, id: string): void {
  db.run("DELETE FROM lease WHERE id = ?", id);
}

/**
 * [N1] Releases a lease if the store allows it. A lease that stays is void once its process ends. A failed
 * release must not hide the outcome of the work.
 */
export function releaseQuietly(release: () => void): void {
  try {
    release();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

/** All leases of the store, or those of one kind; dead ones included. */
export function readLeases(db: Database, kind?: LeaseKind): Lease[] {
  const rows = db.all("SELECT * FROM lease WHERE ?1 IS NULL OR kind = ?1", kind ?? null);
  return rows.map(toLease);
}

/** The leases of restores in this working copy; dead ones included. Those in another one change no file here. */
export function readRestoresHere(db: Database): Lease[] {
  return db
    .all("SELECT * FROM lease WHERE kind = 'restore' AND working_copy = ?", db.workingCopy)
    .map(toLease);
}

function toLease(row: Row): Lease {
  return {
    id: String(row["id"]),
    kind: row["kind"] as LeaseKind,
    owner: { pid: Number(row["pid"]), started: String(row["started"]), boot: String(row["boot"]) },
    since: Number(row["since"]),
    firstPack: Number(row["first_pack"]),
  };
}
