/** AgentSmithy: `.agentsmithy/dialogs/<id>/` with a git repository of flat trees and a journal in SQLite. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type {
  BytePath,
  ImportedFile,
  ImportedMessage,
  ImportedSession,
  SessionName,
  ThreadImport,
} from "@belay/engine";
import { listOf, recordOf, textOf, timeOf } from "./facts.ts";
import { modeNow, lost, pathIn, unionOf, type FoundCheckpoint, type Importer } from "./importer.ts";
import { LooseObjects, type Commit } from "./loose-objects.ts";
import type { OldData } from "./old-data.ts";

const ORIGIN = "agentsmithy";
const DIALOGS = ".agentsmithy/dialogs";

/** Imports the dialogs of a project. */
export const agentsmithy: Importer = {
  kind: ORIGIN,
  looksLike: (data) => data.has(DIALOGS),
  read(data, { into }) {
    const directory = into ?? data.directory;
    const index = recordOf(
      data.has(`${DIALOGS}/index.json`) ? data.json(`${DIALOGS}/index.json`) : undefined,
    );
    const listed = new Map(
      listOf(index["dialogs"])
        .map(recordOf)
        .map((each) => [String(each["id"]), each]),
    );
    const dialogs = data
      .directories(DIALOGS)
      .filter((dialog) => dialog.data.names().length > 0)
      .map((dialog) => readDialog(dialog.data, { id: dialog.name, facts: listed.get(dialog.name) ?? {} }));
    const covers = unionOf(
      dialogs.flatMap(({ commits }) => commits.map(({ files }) => files.map(({ path }) => path))),
    );
    return [
      { directory: data.directory, threads: dialogs.map((dialog) => threadOf(dialog, covers, directory)) },
    ];
  },
};

interface SavedCommit extends Commit {
  readonly session: SessionName;
  readonly files: readonly { readonly path: BytePath; readonly hash: string; readonly mode: number }[];
}

interface Dialog {
  readonly id: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly data: OldData;
  readonly objects: LooseObjects;
  /** Oldest first. */
  readonly commits: readonly SavedCommit[];
  readonly sessions: readonly ImportedSession[];
  readonly messages: readonly ImportedMessage[];
}

function readDialog(data: OldData, { id, facts }: Pick<Dialog, "id" | "facts">): Dialog {
  const objects = new LooseObjects(data.below(data.has("checkpoints/.git") ? "checkpoints/.git" : ""));
  const journal = readJournal(data);
  const commits = readCommits(data, objects);
  const sessions = asSessions(journal.sessions, commits);
  return { id, facts, data, objects, commits, sessions, messages: journal.messages };
}

/** The commits of all branches; each belongs to the session whose branch has it first. */
function readCommits(data: OldData, objects: LooseObjects): SavedCommit[] {
  const heads = objects.heads();
  const titles = recordOf(
    data.has("checkpoints/metadata.json") ? data.json("checkpoints/metadata.json") : undefined,
  );
  const found = new Map<string, SavedCommit>();
  const seen = new Set<string>();
  const sessions = [...heads.keys()]
    .filter((name) => /^session_\d+$/.test(name))
    .sort((a, b) => numberIn(a) - numberIn(b));
  for (const name of [...sessions, "main"]) {
    const session = (name === "main" ? (sessions.at(-1) ?? "session_1") : name) as SessionName;
    const waiting = [heads.get(name)];
    for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
      if (seen.has(hash)) continue;
      seen.add(hash);
      const commit = objects.commit(hash);
      if (commit === undefined) continue;
      waiting.push(...commit.parents);
      const message = textOf(recordOf(titles[hash])["message"]) ?? commit.message;
      const files = filesIn(data, objects, commit);
      if (files !== undefined) found.set(hash, { ...commit, message, session, files });
    }
  }
  return inOrder(found);
}

/** Parents before children: several commits may have the same second. */
function inOrder(found: ReadonlyMap<string, SavedCommit>): SavedCommit[] {
  const done = new Set<string>();
  const ordered: SavedCommit[] = [];
  const byTime = [...found.values()].sort((a, b) => a.at - b.at);
  for (const start of byTime) {
    const stack = [start];
    while (stack.length > 0) {
      const commit = stack.at(-1)!;
      const missing = commit.parents
        .map((id) => found.get(id))
        .find((each) => each !== undefined && !done.has(each.id));
      if (missing !== undefined) stack.push(missing);
      else {
        stack.pop();
        if (!done.has(commit.id)) ordered.push(commit);
        done.add(commit.id);
      }
    }
  }
  return ordered;
}

/** The files of a commit; one whose tree cannot be read is noted: without it every file would look absent. */
function filesIn(
  data: OldData,
  objects: LooseObjects,
  { id, tree }: Commit,
): SavedCommit["files"] | undefined {
  const entries = objects.entries(tree);
  if (typeof entries === "string") return data.skip(`tree of commit ${id.slice(0, 12)}`, entries);
  return entries.flatMap(({ name, mode, hash }) => {
    const path = pathIn(data, name);
    return path === undefined ? [] : [{ path, hash, mode }];
  });
}

function threadOf(dialog: Dialog, covers: readonly BytePath[], directory: string): ThreadImport {
  const { id, facts, commits, sessions, messages } = dialog;
  const before = new Map(
    messages.flatMap(({ checkpoint, externalId }) =>
      checkpoint === undefined ? [] : [[checkpoint, externalId]],
    ),
  );
  const times = commits.map(({ at }) => at);
  const initial = textOf(facts["initial_checkpoint"]) ?? commits[0]?.id;
  return {
    origin: ORIGIN,
    agent: "dialogs",
    externalId: id,
    title: textOf(facts["title"]) ?? null,
    createdAt: timeOf(facts["created_at"]) ?? Math.min(...times, Date.now()),
    updatedAt: timeOf(facts["updated_at"]) ?? Math.max(...times, 0),
    checkpoints: commits.map((commit): FoundCheckpoint => {
      const messageId = before.get(commit.id);
      const isApproval = commit.parents.length > 1;
      return {
        alias: commit.id,
        kind: isApproval
          ? "approve"
          : commit.id === initial
            ? "initial"
            : messageId === undefined
              ? "manual"
              : "message",
        description: commit.message.split("\n")[0] ?? "",
        createdAt: commit.at,
        session: commit.session,
        ...(messageId === undefined ? {} : { messageId, phase: "before" as const }),
        ...(commit.parents[0] === undefined ? {} : { parent: { alias: commit.parents[0] } }),
        files: { [Symbol.iterator]: () => contentsOf(dialog, commit, directory) },
        covers,
      };
    }),
    messages,
    sessions,
  };
}

function* contentsOf(
  { data, objects }: Dialog,
  commit: SavedCommit,
  directory: string,
): Generator<ImportedFile> {
  for (const { path, hash, mode } of commit.files) {
    const content = objects.read(hash, "blob");
    if (typeof content === "string") {
      data.skip(`${commit.id.slice(0, 12)}: ${path}`, content);
      yield lost(path);
    } else if ((mode & 0o170000) === 0o120000) yield { path, kind: "symlink", mode: 0, content };
    // every file has 100644 in these trees, whatever its mode was; a staged one has its own
    else yield { path, kind: "file", mode: mode === 0o100644 ? modeNow(directory, path) : mode, content };
  }
}

interface JournalSession {
  readonly name: SessionName;
  readonly status: string;
  readonly createdAt: number;
  readonly closedAt: number | null;
  readonly approved: string | null;
}

function readJournal(data: OldData): { sessions: JournalSession[]; messages: ImportedMessage[] } {
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

function numberIn(session: string): number {
  return Number(session.slice("session_".length));
}

/** [A62] A dialog of before had no sessions: everything of it is in the first. */
function asSessions(rows: readonly JournalSession[], commits: readonly SavedCommit[]): ImportedSession[] {
  const initial = commits[0]?.id ?? null;
  const sorted = rows.toSorted((a, b) => numberIn(a.name) - numberIn(b.name));
  let base = initial;
  const sessions = sorted.map((row, at): ImportedSession => {
    const isLast = at === sorted.length - 1;
    const status =
      isLast && row.status !== "merged" ? "active" : row.status === "merged" ? "merged" : "abandoned";
    const { name, createdAt, closedAt, approved } = row;
    const session = { name, status, createdAt, closedAt, base, approved, message: null } as const;
    if (status === "merged") base = approved ?? base;
    return session;
  });
  const last = sessions.at(-1);
  if (last === undefined || last.status === "active") return sessions;
  const next = `session_${numberIn(last.name) + 1}` as const;
  const opened = {
    createdAt: last.closedAt ?? last.createdAt,
    closedAt: null,
    base,
    approved: null,
    message: null,
  };
  return [...sessions, { name: next, status: "active", ...opened }];
}
