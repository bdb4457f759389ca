/** The supervisor: `checkpoints/<session>/<id>.meta.json`, and blobs by hash beside them. */
import { basename } from "node:path";
import type { BytePath, GitState, ImportedFile, ThreadImport } from "@belay/engine";
import { numberOf, recordOf, textOf, textsOf, timeOf } from "./facts.ts";
import { entriesOf, lost, pathIn, type FoundCheckpoint, type Importer } from "./importer.ts";
import { sha256, type OldData } from "./old-data.ts";

const ORIGIN = "supervisor";
const META = ".meta.json";

/** Imports the checkpoints of sessions. */
export const supervisor: Importer = {
  kind: ORIGIN,
  looksLike: (data) => sessionsIn(data).length > 0,
  read(data, { into }) {
    // [N1] a session behind a link is noted
    for (const place of ["", "checkpoints"]) data.directories(place);
    const sessions = sessionsIn(data).map((session) => readSession(session, into));
    return [
      {
        directory: undefined,
        threads: sessions,
        names: sessions.flatMap(({ checkpoints }) =>
          [...checkpoints].map(({ alias }) => ({
            origin: ORIGIN,
            name: alias.slice(alias.indexOf("/") + 1),
            of: alias,
          })),
        ),
      },
    ];
  },
};

function sessionsIn(data: OldData): OldData[] {
  const isSession = (path: string) => data.names(path).some((name) => name.endsWith(META));
  if (isSession("")) return [data];
  return ["", "checkpoints/"]
    .flatMap((place) => data.names(place).map((name) => `${place}${name}`))
    .filter(isSession)
    .map((path) => data.below(path));
}

interface Meta {
  readonly id: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Its files. */
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  readonly createdAt: number;
}

function readSession(data: OldData, into: string | undefined): ThreadImport {
  const session = basename(data.directory);
  const metas = data
    .names()
    .filter((name) => name.endsWith(META))
    .flatMap((name): Meta[] => {
      const facts = recordOf(data.json(name));
      if (Object.keys(facts).length === 0) return [];
      const id = textOf(facts["id"]) ?? name.slice(0, -META.length);
      const listed = entriesOf(data, { of: name, list: facts["files"] });
      if (listed === undefined) return [];
      return [{ id, facts, entries: listed.entries, createdAt: timeOf(facts["createdAt"]) ?? 0 }];
    })
    .sort((a, b) => a.createdAt - b.createdAt);
  const times = metas.map(({ createdAt }) => createdAt);
  return {
    origin: ORIGIN,
    agent: ORIGIN,
    externalId: session,
    title: null,
    createdAt: Math.min(...times, Date.now()),
    updatedAt: Math.max(...times, 0),
    checkpoints: metas.map((meta, at) => {
      const before = metas[at - 1];
      const parent = before === undefined ? {} : { parent: { alias: `${session}/${before.id}` } };
      return { ...checkpointOf(data, meta, into), alias: `${session}/${meta.id}`, ...parent };
    }),
    messages: [],
    sessions: [],
  };
}

function checkpointOf(
  data: OldData,
  { id, facts, entries, createdAt }: Meta,
  into: string | undefined,
): Omit<FoundCheckpoint, "alias"> {
  const isManual = facts["type"] === "manual";
  const [name, note] = [textOf(facts["name"]), textOf(facts["annotation"])];
  const [toolUseId, index] = [textOf(facts["toolUseId"]), numberOf(facts["messageIndex"])];
  const files = entries.flatMap(({ path: text, hash, encoding, mode, content }): SavedFile[] => {
    const path = pathIn(data, String(text), into);
    if (path === undefined) return [];
    const isAbsent = hash === "deleted" || content === null;
    return [
      {
        path,
        hash: isAbsent ? undefined : String(hash),
        isBase64: encoding === "base64",
        mode: numberOf(mode) ?? 0o644,
      },
    ];
  });
  return {
    kind: isManual ? "manual" : "tool",
    ...(isManual ? {} : { phase: "before" as const }),
    description: textOf(facts["description"]) ?? name ?? (isManual ? "Manual checkpoint" : "Before a tool"),
    createdAt,
    ...(name === undefined ? {} : { name }),
    ...(note === undefined ? {} : { note }),
    ...(toolUseId === undefined ? {} : { toolUseId }),
    ...(index === undefined ? {} : { messageIndex: index }),
    ...gitOf(facts["git"]),
    conversation: { messageCount: 0, lastMessageId: null, artifacts: [markOf(id, files)] },
    files: { [Symbol.iterator]: () => filesOf(data, id, files) },
    // a checkpoint has the files that its tool named: of others it says nothing
    covers: files.map(({ path }) => path),
  };
}

/** For the supervisor's interface over this store: the id in its session, and what did not exist. */
function markOf(id: string, files: readonly SavedFile[]) {
  const absent = files.filter(({ hash }) => hash === undefined);
  return { id, absent: absent.map(({ path }) => Buffer.from(path, "latin1").toString("utf8")) };
}

function gitOf(value: unknown): { git?: GitState } {
  const { branch, commitHash, hasUncommittedChanges, stagedFiles } = recordOf(value);
  if (textOf(commitHash) === undefined && textOf(branch) === undefined) return {};
  return {
    git: {
      branch: textOf(branch) ?? null,
      commit: textOf(commitHash) ?? null,
      dirty: hasUncommittedChanges === true,
      staged: textsOf(stagedFiles),
    },
  };
}

interface SavedFile {
  readonly path: BytePath;
  /** undefined: it did not exist. */
  readonly hash: string | undefined;
  readonly isBase64: boolean;
  readonly mode: number;
}

function* filesOf(data: OldData, id: string, files: readonly SavedFile[]): Generator<ImportedFile> {
  for (const { path, hash, isBase64, mode } of files) {
    if (hash === undefined) continue;
    const blob = /^[\w-]+$/.test(hash) ? data.tryBytes(`blobs/${hash}`) : "its hash is none";
    if (typeof blob === "string") {
      data.skip(`${id}: ${path}`, blob);
      yield lost(path);
      continue;
    }
    const content = isBase64 ? Buffer.from(blob.toString("latin1"), "base64") : blob;
    // of which form the program took the hash is not said
    if (!/^[0-9a-f]{64}$/.test(hash) || [blob, content].some((bytes) => sha256(bytes) === hash))
      yield { path, kind: "file", mode, content };
    else {
      data.skip(`${id}: ${path}`, "its content is damaged");
      yield lost(path, content.length);
    }
  }
}
