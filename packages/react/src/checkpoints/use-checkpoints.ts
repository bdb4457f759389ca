/**
 * The checkpoints of one conversation, for a chat that is not ours: the hook of Moldable's checkpoint document, on Belay.
 * A message gets its checkpoint before it goes out, and can be gone back to before.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useClientIfAny } from "../data/belay.tsx";
import { callsTo } from "./belay-calls.ts";
import type {
  Checkpoint,
  CheckpointResult,
  CleanupResult,
  ConversationCalls,
  PromptOf,
  RestoreResult,
} from "./conversation-calls.ts";
import { callsOver, type Invoke } from "./invoke-calls.ts";

/** What the hook may be told beyond the conversation. */
export interface CheckpointsOptions {
  /**
   * The host's own way to Moldable's commands, of `@belay/drop-in/moldable` or its client: then nothing else of Belay is
   * asked and no provider is needed. The same function has to be given each time.
   */
  readonly invoke?: Invoke;
  /** The agent of the conversation, as Belay names it in lists; "http" unless said otherwise. */
  readonly agent?: string;
  /** The words of a message, so that its checkpoint has a title. */
  readonly promptOf?: PromptOf;
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
   * `appDir` matters with `invoke` alone, as Belay knows the directory. A text as `hint` is the id of a
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
const KEPT = 50;

/** The checkpoints of a conversation. `appId`: a protected directory, by id or path; null: none is in focus. */
export function useCheckpoints(
  appId: string | null,
  conversationId: string,
  options: CheckpointsOptions = {},
): Checkpoints {
  const { checkpoints, isLoading, error, refresh, setError, place } = useList(
    // an empty text is none, as in the reference
    appId || null,
    conversationId,
    options,
  );
  const given = useLatest(options);
  const createCheckpoint = useCallback(
    async (messageId: string, appDir?: string, hint?: readonly string[] | string) => {
      if (place === null) return null;
      const conversation = typeof hint === "string" ? hint : place.conversation;
      const prompt = given.current.promptOf?.(messageId);
      try {
        const taken = await withinTime(place.calls.take(conversation, { messageId, prompt, appDir }));
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
    async (keepLast = KEPT) =>
      place === null ? null : failing(() => place.calls.cleanup(place.conversation, keepLast)),
    [place, failing],
  );
  const hasCheckpoint = useCallback(
    (messageId: string) => getCheckpoint(messageId) !== undefined,
    [getCheckpoint],
  );
  const enabled = !!appId;
  const shown = { checkpoints, enabled, isLoading, error };
  return { ...shown, refresh, createCheckpoint, restore, cleanup, hasCheckpoint, getCheckpoint };
}

/** One conversation of a directory. */
interface Place {
  readonly calls: ConversationCalls;
  readonly conversation: string;
}

/** The list, asked for when the conversation changes and whenever the host says so. */
function useList(appId: string | null, conversationId: string, options: CheckpointsOptions) {
  const { agent = "http", invoke } = options;
  const client = useClientIfAny();
  if (client === undefined && invoke === undefined)
    throw new Error("useCheckpoints needs a <BelayProvider> above it, or `invoke`.");
  const [checkpoints, setCheckpoints] = useState<readonly Checkpoint[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const place = useMemo(
    () =>
      appId === null
        ? null
        : {
            calls:
              invoke === undefined ? callsTo(client!, { workspace: appId, agent }) : callsOver(invoke, appId),
            conversation: conversationId,
          },
    [client, invoke, appId, conversationId, agent],
  );
  const given = useLatest(options);
  const asked = useRef(0);
  const refresh = useCallback(async () => {
    const mine = (asked.current += 1);
    if (place === null) return setCheckpoints([]);
    setLoading(true);
    try {
      const list = await place.calls.list(place.conversation, given.current.promptOf);
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

function withinTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    const message = `Belay did not answer within ${LONGEST_MS / 1000} seconds. The message goes out without a checkpoint.`;
    timer = setTimeout(() => reject(new Error(message)), LONGEST_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function goBack(
  { calls, conversation }: Place,
  messageId: string,
  checkpoint: Checkpoint | undefined,
): Promise<RestoreResult> {
  if (checkpoint === undefined)
    throw new Error(`There is no checkpoint before message ${messageId}. Nothing was restored.`);
  return calls.restore(conversation, checkpoint);
}

/** The newest value, for callbacks that must not change with it. */
function useLatest<Value>(value: Value) {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
