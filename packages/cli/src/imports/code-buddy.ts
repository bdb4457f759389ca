/**
 * Code Buddy: checkpoints of several managers in the user's directory, versions and ghost commits in the project. All of
 * them are one history of the project.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BytePath, ImportedFile, ImportedMessage, ThreadImport } from "@belay/engine";
import { listOf, numberOf, recordOf, textOf, textsOf, timeOf } from "./facts.ts";
import { hasGhosts, readGhosts } from "./ghost-commits.ts";
import {
  entriesOf,
  lost,
  modeNow,
  pathIn,
  type FoundCheckpoint,
  type FoundHistory,
  type Importer,
} from "./importer.ts";
import { sha256, type OldData } from "./old-data.ts";

const ORIGIN = "code-buddy";
const VERSIONS = "versions/versions.json";
const GHOST_REFS = "refs/codebuddy/ghost/";

/** Imports what all its managers left. */
export const codeBuddy: Importer = {
  kind: ORIGIN,
  looksLike: (data) =>
    homesIn(data).some(hasOwnData) ||
    (existsSync(join(data.directory, ".git")) && hasGhosts(data.directory, GHOST_REFS)),
  read(data, { into }) {
    const found = homesIn(data).flatMap((home) => [
      ...readHistories(home, into),
      ...readUndoStores(home),
      ...readVersions(home, into),
    ]);
    const ghosts = readGhosts(data.directory, data, GHOST_REFS);
    if (ghosts.length > 0) found.push({ directory: data.directory, checkpoints: ghosts });
    const byDirectory = Map.groupBy(found, ({ directory }) => into ?? directory);
    const histories = [...byDirectory].map(([directory, parts]): FoundHistory => {
      const checkpoints = parts.flatMap((part) => part.checkpoints).sort((a, b) => a.createdAt - b.createdAt);
      return { directory, threads: [projectThread(checkpoints)] };
    });
    const timelines = homesIn(data).flatMap(readTimelines);
    if (timelines.length === 0) return histories;
    if (histories.length !== 1 && into === undefined) {
      for (const { externalId } of timelines)
        data.skip(
          `timelines/${externalId}.jsonl`,
          "it does not say which project it is about; name it with --into",
        );
      return histories;
    }
    const [only = { directory: into, threads: [] }] = histories;
    return [{ ...only, threads: [...only.threads, ...timelines] }, ...histories.slice(1)];
  },
};

function hasOwnData(home: OldData): boolean {
  const withIndex = (place: string) =>
    home.names(place).some((name) => home.has(`${place}/${name}/index.json`));
  return withIndex("history") || withIndex("checkpoints") || home.has("timelines") || home.has(VERSIONS);
}

/** The user's `.codebuddy`, or that of a project. */
function homesIn(data: OldData): OldData[] {
  return [data, ...(data.has(".codebuddy") ? [data.below(".codebuddy")] : [])];
}

/** Checkpoints of a project that one manager made. */
interface Found {
  readonly directory: string;
  readonly checkpoints: readonly FoundCheckpoint[];
}

function projectThread(checkpoints: readonly FoundCheckpoint[]): ThreadImport {
  const times = checkpoints.map(({ createdAt }) => createdAt);
  return {
    origin: ORIGIN,
    agent: ORIGIN,
    externalId: "project",
    title: null,
    createdAt: Math.min(...times, Date.now()),
    updatedAt: Math.max(...times, 0),
    checkpoints,
    messages: [],
    sessions: [],
  };
}

function readHistories(home: OldData, into: string | undefined): Found[] {
  return home.directories("history").flatMap(({ data }): Found[] => {
    const index = recordOf(data.has("index.json") ? data.json("index.json") : undefined);
    const checkpoints = data
      .names()
      .filter((name) => name.endsWith(".json") && name !== "index.json")
      .flatMap((name) => {
        const facts = recordOf(data.json(name));
        const directory = into ?? textOf(index["projectPath"]) ?? textOf(facts["workingDirectory"]);
        if (textOf(facts["id"]) === undefined || directory === undefined) {
          if (Object.keys(facts).length > 0) data.skip(name, "it has no id, or names no project");
          return [];
        }
        const checkpoint = embedded(data, facts, directory);
        return checkpoint === undefined ? [] : [{ directory, checkpoint }];
      });
    const found = new Set(checkpoints.map(({ checkpoint }) => checkpoint.alias));
    for (const each of listOf(index["checkpoints"])) {
      const id = textOf(each) ?? textOf(recordOf(each)["id"]);
      if (id !== undefined && !found.has(id)) data.skip(id, "only the index has it, its files are gone");
    }
    const first = checkpoints[0]?.directory;
    if (first === undefined) return [];
    return [{ directory: first, checkpoints: checkpoints.map(({ checkpoint }) => checkpoint) }];
  });
}

/** A checkpoint with its contents in the same JSON text. */
function embedded(
  data: OldData,
  facts: Readonly<Record<string, unknown>>,
  directory: string,
): FoundCheckpoint | undefined {
  const id = String(facts["id"]);
  const listed = entriesOf(data, { of: id, list: facts["files"] });
  if (listed === undefined) return undefined;
  const files = listed.entries.flatMap(({ path: text, content, existed, hash, encoding }) => {
    const path = pathIn(data, String(text), directory);
    const isBase64 = encoding === "base64";
    return path === undefined ? [] : [{ path, content, existed, hash, isBase64 }];
  });
  return {
    alias: id,
    kind: "manual",
    description: textOf(facts["description"]) ?? id,
    createdAt: timeOf(facts["timestamp"]) ?? 0,
    files: { [Symbol.iterator]: () => embeddedFiles(data, { id, files, directory }) },
    // it has the files that were named: of others it says nothing
    covers: files.map(({ path }) => path),
  };
}

interface EmbeddedFile {
  readonly path: BytePath;
  readonly content: unknown;
  readonly existed: unknown;
  readonly hash: unknown;
  readonly isBase64: boolean;
}

function* embeddedFiles(
  data: OldData,
  { id, files, directory }: { id: string; files: readonly EmbeddedFile[]; directory: string },
): Generator<ImportedFile> {
  for (const { path, content, existed, hash, isBase64 } of files) {
    if (existed === false) continue;
    const bytes =
      typeof content === "string" ? Buffer.from(content, isBase64 ? "base64" : "utf8") : undefined;
    const problem =
      bytes === undefined || typeof existed !== "boolean"
        ? "it has no content"
        : !isBase64 && String(content).includes("\uFFFD")
          ? "it was binary, and its bytes were not kept"
          : typeof hash === "string" && /^[0-9a-f]{16,64}$/.test(hash) && !sha256(bytes).startsWith(hash)
            ? "its content is damaged"
            : undefined;
    if (bytes !== undefined && problem === undefined)
      yield { path, kind: "file", mode: modeNow(directory, path), content: bytes };
    else {
      data.skip(`${id}: ${path}`, problem!);
      yield lost(path, bytes?.length);
    }
  }
}

/** What the manager with undo and redo kept: files as copies. */
function readUndoStores(home: OldData): Found[] {
  return home.directories("checkpoints").flatMap(({ name, data }): Found[] => {
    if (!data.has("index.json")) {
      if (data.has("files")) data.skip(`checkpoints/${name}`, "its index is missing");
      return [];
    }
    const index = recordOf(data.json("index.json"));
    const directory = textOf(index["workingDirectory"]);
    if (directory === undefined) {
      if (Object.keys(index).length > 0) data.skip(`checkpoints/${name}`, "it names no project");
      return [];
    }
    const checkpoints = listOf(index["checkpoints"])
      .map(recordOf)
      .filter((facts) => textOf(facts["id"]) !== undefined);
    if (checkpoints.length !== listOf(index["checkpoints"]).length || !Array.isArray(index["checkpoints"]))
      data.skip(`checkpoints/${name}`, "entries of its list of checkpoints are missing or have no id");
    return [{ directory, checkpoints: checkpoints.flatMap((facts) => copied(data, facts) ?? []) }];
  });
}

function copied(data: OldData, facts: Readonly<Record<string, unknown>>): FoundCheckpoint | undefined {
  const id = String(facts["id"]);
  const parent = textOf(facts["parentId"]);
  const name = textOf(facts["name"]);
  const listed = entriesOf(data, { of: id, list: facts["files"], name: "relativePath" });
  if (listed === undefined) return undefined;
  const files = listed.entries.flatMap(({ relativePath, hash, mode, exists, isDeleted, size }) => {
    const text = String(relativePath);
    const path = pathIn(data, text);
    const isThere = exists !== false && isDeleted !== true;
    return path === undefined
      ? []
      : [{ path, text, hash, mode: numberOf(mode), isThere, size: numberOf(size) ?? 0 }];
  });
  return {
    alias: id,
    kind: "manual",
    description: textOf(facts["description"]) ?? name ?? id,
    createdAt: timeOf(facts["timestamp"]) ?? 0,
    tags: textsOf(facts["tags"]),
    ...(name === undefined ? {} : { name }),
    ...(parent === undefined ? {} : { parent: { alias: parent } }),
    files: {
      *[Symbol.iterator]() {
        for (const { path, text, hash, mode, isThere, size } of files) {
          if (!isThere) continue;
          const content = data.tryBytes(`files/${id}/${text}`);
          const isDamaged =
            typeof content !== "string" &&
            typeof hash === "string" &&
            /^[0-9a-f]{16,64}$/.test(hash) &&
            !sha256(content).startsWith(hash);
          if (typeof content !== "string" && !isDamaged)
            yield { path, kind: "file" as const, mode: mode ?? 0o644, content };
          else {
            data.skip(`${id}: ${text}`, typeof content === "string" ? content : "its content is damaged");
            yield lost(path, size);
          }
        }
      },
    },
    covers: files.map(({ path }) => path),
  };
}

function readVersions(home: OldData, into: string | undefined): Found[] {
  if (!home.has(VERSIONS)) return [];
  const { versions, tags } = recordOf(home.json(VERSIONS));
  const project = into ?? dirname(home.directory);
  const checkpoints = listOf(versions).flatMap((pair): FoundCheckpoint[] => {
    const version = recordOf(listOf(pair)[1]);
    const id = textOf(version["id"]) ?? textOf(listOf(pair)[0]);
    if (id === undefined) return [];
    const checkpoint = recordOf(version["checkpoint"]);
    const directory = into ?? textOf(checkpoint["workingDirectory"]) ?? project;
    const [name, parent, branch] = [version["name"], version["parentId"], version["branchName"]].map(textOf);
    const marks = listOf(tags).flatMap((each) =>
      listOf(each)[1] === id ? (textOf(listOf(each)[0]) ?? []) : [],
    );
    const own = embedded(home, { ...checkpoint, id }, directory);
    if (own === undefined) return [];
    // its old position, for Code Buddy's interface over this store
    const mark = {
      id,
      parentId: parent ?? null,
      branchName: branch ?? "main",
      metadata: recordOf(version["metadata"]),
    };
    const files = own.covers.map((path) => Buffer.from(path, "latin1").toString("utf8"));
    return [
      {
        ...own,
        conversation: { messageCount: 0, lastMessageId: null, artifacts: [{ files, version: mark }] },
        description: textOf(version["description"]) ?? textOf(checkpoint["description"]) ?? id,
        createdAt: timeOf(version["createdAt"]) ?? 0,
        tags: marks,
        ...(name === undefined ? {} : { name }),
        ...(branch === undefined ? {} : { note: `on the branch ${branch}` }),
        ...(parent === undefined ? {} : { parent: { alias: parent } }),
      },
    ];
  });
  return checkpoints.length === 0 ? [] : [{ directory: project, checkpoints }];
}

/** Conversations, of which only the beginnings of messages were kept. */
function readTimelines(home: OldData): ThreadImport[] {
  return home
    .names("timelines")
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => {
      const messages = home.lines(`timelines/${name}`).flatMap((line): ImportedMessage[] => {
        const { turn, ts, role, textPreview, checkpointId } = recordOf(line);
        if (role !== "user" && role !== "assistant") return [];
        const checkpoint = textOf(checkpointId);
        const createdAt = timeOf(ts) ?? 0;
        const content = textOf(textPreview) ?? "";
        const externalId = `${name.slice(0, -".jsonl".length)} ${String(turn)} ${role}`;
        return [
          { role, content, createdAt, externalId, ...(checkpoint === undefined ? {} : { checkpoint }) },
        ];
      });
      return {
        ...projectThread([]),
        externalId: name.slice(0, -".jsonl".length),
        ...timesOf(messages),
        messages,
      };
    });
}

function timesOf(messages: readonly ImportedMessage[]): { createdAt: number; updatedAt: number } {
  const times = messages.map(({ createdAt }) => createdAt);
  return { createdAt: Math.min(...times, Date.now()), updatedAt: Math.max(...times, 0) };
}
