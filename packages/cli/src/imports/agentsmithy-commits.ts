/** The commits of a dialog: those of its branches, and those that only the dialog's other files still name. */
import type { BytePath, SessionName } from "@belay/engine";
import type { Journal } from "./agentsmithy-journal.ts";
import { recordOf, textOf } from "./facts.ts";
import { pathOf } from "./importer.ts";
import type { Commit, LooseObjects } from "./loose-objects.ts";
import type { OldData } from "./old-data.ts";

/** A commit with its files and its session. */
export interface SavedCommit extends Commit {
  readonly session: SessionName;
  readonly files: readonly { readonly path: BytePath; readonly hash: string; readonly mode: number }[];
}

/** Which sessions a dialog has, and which of them main has. */
export interface Branches {
  readonly sessions: readonly SessionName[];
  readonly merged: ReadonlySet<string>;
}

/** Oldest first. Each belongs to the session whose branch has it first; of no branch, to the one that was open then. */
export function readCommits(
  data: OldData,
  objects: LooseObjects,
  { initial, journal }: { initial: string | undefined; journal: Journal },
): { commits: SavedCommit[]; branches: Branches } {
  const heads = objects.heads();
  const titles = recordOf(
    data.has("checkpoints/metadata.json") ? data.json("checkpoints/metadata.json") : undefined,
  );
  const found = new Map<string, SavedCommit>();
  const seen = new Set<string>();
  const sessions = sessionsOf(heads.keys());
  const sessionThen = (id: string, at: number) =>
    journal.messages.find(({ checkpoint }) => checkpoint === id)?.session ??
    journal.sessions.findLast(({ createdAt }) => createdAt <= at)?.name ??
    sessions.at(-1) ??
    "session_1";
  const take = (start: string | undefined, session?: SessionName) => {
    const waiting = [start];
    for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
      if (seen.has(hash)) continue;
      seen.add(hash);
      const commit = objects.commit(hash);
      if (commit === undefined) continue;
      waiting.push(...commit.parents);
      const message = textOf(recordOf(titles[hash])["message"]) ?? commit.message;
      const files = filesIn(data, objects, commit);
      const of = session ?? sessionThen(hash, commit.at);
      if (files !== undefined) found.set(hash, { ...commit, message, session: of, files });
    }
  };
  for (const name of sessions) take(heads.get(name), name);
  take(heads.get("main"), sessions.at(-1) ?? "session_1");
  // older versions named the branch differently or had none, and an abandoned branch may be gone while its commits remain
  for (const start of [...heads.values(), objects.head(), ...namedIn({ initial, titles, journal })])
    take(start);
  const merged = new Set(sessions.filter((name) => isBelow(found, heads.get("main"), heads.get(name))));
  return { commits: inOrder(found), branches: { sessions, merged } };
}

/** The sessions that have a branch, in their order. */
function sessionsOf(names: Iterable<string>): SessionName[] {
  return [...names]
    .filter((name): name is SessionName => /^session_\d+$/.test(name))
    .sort((a, b) => numberIn(a) - numberIn(b));
}

/** The number of a session. */
export function numberIn(session: string): number {
  return Number(session.slice("session_".length));
}

/** Ids of commits that AgentSmithy still shows, whether or not a branch leads to them. */
function namedIn(by: {
  initial: string | undefined;
  titles: Readonly<Record<string, unknown>>;
  journal: Journal;
}): string[] {
  const named = [
    by.initial,
    ...Object.keys(by.titles),
    ...by.journal.messages.map(({ checkpoint }) => checkpoint),
    ...by.journal.sessions.map(({ approved }) => approved),
  ];
  return named.filter((id): id is string => typeof id === "string" && /^[0-9a-f]{40}$/.test(id));
}

function isBelow(
  found: ReadonlyMap<string, SavedCommit>,
  from: string | undefined,
  wanted: string | undefined,
): boolean {
  const [seen, waiting] = [new Set<string>(), [from]];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === wanted) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    waiting.push(...(found.get(id)?.parents ?? []));
  }
  return false;
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
    const path = pathOf(data, Buffer.from(name, "latin1"));
    return path === undefined ? [] : [{ path, hash, mode }];
  });
}
