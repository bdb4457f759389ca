/**
 * A conversation as one file: a tar archive of `thread.json` (the thread, its sessions and messages, and its checkpoints
 * with names, notes, tags and lists of files) and `objects/<hash>` (each content once). `belay import` reads it.
 */
import { redact } from "@belay/protocol/redact";
import {
  pathToBytes,
  tarArchive,
  type ArchivedFile,
  type BytePath,
  type Checkpoint,
  type ThreadSummary,
  type Workspace,
} from "@belay/engine";

/** The first field of `thread.json`. */
export const BUNDLE_FORMAT = "belay bundle 1";

/** A file in the list of a checkpoint; its path in base64, because it may be any bytes. */
export interface BundledFile {
  readonly path: string;
  readonly kind: "file" | "symlink";
  readonly mode: number;
  readonly size: number;
  readonly hash: string;
}

/** What was written. */
export interface BundleFacts {
  readonly checkpoints: number;
  readonly messages: number;
  readonly objects: number;
}

/** The archive in pieces, and how much is in it. */
export async function bundleThread(
  workspace: Workspace,
  thread: ThreadSummary,
): Promise<{ archive: AsyncIterable<Buffer>; facts: BundleFacts }> {
  const checkpoints = (await workspace.list({ thread: thread.id })).reverse();
  const places = new Map<string, { readonly checkpoint: string; readonly path: BytePath }>();
  const listed = [];
  for (const checkpoint of checkpoints) {
    const files: BundledFile[] = [];
    for await (const file of workspace.files(checkpoint.id)) {
      if (file.kind === "directory") continue;
      const { hash } = file;
      places.set(hash, places.get(hash) ?? { checkpoint: checkpoint.id, path: file.path });
      files.push({ path: base64(file.path), kind: file.kind, mode: file.mode, size: file.size, hash });
    }
    listed.push({ ...checkpointFacts(checkpoint), ...(await gapsOf(workspace, checkpoint)), files });
  }
  const messages = await allMessages(workspace, thread);
  const text = JSON.stringify({
    format: BUNDLE_FORMAT,
    thread: {
      agent: thread.agent,
      externalId: thread.externalId,
      title: withoutSecrets(thread.title),
      createdAt: thread.createdAt,
      updatedAt: thread.updatedAt,
    },
    sessions: (await workspace.approvals.sessions(thread.id)).map((session) => ({
      ...session,
      message: withoutSecrets(session.message),
    })),
    messages,
    checkpoints: listed,
  });
  const facts = { checkpoints: listed.length, messages: messages.length, objects: places.size };
  return { archive: tarArchive(entries(workspace, text, places), thread.updatedAt), facts };
}

async function* entries(
  workspace: Workspace,
  text: string,
  places: ReadonlyMap<string, { readonly checkpoint: string; readonly path: BytePath }>,
): AsyncGenerator<ArchivedFile> {
  const thread = Buffer.from(text);
  yield entry("thread.json", thread.length, () => [thread]);
  const byCheckpoint = Map.groupBy(places, ([, { checkpoint }]) => checkpoint);
  for (const [checkpoint, contents] of byCheckpoint) {
    const hashes = new Map(contents.map(([hash, { path }]) => [path, hash]));
    for await (const file of workspace.files(checkpoint)) {
      const hash = hashes.get(file.path);
      if (hash !== undefined && file.kind !== "directory")
        yield entry(`objects/${hash}`, file.size, () => file.content());
    }
  }
}

function entry(name: string, size: number, content: () => Iterable<Buffer>): ArchivedFile {
  return { path: name as BytePath, kind: "file", mode: 0o644, size, content };
}

function withoutSecrets(text: string | null): string | null {
  return text === null ? null : redact(text);
}

/** What is passed on is free of secrets, as far as they can be recognised. */
function checkpointFacts(checkpoint: Checkpoint) {
  const { id, kind, phase, createdAt, session, messageId, messageIndex, toolUseId, tool } = checkpoint;
  const { agent, git, parents, tags, name, note, description, conversation } = checkpoint;
  const words = {
    description: redact(description),
    name: withoutSecrets(name),
    note: withoutSecrets(note),
    tags: tags.map(redact),
  };
  const place = { session, messageId, messageIndex, toolUseId, tool, conversation };
  return { id, kind, phase, createdAt, ...words, ...place, agent, git, parents };
}

async function gapsOf(workspace: Workspace, checkpoint: Checkpoint) {
  const { gaps } =
    checkpoint.gapsTotal > checkpoint.gaps.length ? await workspace.show(checkpoint.id) : checkpoint;
  return { gaps: gaps.map(({ path, reason, size }) => ({ path: base64(path), reason, size })) };
}

async function allMessages(workspace: Workspace, thread: ThreadSummary) {
  const messages = [];
  for (let before: number | null | undefined; before !== null;) {
    const page = await workspace.threads.history(thread.id, before === undefined ? {} : { before });
    messages.unshift(...page.messages);
    before = page.cursor;
  }
  return messages.map(({ id, role, content, externalId, createdAt, session, checkpoint, artifacts }) => ({
    id,
    role,
    content: redact(content),
    externalId,
    createdAt,
    session,
    checkpoint,
    artifacts,
  }));
}

function base64(path: BytePath): string {
  return pathToBytes(path).toString("base64");
}
