/** Mimir: `.mimir/context/conversations/<conversation>/` with messages, and snapshots as copies of files. */
import type {
  BytePath,
  CheckpointKind,
  ImportedFile,
  ImportedMessage,
  MessageRole,
  ThreadImport,
} from "@belay/engine";
import { listOf, numberOf, recordOf, textOf, textsOf, timeOf } from "./facts.ts";
import { coversOf, lost, modeNow, pathIn, unionOf, type FoundCheckpoint, type Importer } from "./importer.ts";
import { sha256, type OldData } from "./old-data.ts";

const ORIGIN = "mimir";
const CONVERSATIONS = ".mimir/context/conversations";

/** Imports the conversations of a project. */
export const mimir: Importer = {
  kind: ORIGIN,
  looksLike: (data) => data.has(CONVERSATIONS),
  read(data, { into }) {
    const directory = into ?? data.directory;
    const threads = data
      .directories(CONVERSATIONS)
      .map((conversation) => readConversation(conversation.data, conversation.name, directory));
    const names = threads.flatMap(({ checkpoints }) =>
      [...checkpoints].map(({ alias }) => ({
        origin: ORIGIN,
        name: alias.slice(alias.indexOf("/") + 1),
        of: alias,
      })),
    );
    return [{ directory: data.directory, threads, names }];
  },
};

interface Snapshot {
  readonly id: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** The copies; null where there should be one and is none. */
  readonly paths: ReadonlyMap<BytePath, string | null>;
  /** False where the copying may not have ended. */
  readonly isWhole: boolean;
}

function readConversation(data: OldData, name: string, directory: string): ThreadImport {
  const metadata = recordOf(data.has("metadata.json") ? data.json("metadata.json") : undefined);
  const listed = listedIn(data);
  const snapshots = snapshotNames(data, listed)
    .flatMap((id) => readSnapshot(data, id, listed.get(id)) ?? [])
    .sort((a, b) => a.createdAt - b.createdAt);
  const covers = unionOf(snapshots.map(({ paths }) => paths.keys()));
  const messages = readMessages(data);
  const times = [...snapshots, ...messages].map(({ createdAt }) => createdAt);
  return {
    origin: ORIGIN,
    agent: ORIGIN,
    externalId: textOf(metadata["id"]) ?? name,
    title: textOf(metadata["title"]) ?? textOf(metadata["name"]) ?? null,
    createdAt: timeOf(metadata["createdAt"]) ?? Math.min(...times, Date.now()),
    updatedAt: timeOf(metadata["updatedAt"]) ?? Math.max(...times, 0),
    checkpoints: snapshots.map((snapshot, at) => {
      const before = snapshots[at - 1];
      const parent = before === undefined ? {} : { parent: { alias: `${name}/${before.id}` } };
      return {
        ...checkpointOf(data, snapshot, directory),
        alias: `${name}/${snapshot.id}`,
        covers: coversOf(snapshot.isWhole, covers, snapshot.paths.keys()),
        ...parent,
      };
    }),
    messages,
    sessions: [],
  };
}

type Facts = Readonly<Record<string, unknown>>;

/** The directories of snapshots; of one that only the index has, that is noted. */
function snapshotNames(data: OldData, listed: ReadonlyMap<string, Facts>): string[] {
  const names = data.names("snapshots").filter((name) => data.names(`snapshots/${name}`).length > 0);
  for (const id of listed.keys())
    if (!names.includes(id)) data.skip(`snapshots/${id}`, "only the index has it, its files are gone");
  return names;
}

function readSnapshot(data: OldData, id: string, listed: Facts | undefined): Snapshot | undefined {
  const place = `snapshots/${id}`;
  const own = data.has(`${place}/metadata.json`) ? recordOf(data.json(`${place}/metadata.json`)) : {};
  const facts = Object.keys(own).length > 0 ? own : (listed ?? {});
  const paths = new Map<BytePath, string | null>();
  let isWhole = facts === own;
  for (const { file, isRegular } of data.files(`${place}/files`)) {
    const path = pathIn(data, file);
    isWhole &&= isRegular;
    if (path !== undefined) paths.set(path, isRegular ? file : null);
  }
  if (paths.size === 0) return data.skip(place, "no files were captured");
  if (facts !== own) data.skip(place, "without its own metadata its files are not proven to be whole");
  for (const { path: text } of listOf(facts["files"]).map(recordOf)) {
    const path = typeof text === "string" ? pathIn(data, text) : undefined;
    if (path === undefined || paths.has(path)) continue;
    data.skip(`${place}/files/${String(text)}`, "it is missing");
    paths.set(path, null);
    isWhole = false;
  }
  return { id, facts, createdAt: timeOf(facts["timestamp"]) ?? 0, paths, isWhole };
}

/** What the index says of each snapshot. */
function listedIn(data: OldData): Map<string, Facts> {
  const index = data.has("snapshots/index.json") ? data.json("snapshots/index.json") : undefined;
  const listed = listOf(recordOf(index)["snapshots"] ?? index).map(recordOf);
  return new Map(
    listed.flatMap((facts) => (textOf(facts["id"]) === undefined ? [] : [[String(facts["id"]), facts]])),
  );
}

function checkpointOf(
  data: OldData,
  { id, facts, createdAt, paths }: Snapshot,
  directory: string,
): Omit<FoundCheckpoint, "alias" | "covers"> {
  const description = textOf(facts["description"]);
  const agent = recordOf(facts["agent"]);
  const state = `snapshots/${id}/conversation-state.json`;
  const conversation = recordOf(data.has(state) ? data.json(state) : facts["conversation"]);
  return {
    kind: kindOf(facts["type"], description),
    description: description ?? `Snapshot ${id}`,
    createdAt,
    conversation: {
      messageCount: numberOf(conversation["messageCount"]) ?? 0,
      lastMessageId: textOf(conversation["lastMessageId"]) ?? null,
      artifacts: listOf(conversation["artifacts"]),
    },
    tags: textsOf(facts["tags"]),
    ...(textOf(agent["id"]) === undefined
      ? {}
      : {
          agent: {
            id: String(agent["id"]),
            role: textOf(agent["role"]) ?? "",
            status: textOf(agent["status"]) ?? "",
            cost: numberOf(agent["cost"]) ?? null,
            tokens: numberOf(agent["tokens"]) ?? null,
          },
        }),
    files: { [Symbol.iterator]: () => filesOf(data, { id, facts, paths }, directory) },
  };
}

function kindOf(type: unknown, description: string | undefined): CheckpointKind {
  if (type === "auto-agent") return "agent";
  if (type !== "auto-checkpoint") return "manual";
  return description?.startsWith("Auto-fix attempt") === true ? "auto-fix" : "timer";
}

function* filesOf(
  data: OldData,
  { id, facts, paths }: Pick<Snapshot, "id" | "facts" | "paths">,
  directory: string,
): Generator<ImportedFile> {
  const hashes = new Map(
    listOf(facts["files"])
      .map(recordOf)
      .map((each) => [each["path"], each["hash"]]),
  );
  for (const [path, file] of paths) {
    if (file === null) {
      yield lost(path);
      continue;
    }
    const content = data.tryBytes(`snapshots/${id}/files/${file}`);
    const hash = hashes.get(file);
    const isDamaged =
      typeof content !== "string" &&
      typeof hash === "string" &&
      /^[0-9a-f]{64}$/.test(hash) &&
      sha256(content) !== hash;
    if (typeof content === "string" || isDamaged) {
      data.skip(`${id}: ${file}`, typeof content === "string" ? content : "its content is damaged");
      yield lost(path);
    } else yield { path, kind: "file", mode: modeNow(directory, path), content };
  }
}

const ROLES: ReadonlySet<string> = new Set<MessageRole>(["user", "assistant", "system", "tool"]);

function readMessages(data: OldData): ImportedMessage[] {
  return data.lines("messages.jsonl").flatMap((line): ImportedMessage[] => {
    const { id, role, content, timestamp } = recordOf(line);
    if (typeof role !== "string" || !ROLES.has(role)) return [];
    const externalId = textOf(id);
    const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
    const createdAt = timeOf(timestamp) ?? 0;
    return [
      {
        role: role as MessageRole,
        content: text,
        createdAt,
        ...(externalId === undefined ? {} : { externalId }),
      },
    ];
  });
}
