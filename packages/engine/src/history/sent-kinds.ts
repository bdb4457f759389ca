/**
 * Which rows of the history are sent at all (`sync.kinds`, `sync.conversations`). What is not stays in the outbox, so it does
 * not count as stored [T1], and is sent once the settings allow it. The settings are noted in the store when a remote is
 * used: one condition then serves every query.
 */
import type { Database } from "../store/database.ts";

/** What is sent. */
export interface SentKinds {
  readonly kinds: "all" | "turns" | "named";
  readonly conversations: boolean;
}

const KINDS = "sent_kinds";
const CONVERSATIONS = "sent_conversations";

/** Notes which kinds of rows the settings send to remotes. */
export function noteSentKinds(db: Database, { kinds, conversations }: SentKinds): void {
  const before = readSentKinds(db);
  if (db.readOnly || (before.kinds === kinds && before.conversations === conversations)) return;
  db.transaction(() => {
    const note = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)";
    db.run(note, KINDS, kinds);
    db.run(note, CONVERSATIONS, conversations ? "on" : "off");
  });
}

/** Which kinds of rows were noted last as sent to remotes. */
export function readSentKinds(db: Database): SentKinds {
  const value = (key: string) => db.get("SELECT value FROM meta WHERE key = ?", key)?.["value"];
  const kinds = value(KINDS);
  return {
    kinds: kinds === "turns" || kinds === "named" ? kinds : "all",
    conversations: value(CONVERSATIONS) !== "off",
  };
}

/** The kinds of checkpoints that people made or asked for. */
const BY_PEOPLE = "'manual', 'initial', 'approve'";
const BY_TURNS = `${BY_PEOPLE}, 'turn', 'message', 'restore', 'reset', 'switch', 'merge', 'fork'`;

/**
 * The SQL condition that a checkpoint is sent; `row` names its row. What is named or tagged always is, what sessions and
 * branches refer to, and so the newest one: a clone needs it.
 */
export function isSentCheckpoint(row: string): string {
  const isNamed = `(${row}.name IS NOT NULL OR EXISTS (SELECT 1 FROM ref f WHERE f.checkpoint = ${row}.seq)
    OR EXISTS (SELECT 1 FROM branch b WHERE ${row}.seq IN (b.head, b.base, b.start))
    OR EXISTS (SELECT 1 FROM session s WHERE ${row}.seq IN (s.base, s.approved)))`;
  return `(CASE (SELECT value FROM meta WHERE key = '${KINDS}')
    WHEN 'turns' THEN ${row}.kind IN (${BY_TURNS}) OR ${isNamed}
    WHEN 'named' THEN ${row}.kind IN (${BY_PEOPLE}) OR ${isNamed} ELSE 1 END)`;
}

/** The SQL condition that a row of the outbox is sent. */
export function isSentRow(row: string): string {
  return `(CASE ${row}.kind
    WHEN 'checkpoint' THEN coalesce((SELECT value FROM meta WHERE key = '${KINDS}'), 'all') = 'all'
      OR EXISTS (SELECT 1 FROM checkpoint c WHERE c.id = ${row}.id AND ${isSentCheckpoint("c")})
    WHEN 'message' THEN coalesce((SELECT value FROM meta WHERE key = '${CONVERSATIONS}'), 'on') = 'on' ELSE 1 END)`;
}
