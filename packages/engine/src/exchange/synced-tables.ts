/**
 * Which rows belong to the history that other machines may have, and how the outbox learns of them: by triggers, so that
 * no writer can forget one. They exist only while the workspace has a remote; without one they cost nothing. Events,
 * leases, journals, open tool calls and caches stay at home.
 */
import type { Database } from "../store/database.ts";

/** A table whose rows are records. */
export interface SyncedTable {
  readonly kind: string;
  readonly table: string;
  /** The record's id in terms of a row of the table, which stands for `$`. */
  readonly id: string;
  /** In which order the rows came about. */
  readonly order: string;
  /** Which rows are records; all unless given. In terms of `$`. */
  readonly where?: string;
  /** Columns that mean something on this machine only: left out, and no reason to send a row again. */
  readonly local?: readonly string[];
}

/** In the order in which rows refer to each other. */
export const SYNCED_TABLES: readonly SyncedTable[] = [
  { kind: "branch", table: "branch", id: "CAST($.id AS TEXT)", order: "id" },
  { kind: "thread", table: "thread", id: "$.id", order: "seq", local: ["heard_at", "client"] },
  { kind: "session", table: "session", id: "$.thread || ' ' || $.number", order: "opened_at" },
  { kind: "checkpoint", table: "checkpoint", id: "$.id", order: "seq", local: ["working_copy"] },
  { kind: "step", table: "step", id: "$.id", order: "seq" },
  { kind: "message", table: "message", id: "$.id", order: "seq" },
  {
    kind: "tool_call",
    table: "tool_call",
    id: "CAST($.seq AS TEXT)",
    order: "seq",
    where: "$.closed_at IS NOT NULL",
    local: ["snapshot", "rules", "excluded", "working_copy"],
  },
  { kind: "agent_run", table: "agent_run", id: "$.thread || ' ' || $.id", order: "seq" },
  { kind: "operation", table: "operation", id: "$.id", order: "seq" },
  { kind: "uncaptured", table: "uncaptured", id: "CAST($.seq AS TEXT)", order: "seq" },
];

/** Tables whose rows travel inside the record of their checkpoint. */
export const CHECKPOINT_PARTS = ["gap", "doubt", "change", "shared_window"] as const;

/** The kind of a tag's record; its id is the name of the reference. */
export const TAG_KIND = "ref";

/** Every trigger is named like this, so that it can be told from the definition of the store. */
const TRIGGER_PREFIX = "outbox_";

/** Makes the triggers that fill the outbox of every remote. */
export function createTriggers(db: Database): void {
  for (const table of SYNCED_TABLES) {
    const queue = queueRow(table.kind, table.id.replaceAll("$", "NEW"), table.where?.replaceAll("$", "NEW"));
    const columns = columnsOf(db, table.table).filter((name) => !(table.local ?? []).includes(name));
    trigger(db, `${table.table}_insert`, `AFTER INSERT ON ${table.table}`, queue);
    trigger(db, `${table.table}_update`, `AFTER UPDATE OF ${columns.join(", ")} ON ${table.table}`, queue);
  }
  for (const part of CHECKPOINT_PARTS) {
    const owner = (row: string) => `(SELECT id FROM checkpoint WHERE seq = ${row}.checkpoint)`;
    trigger(
      db,
      `${part}_insert`,
      `AFTER INSERT ON ${part}`,
      queueRow("checkpoint", owner("NEW"), ownerIs(owner("NEW"))),
    );
    trigger(
      db,
      `${part}_update`,
      `AFTER UPDATE ON ${part}`,
      queueRow("checkpoint", owner("NEW"), ownerIs(owner("NEW"))),
    );
  }
  trigger(db, "ref_insert", "AFTER INSERT ON ref", queueRow(TAG_KIND, "NEW.name"));
  trigger(db, "ref_update", "AFTER UPDATE ON ref", queueRow(TAG_KIND, "NEW.name"));
  trigger(db, "ref_delete", "AFTER DELETE ON ref", queueRow(TAG_KIND, "OLD.name"));
  // which branch the root is on is part of the branches' state
  const places = ["OLD", "NEW"].map((row) => queueRow("branch", `CAST(${row}.branch AS TEXT)`)).join("; ");
  trigger(db, "working_copy_update", "AFTER UPDATE OF branch ON working_copy", places);
}

/** Takes the triggers away. */
export function dropTriggers(db: Database): void {
  for (const { name } of db.all(
    "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB ?",
    `${TRIGGER_PREFIX}*`,
  ))
    db.exec(`DROP TRIGGER ${String(name)}`);
}

/** Puts every row of the history into the outbox of one remote. */
export function queueEverything(db: Database, remote: string): void {
  for (const { kind, table, id, order, where } of SYNCED_TABLES)
    db.run(
      `INSERT INTO outbox (remote, kind, id)
       SELECT ?, ?, ${id.replaceAll("$", "t")} FROM ${table} t WHERE ${where?.replaceAll("$", "t") ?? "1"} ORDER BY t.${order}`,
      remote,
      kind,
    );
  db.run("INSERT INTO outbox (remote, kind, id) SELECT ?, ?, name FROM ref ORDER BY name", remote, TAG_KIND);
}

function queueRow(kind: string, id: string, where = "1"): string {
  return `INSERT INTO outbox (remote, kind, id) SELECT name, '${kind}', ${id} FROM remote WHERE ${where}`;
}

function ownerIs(owner: string): string {
  return `${owner} IS NOT NULL`;
}

function trigger(db: Database, name: string, when: string, work: string): void {
  db.exec(`CREATE TRIGGER IF NOT EXISTS ${TRIGGER_PREFIX}${name} ${when} BEGIN ${work}; END`);
}

/** The columns of a table. */
export function columnsOf(db: Database, table: string): string[] {
  return db.all(`PRAGMA table_info(${table})`).map((row) => String(row["name"]));
}
