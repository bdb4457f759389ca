/** AgentSmithy's journal of a dialog: a SQLite database with its sessions and messages. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ImportedMessage, SessionName } from "@belay/engine";
import { recordOf, textOf, timeOf } from "./facts.ts";
import type { OldData } from "./old-data.ts";

/** A session as the journal has it. */
export interface JournalSession {
  readonly name: SessionName;
  readonly status: string;
  readonly createdAt: number;
  readonly closedAt: number | null;
  readonly approved: string | null;
}

/** What a journal says. */
export interface Journal {
  readonly sessions: readonly JournalSession[];
  readonly messages: readonly ImportedMessage[];
}

/** The journal of a dialog; one that cannot be read is noted. */
export function readJournal(data: OldData): Journal {
  const nothing = { sessions: [], messages: [] };
  if (!data.has("journal.sqlite")) return nothing;
  const copy = mkdtempSync(join(tmpdir(), "belay-import-"));
  try {
    // SQLite writes beside a database that it reads; the old place is only read
    for (const name of ["journal.sqlite", "journal.sqlite-wal"].filter((each) => data.has(each)))
      writeFileSync(join(copy, name), data.bytes(name) ?? "");
    using journal = new DatabaseSync(join(copy, "journal.sqlite"));
    const rows = (table: string) => {
      // a view of that name could compute rows without end
      const isThere =
        journal.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !==
        undefined;
      return isThere ? journal.prepare(`SELECT * FROM ${table} ORDER BY id`).all().map(recordOf) : [];
    };
    return {
      sessions: rows("sessions").flatMap(toSession),
      messages: readMessages(data, rows("message_store")),
    };
  } catch (error) {
    data.skip("journal.sqlite", `it cannot be read: ${(error as Error).message}`);
    return nothing;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function toSession(row: Readonly<Record<string, unknown>>): JournalSession[] {
  const name = textOf(row["session_name"]);
  if (name === undefined || !/^session_\d+$/.test(name)) return [];
  return [
    {
      name: name as SessionName,
      status: String(row["status"]),
      createdAt: timeOf(row["created_at"]) ?? 0,
      closedAt: timeOf(row["closed_at"]) ?? null,
      approved: textOf(row["approved_commit"]) ?? null,
    },
  ];
}

function readMessages(data: OldData, rows: readonly Readonly<Record<string, unknown>>[]): ImportedMessage[] {
  return rows.flatMap((row): ImportedMessage[] => {
    const message = recordOf(parsed(data, row));
    const { content, additional_kwargs: extra } = recordOf(message["data"]);
    if (message["type"] !== "human" && message["type"] !== "ai") return [];
    const { checkpoint, session } = recordOf(extra);
    const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
    return [
      {
        role: message["type"] === "human" ? "user" : "assistant",
        content: text,
        externalId: `${String(row["session_id"])}#${String(row["id"])}`,
        createdAt: timeOf(row["created_at"]) ?? 0,
        ...(textOf(checkpoint) === undefined ? {} : { checkpoint: String(checkpoint) }),
        ...(/^session_\d+$/.test(String(session)) ? { session: session as SessionName } : {}),
      },
    ];
  });
}

function parsed(data: OldData, { id, message }: Readonly<Record<string, unknown>>): unknown {
  try {
    return JSON.parse(String(message)) as unknown;
  } catch {
    return data.skip(`journal.sqlite: message ${String(id)}`, "it is not valid JSON");
  }
}
