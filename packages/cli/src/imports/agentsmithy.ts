/** AgentSmithy: `.agentsmithy/dialogs/<id>/` with a git repository of flat trees and a journal in SQLite. */
import type {
  BytePath,
  ImportedFile,
  ImportedMessage,
  ImportedSession,
  SessionName,
  ThreadImport,
} from "@belay/engine";
import { numberIn, readCommits, type Branches, type SavedCommit } from "./agentsmithy-commits.ts";
import { readJournal, type Journal, type JournalSession } from "./agentsmithy-journal.ts";
import { listOf, recordOf, textOf, timeOf } from "./facts.ts";
import { modeNow, lost, unionOf, type FoundCheckpoint, type Importer } from "./importer.ts";
import { LooseObjects } from "./loose-objects.ts";
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
  const initial = textOf(facts["initial_checkpoint"]);
  const { commits, branches } = readCommits(data, objects, { initial, journal });
  const sessions = asSessions(journal, commits, branches);
  return { id, facts, data, objects, commits, sessions, messages: journal.messages };
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

/** [A62] Older versions had no sessions: such a dialog is all in the first one. Without a journal, the branches decide. */
function asSessions(
  { sessions: known }: Journal,
  commits: readonly SavedCommit[],
  { sessions: named, merged }: Branches,
): ImportedSession[] {
  const rows = known.length > 0 ? known : named.map((name) => fromBranch(name, commits, merged.has(name)));
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

function fromBranch(name: SessionName, commits: readonly SavedCommit[], isMerged: boolean): JournalSession {
  const own = commits.filter(({ session }) => session === name);
  const status = isMerged ? "merged" : "abandoned";
  return {
    name,
    status,
    createdAt: own[0]?.at ?? 0,
    closedAt: own.at(-1)?.at ?? null,
    approved: isMerged ? (own.findLast(({ parents }) => parents.length > 1)?.id ?? null) : null,
  };
}
