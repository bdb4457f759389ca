/**
 * The checkpoints of one conversation, for a chat that is not ours: the hook of Moldable's checkpoint document, on Belay.
 * A message gets its checkpoint before it goes out, and can be gone back to before.
 */
import type { CallOutput } from "@belay/protocol";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useClient } from "../data/belay.tsx";
import type { BrowserClient } from "../data/client.ts";

/** The state of the files before a message. */
export interface Checkpoint {
  readonly id: string;
  readonly messageId: string;
  readonly createdAt: string;
  readonly fileCount: number;
  readonly totalBytes: number;
  /** Whether the answer to the message changed a file: each is compared with the next, the last with the disk. */
  readonly hasChanges: boolean;
  /** What the checkpoint is called: the message's words, where Belay was told them. */
  readonly description?: string;
  /** Belay's id of the conversation. */
  readonly thread?: string;
  /** The files that going back would change, where the host knows them. */
  readonly files?: readonly { readonly path: string }[];
}

/** A checkpoint that was just taken. */
export interface CheckpointResult {
  readonly id: string;
  readonly messageId: string;
  readonly fileCount: number;
  readonly totalBytes: number;
  /** Files that are new or changed since the checkpoint before. */
  readonly blobsCreated: number;
  /** Files whose content the checkpoint before has already. */
  readonly blobsReused: number;
}

/** What going back did. */
export interface RestoreResult {
  readonly filesRestored: number;
  readonly filesDeleted: number;
  readonly bytesWritten: number;
}

/** What a clean-up did. Content stays for a day, so that what was dropped can be brought back: nothing is freed at once. */
export interface CleanupResult {
  readonly snapshotsDeleted: number;
  readonly blobsDeleted: number;
  readonly bytesFreed: number;
}

/** What the hook may be told beyond the conversation. */
export interface CheckpointsOptions {
  /** The agent of the conversation, as Belay names it in lists; "http" unless said otherwise. */
  readonly agent?: string;
  /** The words of a message, so that its checkpoint has a title. */
  readonly promptOf?: (messageId: string) => string | undefined;
  /** Called after `restore` changed files: the host shows itself again. */
  readonly onRestored?: (result: RestoreResult) => void;
}

/** What the hook gives. */
export interface Checkpoints {
  /** Oldest first; empty while there is no app. */
  readonly checkpoints: readonly Checkpoint[];
  /** False without an app: then nothing is asked and nothing is captured. */
  readonly enabled: boolean;
  readonly isLoading: boolean;
  /** What went wrong last; null after the next success. */
  readonly error: Error | null;
  /** Asks again, and compares the last checkpoint with the disk. */
  refresh(): Promise<void>;
  /**
   * Captures the files before a message goes out. A failure sets `error` and gives null: it never keeps the message back.
   * `appDir` is there for the reference's sake, as Belay knows the directory. A text as `hint` is the id of a
   * conversation that was made just now; names of files are not needed, because all of them are captured.
   */
  createCheckpoint(
    messageId: string,
    appDir?: string,
    hint?: readonly string[] | string,
  ): Promise<CheckpointResult | null>;
  /** Goes back to before a message, its own answer and all later ones included. A failure sets `error` and is thrown. */
  restore(messageId: string): Promise<RestoreResult | null>;
  /** Drops all but the last checkpoints of the conversation; for a day they can be brought back. */
  cleanup(keepLast?: number): Promise<CleanupResult | null>;
  hasCheckpoint(messageId: string): boolean;
  getCheckpoint(messageId: string): Checkpoint | undefined;
}

/** A message waits no longer than this for its checkpoint. */
const LONGEST_MS = 10_000;
const MOST = 1000;
const KEPT = 50;

/** The checkpoints of a conversation. `appId`: a protected directory, by id or path; null: none is in focus. */
export function useCheckpoints(
  appId: string | null,
  conversationId: string,
  options: CheckpointsOptions = {},
): Checkpoints {
  const { checkpoints, isLoading, error, refresh, setError, place } = useList(appId, conversationId, options);
  const given = useLatest(options);
  const createCheckpoint = useCallback(
    async (messageId: string, _appDir?: string, hint?: readonly string[] | string) => {
      const to = placeOf(place, typeof hint === "string" ? hint : undefined);
      if (to === null) return null;
      try {
        const taken = await withinTime(take(to, { messageId, prompt: given.current.promptOf?.(messageId) }));
        setError(null);
        void refresh();
        return taken;
      } catch (problem) {
        setError(problem as Error);
        return null;
      }
    },
    [place, refresh, setError, given],
  );
  const failing = useCallback(
    async <Result>(work: () => Promise<Result>): Promise<Result> => {
      try {
        const result = await work();
        await refresh();
        return result;
      } catch (problem) {
        setError(problem as Error);
        throw problem;
      }
    },
    [refresh, setError],
  );
  const getCheckpoint = useCallback(
    (messageId: string) => checkpoints.find((each) => each.messageId === messageId),
    [checkpoints],
  );
  const restore = useCallback(
    async (messageId: string) => {
      if (place === null) return null;
      const result = await failing(() => goBack(place, messageId, getCheckpoint(messageId)));
      given.current.onRestored?.(result);
      return result;
    },
    [place, failing, getCheckpoint, given],
  );
  const cleanup = useCallback(
    async (keepLast = KEPT) => (place === null ? null : failing(() => dropOlder(place, keepLast))),
    [place, failing],
  );
  const hasCheckpoint = useCallback(
    (messageId: string) => getCheckpoint(messageId) !== undefined,
    [getCheckpoint],
  );
  const enabled = appId !== null;
  const shown = { checkpoints, enabled, isLoading, error };
  return { ...shown, refresh, createCheckpoint, restore, cleanup, hasCheckpoint, getCheckpoint };
}

/** One conversation of a directory. */
interface Place {
  readonly client: BrowserClient;
  readonly workspace: string;
  readonly conversation: string;
  readonly agent: string;
}

function placeOf(place: Place | null, conversation: string | undefined): Place | null {
  return place === null || conversation === undefined ? place : { ...place, conversation };
}

/** The list, asked for when the conversation changes and whenever the host says so. */
function useList(appId: string | null, conversationId: string, options: CheckpointsOptions) {
  const { agent = "http" } = options;
  const client = useClient();
  const [checkpoints, setCheckpoints] = useState<readonly Checkpoint[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const place = useMemo(
    () => (appId === null ? null : { client, workspace: appId, conversation: conversationId, agent }),
    [client, appId, conversationId, agent],
  );
  const given = useLatest(options);
  const asked = useRef(0);
  const refresh = useCallback(async () => {
    const mine = (asked.current += 1);
    if (place === null) return setCheckpoints([]);
    setLoading(true);
    try {
      const list = await listCheckpoints(place, given.current.promptOf);
      // an older answer would hide what a newer one has shown
      if (asked.current !== mine) return;
      setCheckpoints(list);
      setError(null);
    } catch (problem) {
      if (asked.current === mine) setError(problem as Error);
    } finally {
      if (asked.current === mine) setLoading(false);
    }
  }, [place, given]);
  useEffect(() => void refresh(), [refresh]);
  return { checkpoints, isLoading, error, refresh, setError, place };
}

async function findThread({ client, workspace, conversation }: Place): Promise<string | undefined> {
  const { threads } = await client.call("GET /api/threads", { query: { workspace } });
  return threads.find(({ externalId }) => externalId === conversation)?.id;
}

/** What Belay writes before the words of a message. */
const PREFIX = /^Before user message: /;

async function listCheckpoints(
  place: Place,
  promptOf: CheckpointsOptions["promptOf"],
): Promise<Checkpoint[]> {
  const thread = await findThread(place);
  if (thread === undefined) return [];
  const { checkpoints } = await place.client.call("GET /api/threads/:id/checkpoints", {
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
  { client, workspace, conversation, agent }: Place,
  { messageId, prompt = "" }: { readonly messageId: string; readonly prompt: string | undefined },
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

function withinTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    const message = `Belay did not answer within ${LONGEST_MS / 1000} seconds. The message goes out without a checkpoint.`;
    timer = setTimeout(() => reject(new Error(message)), LONGEST_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Plans and carries out; the work of other conversations is left alone. */
async function goBack(
  { client, workspace }: Place,
  messageId: string,
  checkpoint: Checkpoint | undefined,
): Promise<RestoreResult> {
  if (checkpoint === undefined)
    throw new Error(`There is no checkpoint before message ${messageId}. Nothing was restored.`);
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

/** An outcome in the reference's words. */
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

async function dropOlder(place: Place, keepLast: number): Promise<CleanupResult> {
  const list = await listCheckpoints(place, undefined);
  const older = list.slice(0, Math.max(0, list.length - keepLast));
  for (const { id, thread } of older)
    await place.client.call("DELETE /api/threads/:id/checkpoints/:cid", { params: { id: thread!, cid: id } });
  return { snapshotsDeleted: older.length, blobsDeleted: 0, bytesFreed: 0 };
}

/** The newest value, for callbacks that must not change with it. */
function useLatest<Value>(value: Value) {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
