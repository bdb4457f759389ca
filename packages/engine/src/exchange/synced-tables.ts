/**
 * Which rows belong to the history that other machines may have, and how the outbox learns of them: by triggers, so that
 * no writer can forget one. They exist only while the workspace has a remote; without one they cost nothing. Events,
 * leases, journals, open tool calls and caches stay at home.
 */
import type { Database } from "../store/database.ts";
import { isFetchedRow } from "./fetched-row.ts";

/** A table whose rows are records. */
export interface SyncedTable {
  readonly kind: string;
  readonly table: string;
  /** The record's id in terms of a row of the table, which stands for `$`. */
  readonly id: string;
  /** In which order the rows came about. */
  readonly order: string;
  /** Which rows are records; defaults to all. In terms of `$`. */
  readonly where?: string;
  /** Columns that mean something on this machine only: left out, and no reason to send a row again. */
  readonly local?: readonly string[];
}

/** In the order in which rows refer to each other. */
export const SYNCED_TABLES: readonly SyncedTable[] = [
  { kind: "branch", table: "branch", id: "CAST($.id AS TEXT)", order: "id" },
  { kind: "thread", table: "thread", id: "$.id", order: "seq", local: ["heard_at", "client"] },
  { kind: "session", table: "session", id: "$.thread || ' ' || $.number", order: "opened_at" },
  {
    kind: "checkpoint",
    table: "checkpoint",
    id: "$.id",
    order: "seq",
    // what was fetched is in another line, where it stays
    where: `NOT ${isFetchedRow("$")}`,
    local: ["working_copy"],
  },
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
  {
    kind: "annotation",
    table: "annotation",
    id: "$.line || ' ' || $.checkpoint || ' ' || $.field",
    order: "clock",
    // what others wrote is in their lines
    where: "$.device = (SELECT value FROM meta WHERE key = 'store_id')",
  },
];

/** Tables whose rows travel inside the record of their checkpoint. */
export const CHECKPOINT_PARTS = ["gap", "doubt", "change", "shared_window"] as const;

/** The kind of a tag's record; its id is the name of the reference. */
export const TAG_KIND = "ref";

/** [R1811] What was forgotten here and is still in a line: it waits in the outbox until a base without it is stored. */
export const FORGET_KIND = "forget";

/** Every trigger is named like this, so that it can be told from the definition of the store. */
const TRIGGER_PREFIX = "outbox_";

/** Makes the triggers that fill the outbox of every remote; those that an earlier version made are replaced. */
export function ensureTriggers(db: Database): void {
  const wanted = triggersOf(db);
  const found = db.all(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB ?",
    `${TRIGGER_PREFIX}*`,
  );
  const isThere = (sql: string) => found.some((row) => row["sql"] === sql);
  if (found.length === wanted.length && wanted.every(isThere)) return;
  dropTriggers(db);
  for (const sql of wanted) db.exec(sql);
}

function triggersOf(db: Database): string[] {
  const rows = SYNCED_TABLES.flatMap(({ kind, table, id, where, local = [] }) => {
    const queue = queueRow(kind, id.replaceAll("$", "NEW"), where?.replaceAll("$", "NEW"));
    const columns = columnsOf(db, table).filter((name) => !local.includes(name));
    return [
      trigger(`${table}_insert`, `AFTER INSERT ON ${table}`, queue),
      trigger(`${table}_update`, `AFTER UPDATE OF ${columns.join(", ")} ON ${table}`, queue),
    ];
  });
  const parts = CHECKPOINT_PARTS.flatMap((part) => {
    const owner = `(SELECT id FROM checkpoint c WHERE c.seq = NEW.checkpoint AND NOT ${isFetchedRow("c")})`;
    const queue = queueRow("checkpoint", owner, `${owner} IS NOT NULL`);
    return [
      trigger(`${part}_insert`, `AFTER INSERT ON ${part}`, queue),
      trigger(`${part}_update`, `AFTER UPDATE ON ${part}`, queue),
    ];
  });
  const tag = (row: string) => queueRow(TAG_KIND, `${row}.name`, isOwnTag(row));
  // which branch the root is on is part of the branches' state
  const places = ["OLD", "NEW"].map((row) => queueRow("branch", `CAST(${row}.branch AS TEXT)`)).join("; ");
  return [
    ...rows,
    ...parts,
    trigger("ref_insert", "AFTER INSERT ON ref", tag("NEW")),
    trigger("ref_update", "AFTER UPDATE ON ref", tag("NEW")),
    trigger("ref_delete", "AFTER DELETE ON ref", tag("OLD")),
    trigger(
      "forget_insert",
      "AFTER INSERT ON operation WHEN NEW.kind = 'forget'",
      queueRow(FORGET_KIND, "NEW.id"),
    ),
    trigger("working_copy_update", "AFTER UPDATE OF branch ON working_copy", places),
  ];
}

/** The SQL condition that a reference is on a checkpoint of this line. */
function isOwnTag(row: string): string {
  return `NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.seq = ${row}.checkpoint AND ${isFetchedRow("c")})`;
}

/** Takes away the triggers that fill the outbox. */
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
  db.run(
    `INSERT INTO outbox (remote, kind, id) SELECT ?, ?, name FROM ref WHERE ${isOwnTag("ref")} ORDER BY name`,
    remote,
    TAG_KIND,
  );
}

function queueRow(kind: string, id: string, where = "1"): string {
  return `INSERT INTO outbox (remote, kind, id) SELECT name, '${kind}', ${id} FROM remote WHERE ${where}`;
}

function trigger(name: string, when: string, work: string): string {
  return `CREATE TRIGGER ${TRIGGER_PREFIX}${name} ${when} BEGIN ${work}; END`;
}

/** The columns of a table that remotes get. */
export function columnsOf(db: Database, table: string): string[] {
  return db.all(`PRAGMA table_info(${table})`).map((row) => String(row["name"]));
}
