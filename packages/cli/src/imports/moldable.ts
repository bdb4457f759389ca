/** Moldable: `workspaces/<ws>/checkpoints/<app>/<conversation>/` with a manifest, snapshots and blobs by hash. */
import { basename, dirname } from "node:path";
import type { BytePath, ImportedFile, ThreadImport } from "@belay/engine";
import { listOf, numberOf, recordOf, textOf, timeOf } from "./facts.ts";
import {
  coversOf,
  entriesOf,
  lost,
  pathIn,
  unionOf,
  type FoundCheckpoint,
  type FoundHistory,
  type Importer,
} from "./importer.ts";
import { sha256, type OldData } from "./old-data.ts";

const ORIGIN = "moldable";

/** Imports the conversations of apps. */
export const moldable: Importer = {
  kind: ORIGIN,
  looksLike: (data) => conversationsIn(data).length > 0,
  read(data, { into }) {
    const found = conversationsIn(data).map((conversation) => readConversation(conversation));
    const byApp = Map.groupBy(found, ({ directory, app }) => into ?? directory ?? `?${app}`);
    return [...byApp.values()].map((conversations): FoundHistory => {
      const covers = unionOf(
        conversations.flatMap(({ snapshots }) => snapshots.map(({ files }) => files.map(({ path }) => path))),
      );
      return {
        directory: conversations[0]!.directory,
        threads: conversations.map((each) => threadOf(each, covers)),
      };
    });
  },
};

/** The directories with a manifest or snapshots, from the home down. */
function conversationsIn(data: OldData): OldData[] {
  const isConversation = (path: string) => data.has(`${path}manifest.json`) || data.has(`${path}snapshots`);
  const below = (paths: readonly string[]) =>
    paths.flatMap((path) => data.names(path).map((name) => `${path}${name}/`));
  if (isConversation("")) return [data];
  const apps = below([""]);
  const levels = [
    apps,
    below(apps),
    below(below(["checkpoints/"])),
    below(below(below(["workspaces/"]).map((path) => `${path}checkpoints/`))),
  ];
  return levels
    .flat()
    .filter(isConversation)
    .map((path) => data.below(path));
}

interface Snapshot {
  readonly messageId: string;
  readonly createdAt: number;
  readonly files: readonly SavedFile[];
  /** False where entries of its list could not be read. */
  readonly isWhole: boolean;
}

interface SavedFile {
  readonly path: BytePath;
  readonly mode: number;
  readonly size: number;
  /** undefined: it did not exist. */
  readonly hash: string | undefined;
}

interface Conversation {
  readonly data: OldData;
  readonly id: string;
  readonly app: string;
  readonly workspace: string;
  readonly directory: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly snapshots: readonly Snapshot[];
}

function readConversation(data: OldData): Conversation {
  const manifest = recordOf(data.has("manifest.json") ? data.json("manifest.json") : undefined);
  const listed = listOf(manifest["snapshots"]).flatMap((each) => textOf(recordOf(each)["messageId"]) ?? []);
  const inOrder = new Set(listed.map((id) => `${id}.json`));
  const readAll = (names: Iterable<string>) =>
    [...names].flatMap((name) => readSnapshot(data, `snapshots/${name}`) ?? []);
  // the manifest has the order; what it does not list yet was saved after it
  const others = readAll(
    data.names("snapshots").filter((name) => name.endsWith(".json") && !inOrder.has(name)),
  );
  const read = [...readAll(inOrder), ...others.sort((a, b) => a.snapshot.createdAt - b.snapshot.createdAt)];
  const snapshots = read.map(({ snapshot }) => snapshot);
  const times = snapshots.map(({ createdAt }) => createdAt);
  return {
    data,
    id: textOf(manifest["conversationId"]) ?? basename(data.directory),
    app: textOf(manifest["appId"]) ?? basename(dirname(data.directory)),
    workspace: basename(dirname(dirname(dirname(data.directory)))),
    directory: read.map(({ appDir }) => appDir).find((each) => each !== undefined),
    createdAt: timeOf(manifest["createdAt"]) ?? Math.min(...times, Date.now()),
    updatedAt: timeOf(manifest["updatedAt"]) ?? Math.max(...times, 0),
    snapshots,
  };
}

function readSnapshot(
  data: OldData,
  path: string,
): { snapshot: Snapshot; appDir: string | undefined } | undefined {
  const snapshot = recordOf(data.json(path));
  const messageId = textOf(snapshot["messageId"]);
  if (messageId === undefined) {
    if (Object.keys(snapshot).length > 0) data.skip(path, "it names no message");
    return undefined;
  }
  const listed = entriesOf(data, { of: path, list: snapshot["files"] });
  if (listed === undefined) return undefined;
  const files = listed.entries.flatMap(({ path: name, hash, size, mode, exists }): SavedFile[] => {
    const place = pathIn(data, String(name));
    if (place === undefined) return [];
    return [
      {
        path: place,
        mode: (numberOf(mode) ?? 0o644) & 0o777,
        size: numberOf(size) ?? 0,
        hash: exists === false ? undefined : String(hash),
      },
    ];
  });
  return {
    snapshot: { messageId, createdAt: timeOf(snapshot["createdAt"]) ?? 0, files, isWhole: listed.isWhole },
    appDir: textOf(snapshot["appDir"]),
  };
}

function threadOf(conversation: Conversation, covers: readonly BytePath[]): ThreadImport {
  const { data, id, app, workspace, createdAt, updatedAt, snapshots } = conversation;
  const aliasOf = ({ messageId }: Snapshot) => `${id}/${messageId}`;
  return {
    origin: ORIGIN,
    agent: ORIGIN,
    externalId: `${workspace}/${app}/${id}`,
    title: app,
    createdAt,
    updatedAt,
    checkpoints: snapshots.map((snapshot, at): FoundCheckpoint => ({
      alias: aliasOf(snapshot),
      kind: "message",
      phase: "before",
      description: `Before message ${snapshot.messageId}`,
      createdAt: snapshot.createdAt,
      messageId: snapshot.messageId,
      ...(at === 0 ? {} : { parent: { alias: aliasOf(snapshots[at - 1]!) } }),
      files: { [Symbol.iterator]: () => filesOf(data, snapshot) },
      covers: coversOf(
        snapshot.isWhole,
        covers,
        snapshot.files.map(({ path }) => path),
      ),
    })),
    messages: snapshots.map((snapshot) => ({
      role: "user",
      content: "",
      externalId: snapshot.messageId,
      createdAt: snapshot.createdAt,
      checkpoint: aliasOf(snapshot),
    })),
    sessions: [],
  };
}

function* filesOf(data: OldData, { messageId, files }: Snapshot): Generator<ImportedFile> {
  for (const { path, mode, size, hash } of files) {
    if (hash === undefined) continue;
    const isHash = /^[0-9a-f]{64}$/.test(hash);
    const content = isHash ? data.tryBytes(`blobs/${hash.slice(0, 2)}/${hash}`) : "its hash is none";
    const problem =
      typeof content === "string" ? content : sha256(content) === hash ? undefined : "its content is damaged";
    if (problem === undefined) yield { path, kind: "file", mode, content: content as Buffer };
    else {
      data.skip(`${messageId}: ${path}`, problem);
      yield lost(path, size);
    }
  }
}
