/**
 * Removes text from the store [R165]: a whole thread, or one message with its turn. Rows, ids, checkpoints
 * and steps stay. The text goes wherever it was copied: messages, prompts, descriptions, titles, events, and
 * the descriptions of later operations. The log is sealed again from the first changed entry; this operation
 * is its last.
 */
import { rewriteDetails } from "../history/operations.ts";
import type { ThreadId } from "../model/ids.ts";
import type { ForgetWordsReport } from "../model/reports.ts";
import type { System } from "../model/system.ts";
import type { Database, Row, Value } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { purge } from "./purge.ts";

/** Replaces forgotten text. */
const FORGOTTEN = "[forgotten]";

/** The rows of each table that lose their text, as conditions with one value. */
interface Chosen {
  readonly thread: ThreadId;
  readonly value: Value;
  readonly message: string;
  readonly step: string;
  readonly agent: string;
  readonly checkpoint: string;
  /** True for a whole thread, false for one message. */
  readonly isWhole: boolean;
}

/** Descriptions that no person chose. */
const DESCRIBED = "kind IN ('message', 'tool', 'agent', 'turn', 'initial', 'approve', 'reset')";

/** Forgets all text of a thread. */
export function forgetThread(
  store: Store,
  system: System,
  thread: ThreadId,
  options: { dryRun: boolean; packs: boolean },
): ForgetWordsReport {
  const own = "thread = ?";
  const checkpoint = `thread = ? AND ${DESCRIBED}`;
  const chosen = { thread, value: thread, message: own, step: own, agent: own, checkpoint, isWhole: true };
  return forget(store, system, chosen, options);
}

/** Forgets one message and all other text of its turn. */
export function forgetMessage(
  store: Store,
  system: System,
  message: { readonly id: string; readonly thread: ThreadId },
  options: { dryRun: boolean; packs: boolean },
): ForgetWordsReport {
  const turn = "(SELECT step FROM message WHERE id = ?1)";
  return forget(
    store,
    system,
    {
      thread: message.thread,
      value: message.id,
      message: `id = ?1 OR step = ${turn}`,
      step: `id = ${turn}`,
      agent: `step = ${turn}`,
      checkpoint: `${DESCRIBED} AND EXISTS (SELECT 1 FROM message m LEFT JOIN step s ON s.id = m.step WHERE m.id = ?1
        AND m.thread = checkpoint.thread AND (checkpoint.seq = m.checkpoint
          OR checkpoint.seq >= s.before AND checkpoint.seq <= coalesce(s.after, checkpoint.seq)))`,
      isWhole: false,
    },
    options,
  );
}

function forget(
  store: Store,
  system: System,
  chosen: Chosen,
  { dryRun, packs }: { dryRun: boolean; packs: boolean },
): ForgetWordsReport {
  const { db } = store;
  const count = (table: "message" | "step" | "checkpoint") =>
    Number(db.get(`SELECT count(*) AS n FROM ${table} WHERE ${chosen[table]}`, chosen.value)?.["n"] ?? 0);
  const report = {
    thread: chosen.thread,
    messages: count("message"),
    steps: count("step"),
    checkpoints: count("checkpoint"),
    dryRun,
  };
  const detail = { target: chosen.isWhole ? "thread" : "message", thread: chosen.thread };
  if (!dryRun) purge(store, system, { detail, packs, work: () => forgetIn(db, chosen) });
  return report;
}

function forgetIn(db: Database, chosen: Chosen): void {
  const { value, thread, isWhole } = chosen;
  const without = wordRemover(collectWords(db, chosen));
  db.run(`UPDATE agent_run SET role = 'agent' WHERE ${chosen.agent}`, value);
  db.run(
    `UPDATE checkpoint SET description = '${FORGOTTEN}', agent = NULL, conversation = NULL WHERE ${chosen.checkpoint}`,
    value,
  );
  db.run(`UPDATE step SET prompt = NULL, description = '${FORGOTTEN}' WHERE ${chosen.step}`, value);
  db.run(
    `UPDATE run SET role = 'agent', prompt = '${FORGOTTEN}', command = '[]', reason = NULL WHERE step IN (SELECT id FROM step WHERE ${chosen.step})`,
    value,
  );
  db.run(`UPDATE message SET content = '${FORGOTTEN}', artifacts = '[]' WHERE ${chosen.message}`, value);
  if (isWhole) {
    db.run("UPDATE thread SET title = NULL WHERE id = ?", thread);
    db.run("UPDATE session SET message = NULL WHERE thread = ?", thread);
  }
  for (const [table, column] of DERIVED) replaceIn(db, table, column, without);
  rewriteDetails(db, (written) => without(written));
}

/** Columns that quote other descriptions: "Undid: …", "Restored to checkpoint 3 (…)", a title. */
const DERIVED = [
  ["checkpoint", "description"],
  ["step", "description"],
  ["thread", "title"],
  ["version", "description"],
  ["event", "data"],
] as const;

function replaceIn(db: Database, table: string, column: string, without: (text: string) => string): void {
  for (const row of db.all(`SELECT seq, ${column} AS text FROM ${table} WHERE ${column} IS NOT NULL`)) {
    const text = String(row["text"]);
    const left = without(text);
    if (left !== text) db.run(`UPDATE ${table} SET ${column} = ? WHERE seq = ?`, left, Number(row["seq"]));
  }
}

/** Every forgotten text that other texts may quote. */
function collectWords(db: Database, chosen: Chosen): Set<string> {
  const { value, thread, isWhole } = chosen;
  const words = new Set<string>();
  const add = (rows: readonly Row[]) => {
    for (const row of rows)
      for (const text of Object.values(row)) if (typeof text === "string") words.add(text);
  };
  add(db.all(`SELECT content FROM message WHERE ${chosen.message}`, value));
  add(db.all(`SELECT prompt, description FROM step WHERE ${chosen.step}`, value));
  add(db.all(`SELECT description FROM checkpoint WHERE ${chosen.checkpoint}`, value));
  if (isWhole) {
    add(db.all("SELECT title FROM thread WHERE id = ?", thread));
    add(db.all("SELECT message FROM session WHERE thread = ?", thread));
  }
  return words;
}

/** Shorter texts are replaced only where they are the whole text. */
const DISTINCT_CHARACTERS = 8;

function wordRemover(words: ReadonlySet<string>): (text: string) => string {
  // the longest first: one may be part of another. JSON escapes them differently
  const forms = [...words].flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]);
  const ordered = [...new Set(forms)]
    .filter((form) => form.trim() !== "")
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let left = text;
    for (const form of ordered) {
      if (form.length >= DISTINCT_CHARACTERS) left = left.replaceAll(form, FORGOTTEN);
      else
        left = left.replace(/(?<=^|: |; |\()[^;)]+(?=$|;|\))/g, (part) => (part === form ? FORGOTTEN : part));
    }
    return left;
  };
}
