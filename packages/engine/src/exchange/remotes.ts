/** The remotes of a workspace: which there are, what waits for each, and the journal of a push that is under way. */
import { appendEvent } from "../history/events.ts";
import type { JournalEntry, MovedLine, RemoteEntry } from "../model/exchange.ts";
import { EngineError } from "../model/errors.ts";
import type { System } from "../model/system.ts";
import type { Database, Row } from "../store/database.ts";
import { readLeases, releaseLease, releaseQuietly, takeLease } from "../store/lease.ts";
import { isSentRow } from "../history/sent-kinds.ts";
import { ensureTriggers, dropTriggers, FORGET_KIND, queueEverything } from "./synced-tables.ts";

/** All remotes by name. */
export function readRemotes(db: Database): RemoteEntry[] {
  return db.all("SELECT * FROM remote ORDER BY name").map(toRemote);
}

/** Whether the workspace has a remote at all. */
function hasRemotes(db: Database): boolean {
  return db.get("SELECT 1 FROM remote LIMIT 1") !== undefined;
}

/** Adds a remote: from now on, and with everything so far, the outbox knows what it lacks. */
export function addRemote(db: Database, remote: RemoteEntry): void {
  db.transaction(() => {
    db.run(
      `INSERT INTO remote (name, url, space, fingerprint, member, line, began, abilities, segment, segment_hash, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      remote.name,
      remote.url,
      remote.space,
      remote.fingerprint,
      remote.member,
      remote.line,
      remote.began,
      remote.abilities,
      remote.segment,
      remote.segmentHash,
      remote.createdAt,
    );
    ensureTriggers(db);
    queueEverything(db, remote.name);
  });
}

/** Removes a remote with all that waited for it; what is stored there stays. */
export function removeRemote(db: Database, name: string): boolean {
  return db.transaction(() => {
    const isRemoved = db.run("DELETE FROM remote WHERE name = ?", name).changes > 0;
    db.run("DELETE FROM meta WHERE key IN (?, ?)", `withheld_${name}`, obeyedKey(name));
    if (!hasRemotes(db)) dropTriggers(db);
    return isRemoved;
  });
}

/** Where the store notes how far it followed the requests of a remote to forget something. */
export function obeyedKey(name: string): string {
  return `obeyed_${name}`;
}

/** [T4] Goes on as another line, which gets everything again. */
export function beginLine(
  db: Database,
  name: string,
  next: { readonly line: string; readonly began: string },
): void {
  db.transaction(() => {
    db.run(
      "UPDATE remote SET line = ?, began = ?, segment = 0, segment_hash = NULL WHERE name = ?",
      next.line,
      next.began,
      name,
    );
    db.run("DELETE FROM push_journal WHERE remote = ?", name);
    db.run("DELETE FROM outbox WHERE remote = ?", name);
    queueEverything(db, name);
  });
}

/** Notes why a push did not end well; null when it did. */
export function noteProblem(
  db: Database,
  name: string,
  {
    problem,
    retryAt,
    at,
  }: { readonly problem: string | null; readonly retryAt: number | null; readonly at: number },
): void {
  db.transaction(() => {
    const before = db.get("SELECT problem FROM remote WHERE name = ?", name);
    if (before === undefined) return;
    if (before["problem"] !== problem) db.run("UPDATE remote SET problem = ? WHERE name = ?", problem, name);
    if (problem === null) return;
    const [code = ""] = problem.split(":");
    const data = { remote: name, code, problem, retryAt };
    appendEvent(db, { type: "sync_failed", thread: null, at, data });
  });
}

/** How many checkpoints, and how many records in all, wait for a remote. */
export function countQueued(db: Database, name: string): { checkpoints: number; records: number } {
  const row = db.get(
    `SELECT count(DISTINCT CASE kind WHEN 'checkpoint' THEN id END) AS checkpoints, count(DISTINCT kind || ' ' || id) AS records
     FROM outbox o WHERE remote = ? AND ${isSentRow("o")}`,
    name,
  );
  return { checkpoints: Number(row?.["checkpoints"] ?? 0), records: Number(row?.["records"] ?? 0) };
}

/** [R1811] The place of the newest forgetting that the line of a remote does not know of; 0 when it knows of all. */
export function forgetsUntil(db: Database, name: string): number {
  const row = db.get("SELECT max(seq) AS seq FROM outbox WHERE remote = ? AND kind = ?", name, FORGET_KIND);
  return Number(row?.["seq"] ?? 0);
}

/** The line of a remote no longer has what was forgotten up to a place. */
export function settleForgets(db: Database, name: string, until: number): void {
  db.transaction(() =>
    db.run("DELETE FROM outbox WHERE remote = ? AND kind = ? AND seq <= ?", name, FORGET_KIND, until),
  );
}

/** What `sync.withhold` was when a remote was last told all that follows from it, as text. */
export function withholdingOf(db: Database, name: string): string {
  return String(db.get("SELECT value FROM meta WHERE key = ?", `withheld_${name}`)?.["value"] ?? "[]");
}

/** Notes that a remote knows all that follows from `sync.withhold`. */
export function noteWithholding(db: Database, name: string, patterns: string): void {
  db.transaction(() =>
    db.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", `withheld_${name}`, patterns),
  );
}

/** The requests of a push that did not end. */
export function readJournal(db: Database, name: string): JournalEntry[] {
  return db.all("SELECT * FROM push_journal WHERE remote = ? ORDER BY at, key", name).map((row) => ({
    key: String(row["key"]),
    kind: row["kind"] as JournalEntry["kind"],
    stored: row["stored"] === 1,
    at: Number(row["at"]),
    until: row["until"] === null ? null : Number(row["until"]),
    detail: Buffer.from(row["detail"] as Uint8Array),
  }));
}

/** [T1] Writes a request down before it is sent, or that the server has it. */
export function noteRequest(db: Database, name: string, entry: JournalEntry): void {
  db.transaction(() =>
    db.run(
      `INSERT INTO push_journal (remote, key, kind, stored, at, until, detail) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (remote, key) DO UPDATE SET stored = excluded.stored`,
      name,
      entry.key,
      entry.kind,
      entry.stored ? 1 : 0,
      entry.at,
      entry.until,
      entry.detail,
    ),
  );
}

/** Forgets the requests of a push that will not go on. */
export function dropJournal(db: Database, name: string): void {
  db.transaction(() => db.run("DELETE FROM push_journal WHERE remote = ?", name));
}

const LIMITED_KINDS = "'checkpoint', 'message'";

/** [T1] A segment is known to be stored: what it sent is out of the outbox, in one transaction with its number and hash. */
export function settleSegment(
  db: Database,
  name: string,
  settled: {
    readonly segment: number;
    readonly hash: string;
    readonly until: number;
    readonly at: number;
    /** What the segments of a selection sent; undefined when they sent everything up to there. */
    readonly sent?: readonly { readonly kind: string; readonly id: string }[];
    /** What was sent is all that the settings let go: only checkpoints and messages may be left behind. */
    readonly isLimited?: boolean;
    /** This machine's time. */
    readonly now: number;
  },
): void {
  const { sent, until } = settled;
  db.transaction(() => {
    if (sent === undefined)
      db.run("DELETE FROM outbox WHERE remote = ? AND seq <= ? AND kind <> ?", name, until, FORGET_KIND);
    // what is left of the other kinds is gone from the history
    if (settled.isLimited === true)
      db.run(
        `DELETE FROM outbox WHERE remote = ? AND seq <= ? AND kind NOT IN (${LIMITED_KINDS}, ?)`,
        name,
        until,
        FORGET_KIND,
      );
    for (const { kind, id } of sent ?? [])
      db.run(
        "DELETE FROM outbox WHERE remote = ? AND kind = ? AND id = ? AND seq <= ?",
        name,
        kind,
        id,
        until,
      );
    db.run("DELETE FROM push_journal WHERE remote = ?", name);
    db.run(
      // [R1501] that the server went back is not mended by a push: a pull that finds everything takes it off
      `UPDATE remote SET segment = ?, segment_hash = ?, pushed_at = ?,
         problem = CASE WHEN problem LIKE 'REMOTE_ROLLED_BACK%' THEN problem END WHERE name = ?`,
      settled.segment,
      settled.hash,
      settled.at,
      name,
    );
    if ((sent === undefined || settled.isLimited === true) && countQueued(db, name).records > 0) return;
    const data = { remote: name, direction: "push" };
    appendEvent(db, { type: "sync_finished", thread: null, at: settled.now, data });
  });
}

/** Notes when the lines of others were looked at, and which of them had moved. */
export function notePulled(
  db: Database,
  name: string,
  { at, moved }: { readonly at: number; readonly moved: readonly MovedLine[] },
): void {
  db.transaction(() => {
    db.run("UPDATE remote SET pulled_at = ? WHERE name = ?", at, name);
    const tell = (type: "remote_changed" | "sync_finished", data: object) =>
      appendEvent(db, { type, thread: null, at, data: { remote: name, ...data } });
    for (const { line, checkpoints } of moved) tell("remote_changed", { line, checkpoints });
    tell("sync_finished", { direction: "pull" });
  });
}

/** Takes the lease of pushing: one at a time. The lease of a dead process is void. */
export function claimSync(db: Database, system: System): Disposable {
  const lease = db.transaction(() => {
    ensureTriggers(db);
    for (const other of readLeases(db, "sync")) {
      if (!system.isAlive(other.owner)) releaseLease(db, other.id);
      else
        throw new EngineError(
          "STORE_BUSY",
          `Process ${other.owner.pid} is pushing already. Nothing was changed.`,
          { store: "" },
        );
    }
    return takeLease(db, "sync", system.owner, system.now());
  });
  return {
    [Symbol.dispose]: () => releaseQuietly(() => db.transaction(() => releaseLease(db, lease))),
  };
}

function toRemote(row: Row): RemoteEntry {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    name: String(row["name"]),
    url: String(row["url"]),
    space: String(row["space"]),
    fingerprint: String(row["fingerprint"]),
    member: String(row["member"]),
    line: String(row["line"]),
    began: text("began"),
    abilities: String(row["abilities"]),
    segment: Number(row["segment"]),
    segmentHash: text("segment_hash"),
    createdAt: Number(row["created_at"]),
    pushedAt: row["pushed_at"] === null ? null : Number(row["pushed_at"]),
    pulledAt: row["pulled_at"] === null ? null : Number(row["pulled_at"]),
    problem: text("problem"),
  };
}
