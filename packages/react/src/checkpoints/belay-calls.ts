/** The checkpoints of a conversation, through Belay's own routes. */
import type { CallOutput } from "@belay/protocol";
import type { BrowserClient } from "../data/client.ts";
import type {
  Checkpoint,
  CheckpointResult,
  CleanupResult,
  ConversationCalls,
  OutgoingMessage,
  PromptOf,
  RestoreResult,
} from "./conversation-calls.ts";

const MOST = 1000;

/** A protected directory, and whose conversations are asked about. */
interface Directory {
  readonly client: BrowserClient;
  readonly workspace: string;
  readonly agent: string;
}

/** The calls of a badge or dialog, as Belay's own routes. */
export function callsTo(client: BrowserClient, facts: Omit<Directory, "client">): ConversationCalls {
  const directory = { ...facts, client };
  return {
    list: (conversation, promptOf) => listCheckpoints(directory, conversation, promptOf),
    take: (conversation, message) => take(directory, conversation, message),
    restore: (_conversation, checkpoint) => restoreTo(directory, checkpoint),
    cleanup: (conversation, keepLast) => dropOlder(directory, conversation, keepLast),
  };
}

async function findThread(
  { client, workspace }: Directory,
  conversation: string,
): Promise<string | undefined> {
  const { threads } = await client.call("GET /api/threads", { query: { workspace } });
  return threads.find(({ externalId }) => externalId === conversation)?.id;
}

/** What Belay writes before the words of a message. */
const PREFIX = /^Before user message: /;

async function listCheckpoints(
  directory: Directory,
  conversation: string,
  promptOf: PromptOf | undefined,
): Promise<Checkpoint[]> {
  const thread = await findThread(directory, conversation);
  if (thread === undefined) return [];
  const { checkpoints } = await directory.client.call("GET /api/threads/:id/checkpoints", {
    params: { id: thread },
    query: { kind: "message", fresh: "1", limit: MOST },
  });
  return checkpoints
    .filter(({ messageId }) => messageId !== null)
    .map((each) => ({
      id: each.id,
      messageId: each.messageId!,
      createdAt: each.createdAt,
      fileCount: each.files,
      totalBytes: each.bytes,
      hasChanges: each.hasChanges === true,
      description: promptOf?.(each.messageId!) ?? each.description.replace(PREFIX, ""),
      thread,
    }))
    .toReversed();
}

type Taken = NonNullable<CallOutput<"POST /api/threads/:id/messages">["checkpoint"]>;

/** null where automatic checkpoints are switched off. */
async function take(
  { client, workspace, agent }: Directory,
  conversation: string,
  { messageId, prompt = "" }: OutgoingMessage,
): Promise<CheckpointResult | null> {
  const body = { agent, externalId: conversation };
  const { thread } = await client.call("POST /api/threads", { query: { workspace }, body });
  const { checkpoint } = await client.call("POST /api/threads/:id/messages", {
    params: { id: thread.id },
    body: { content: prompt, externalId: messageId },
  });
  return checkpoint === null ? null : resultOf(checkpoint, messageId);
}

function resultOf({ id, files, bytes, changes }: Taken, messageId: string): CheckpointResult {
  const blobsCreated = changes.added + changes.modified;
  return {
    id,
    messageId,
    fileCount: files,
    totalBytes: bytes,
    blobsCreated,
    blobsReused: Math.max(0, files - blobsCreated),
  };
}

/** Plans and carries out; the work of other conversations is left alone. */
async function restoreTo({ client, workspace }: Directory, checkpoint: Checkpoint): Promise<RestoreResult> {
  const query = { workspace };
  const { plan } = await client.call("POST /api/plans", {
    query,
    body: { kind: "restore", target: checkpoint.id, ...(checkpoint.thread && { thread: checkpoint.thread }) },
  });
  if (plan === null) return { filesRestored: 0, filesDeleted: 0, bytesWritten: 0 };
  return restoreResult(
    await client.call("POST /api/plans/:id/apply", { params: { id: plan.id }, query, body: {} }),
  );
}

/** The outcome of a restore in the reference's words. */
export function restoreResult({
  created,
  modified,
  deleted,
  bytesWritten,
}: Pick<
  CallOutput<"POST /api/plans/:id/apply">,
  "created" | "modified" | "deleted" | "bytesWritten"
>): RestoreResult {
  return { filesRestored: created + modified, filesDeleted: deleted, bytesWritten };
}

async function dropOlder(
  directory: Directory,
  conversation: string,
  keepLast: number,
): Promise<CleanupResult> {
  const list = await listCheckpoints(directory, conversation, undefined);
  const older = list.slice(0, Math.max(0, list.length - keepLast));
  for (const { id, thread } of older)
    await directory.client.call("DELETE /api/threads/:id/checkpoints/:cid", {
      params: { id: thread!, cid: id },
    });
  return { snapshotsDeleted: older.length, blobsDeleted: 0, bytesFreed: 0 };
}
