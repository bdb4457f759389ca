/** The commands of Moldable's desktop shell. */
import {
  displayPath,
  EngineError,
  type Checkpoint,
  type TakenCheckpoint,
  type ThreadId,
} from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { assertApplied } from "../frame/applied.ts";
import { drop } from "../frame/drop.ts";
import { begunThread, findThread } from "../frame/references.ts";
import type { Root } from "../frame/root.ts";
import { AGENT, appRoot, assertId, inGoneApps, prefixOf, threadName } from "./apps.ts";
import type {
  CheckpointManifest,
  CheckpointResult,
  CheckpointSummary,
  CleanupResult,
  RestoreResult,
  Snapshot,
} from "./results.ts";

/** A conversation has at most this many checkpoints. */
const MOST = 50;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const REGULAR_FILE = 0o100000;
const SYMBOLIC_LINK = 0o120000;

/** Takes the checkpoint before a message. What happens until the next one is its answer, which `belay undo` takes back. */
export async function create_checkpoint(
  app_id: string,
  app_dir: string,
  conversation_id: string,
  message_id: string,
): Promise<CheckpointResult> {
  const name = threadName(app_id, conversation_id);
  assertId("message", message_id);
  const root = appRoot(app_id, app_dir);
  const isFirst = root.known === undefined;
  const { workspace } = root;
  const thread = begunThread(workspace, AGENT, name);
  const { checkpoint, stored } = takeBefore(workspace, thread, message_id);
  for (const { path, reason } of checkpoint.gaps)
    root.log("warning", "not_captured", { path: displayPath(path), reason });
  // protecting the app is part of its first checkpoint
  const created = isFirst ? new Map(contentsOf(workspace, checkpoint.id)).size : stored.objects;
  dropSurplus(root, thread);
  dropClosed(root, app_id);
  return {
    id: idOf(checkpoint),
    messageId: message_id,
    fileCount: checkpoint.files,
    totalBytes: checkpoint.bytes,
    blobsCreated: created,
    blobsReused: checkpoint.files - created,
  };
}

/** The checkpoints of a conversation, oldest first. */
export async function list_checkpoints(
  app_id: string,
  conversation_id: string,
): Promise<CheckpointSummary[]> {
  const { workspace, thread } = known(app_id, conversation_id);
  if (workspace === undefined || thread === undefined) return [];
  return summariesOf(workspace, thread);
}

/** Brings the app back to how it was before a message: files that were made later go. */
export async function restore_checkpoint(
  app_id: string,
  conversation_id: string,
  message_id: string,
): Promise<RestoreResult> {
  const { workspace, thread, checkpoint } = found(app_id, conversation_id, message_id);
  const outcome = workspace.restoreTo(checkpoint.id, { thread });
  assertApplied(outcome);
  const named = ({ path, reason }: (typeof outcome.kept)[number] | (typeof outcome.skipped)[number]) => ({
    path: displayPath(path),
    reason,
  });
  return {
    filesRestored: outcome.created + outcome.modified,
    filesDeleted: outcome.deleted,
    bytesWritten: outcome.bytesWritten,
    safetyCheckpoint: outcome.safetyCheckpoint,
    kept: outcome.kept.map(named),
    skipped: outcome.skipped.map(named),
  };
}

/** Drops all but the newest checkpoints of a conversation. For a day they can be brought back; then their content is freed. */
export async function cleanup_checkpoints(
  app_id: string,
  conversation_id: string,
  keep_last_n: number,
): Promise<CleanupResult> {
  const nothing = { snapshotsDeleted: 0, blobsDeleted: 0, bytesFreed: 0, blobsPending: 0, bytesPending: 0 };
  const { root, workspace, thread } = known(app_id, conversation_id);
  if (workspace === undefined || thread === undefined) return nothing;
  const dropped = listed(workspace, thread).slice(0, -Math.max(0, keep_last_n) || undefined);
  const own = new Map(dropped.flatMap(({ id }) => contentsOf(workspace, id)));
  for (const content of neededByUndo(workspace, dropped)) own.delete(content);
  const gone = dropped.filter((checkpoint) => drop(root, checkpoint));
  for (const { id } of workspace.list())
    for (const [content] of contentsOf(workspace, id)) own.delete(content);
  const { objectsFreed, contentFreed } = workspace.upkeep.gc();
  return {
    snapshotsDeleted: gone.length,
    blobsDeleted: objectsFreed,
    bytesFreed: contentFreed,
    blobsPending: own.size,
    bytesPending: [...own.values()].reduce((sum, size) => sum + size, 0),
  };
}

/** Drops the checkpoints of all conversations about an app, and the conversations. */
export async function delete_app_checkpoints(app_id: string): Promise<void> {
  const workspace = appRoot(app_id).known;
  if (workspace === undefined) inGoneApps((gone) => dropApp(gone, app_id));
  else dropApp(workspace, app_id);
}

function dropApp(workspace: SyncWorkspace, appId: string): void {
  for (const { id, agent, externalId } of workspace.threads.list())
    if (agent === AGENT && externalId.startsWith(prefixOf(appId)))
      workspace.threads.delete(id, { checkpoints: true });
}

/** The manifest of a conversation, as Moldable kept it in a file. */
export async function get_manifest(app_id: string, conversation_id: string): Promise<CheckpointManifest> {
  const { workspace, thread } = known(app_id, conversation_id);
  const summary = thread === undefined ? undefined : workspace?.threads.get(thread);
  if (workspace === undefined || thread === undefined || summary === undefined)
    throw new Error(`There are no checkpoints of conversation ${conversation_id}.`);
  return {
    conversationId: conversation_id,
    appId: app_id,
    createdAt: iso(summary.createdAt),
    updatedAt: iso(summary.updatedAt),
    snapshots: summariesOf(workspace, thread),
  };
}

/** All files before a message; those that other snapshots of the conversation have are known to be absent. */
export async function get_snapshot(
  app_id: string,
  conversation_id: string,
  message_id: string,
): Promise<Snapshot> {
  const { root, workspace, thread, checkpoint } = found(app_id, conversation_id, message_id);
  const files = new Map(
    [...workspace.files(checkpoint.id)]
      .filter(({ kind }) => kind !== "directory")
      .map(({ path, hash: content, size, mode, kind }) => {
        const bits = kind === "symlink" ? SYMBOLIC_LINK | 0o777 : REGULAR_FILE | mode;
        return [
          displayPath(path),
          { path: displayPath(path), hash: content, size, mode: bits, exists: true },
        ] as const;
      }),
  );
  const gaps = new Set(workspace.show(checkpoint.id).gaps.map(({ path }) => displayPath(path)));
  const others = listed(workspace, thread).flatMap(({ id }) =>
    [...workspace.files(id)].filter(({ kind }) => kind !== "directory").map(({ path }) => displayPath(path)),
  );
  const absent = [...new Set(others)]
    .filter((path) => !files.has(path) && !gaps.has(path))
    .map((path) => ({ path, hash: null, size: 0, mode: 0, exists: false }));
  return {
    id: idOf(checkpoint),
    messageId: message_id,
    conversationId: conversation_id,
    appId: app_id,
    appDir: root.directory,
    createdAt: iso(checkpoint.createdAt),
    files: [...files.values(), ...absent],
  };
}

/** [R2451] What a checkpoint that stays changed can still be undone: the content before it stays as long as it does. */
function neededByUndo(workspace: SyncWorkspace, dropped: readonly Checkpoint[]): string[] {
  const going = new Set(dropped.map(({ id }) => id));
  return workspace.list().flatMap(({ id, parents: [before] }) => {
    if (going.has(id) || before === undefined || !going.has(before)) return [];
    const after = new Map(entriesOf(workspace, id));
    return entriesOf(workspace, before).flatMap(([path, content]) =>
      after.get(path) === content ? [] : [content],
    );
  });
}

function entriesOf(workspace: SyncWorkspace, id: string): [string, string][] {
  return [...workspace.files(id)].flatMap(({ path, kind, hash: content }) =>
    kind === "directory" ? [] : [[displayPath(path), content] as [string, string]],
  );
}

/** A message that comes again has a newer checkpoint: that one counts. */
function takeBefore(
  workspace: SyncWorkspace,
  thread: ThreadId,
  messageId: string,
): Pick<TakenCheckpoint, "checkpoint" | "stored"> {
  const { checkpoint, stored = { objects: 0, bytes: 0 } } = workspace.turns.prompt(thread, {
    content: "",
    summary: messageId,
    messageId,
  });
  if (checkpoint !== null) return { checkpoint, stored };
  const description = `Before user message: ${messageId}`;
  return workspace.checkpoint({ kind: "message", phase: "before", thread, messageId, description });
}

/** The newest checkpoint of each message, oldest first. */
function listed(workspace: SyncWorkspace, thread: ThreadId): Checkpoint[] {
  const newest = new Map<string, Checkpoint>();
  for (const checkpoint of workspace.list({ thread, kind: "message" }))
    if (checkpoint.messageId !== null && !newest.has(checkpoint.messageId))
      newest.set(checkpoint.messageId, checkpoint);
  return [...newest.values()].sort((a, b) => a.seq - b.seq);
}

function summariesOf(workspace: SyncWorkspace, thread: ThreadId): CheckpointSummary[] {
  const compared = new Map(
    workspace.list({ thread, kind: "message", fresh: true }).map((each) => [each.id, each.hasChanges]),
  );
  const all = listed(workspace, thread);
  return all.map((checkpoint, at) => ({
    id: idOf(checkpoint),
    messageId: checkpoint.messageId!,
    createdAt: iso(checkpoint.createdAt),
    fileCount: checkpoint.files,
    totalBytes: checkpoint.bytes,
    hasChanges: compared.get(checkpoint.id) ?? differs(workspace, checkpoint, all[at + 1]),
  }));
}

/** For what was imported: compared with the next one there, or with the disk. */
function differs(workspace: SyncWorkspace, checkpoint: Checkpoint, next: Checkpoint | undefined): boolean {
  if (next !== undefined) return next.snapshot !== checkpoint.snapshot;
  return workspace.diff({ from: checkpoint.id, detail: "names" }).files.length > 0;
}

function dropSurplus(root: Root, thread: ThreadId): void {
  for (const checkpoint of listed(root.workspace, thread).slice(0, -MOST)) drop(root, checkpoint);
}

/** Of a closed conversation, also one without an event for a week, checkpoints go when they are a week old. */
function dropClosed(root: Root, appId: string): void {
  const { workspace } = root;
  const before = root.now() - WEEK_MS;
  for (const { id, agent, externalId, updatedAt, closedAt } of workspace.threads.list()) {
    if (agent !== AGENT || !externalId.startsWith(prefixOf(appId))) continue;
    if (closedAt === null && updatedAt >= before) continue;
    for (const checkpoint of listed(workspace, id)) if (checkpoint.createdAt < before) drop(root, checkpoint);
  }
}

function contentsOf(workspace: SyncWorkspace, id: string): [string, number][] {
  return [...workspace.files(id)].flatMap(({ kind, hash: content, size }) =>
    kind === "directory" ? [] : [[content, size] as [string, number]],
  );
}

function known(
  appId: string,
  conversationId: string,
): { root: Root; workspace: SyncWorkspace | undefined; thread: ThreadId | undefined } {
  const name = threadName(appId, conversationId);
  const root = appRoot(appId);
  const workspace = root.known;
  return { root, workspace, thread: workspace && findThread(workspace, AGENT, name)?.id };
}

function found(appId: string, conversationId: string, messageId: string) {
  const { root, workspace, thread } = known(appId, conversationId);
  const checkpoint =
    workspace === undefined || thread === undefined
      ? undefined
      : listed(workspace, thread).find((each) => each.messageId === messageId || idOf(each) === messageId);
  if (workspace !== undefined && thread !== undefined && checkpoint !== undefined)
    return { root, workspace, thread, checkpoint };
  throw new EngineError(
    "CHECKPOINT_NOT_FOUND",
    `There is no checkpoint of message ${messageId} in conversation ${conversationId}. Nothing was changed.`,
    { checkpoint: messageId },
  );
}

function idOf({ id }: Checkpoint): string {
  return `snap-${id}`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
