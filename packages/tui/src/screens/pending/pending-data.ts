/** What is pending in each thread, and what was seen of it. */
import type { CallOutput } from "@belay/protocol";
import { useCallback, useEffect, useState } from "react";
import type { Place } from "../../data/connection.ts";
import { recall, remember } from "../../data/remembered.ts";
import { useSource, type Source } from "../../data/source.tsx";
import { makePlan, refusalOf } from "../../plans/plan.ts";

type Thread = CallOutput<"GET /api/threads">["threads"][number];
type Session = CallOutput<"GET /api/threads/:id/session">;
/** A file that is not approved yet. */
export type PendingFile = Session["changedFiles"][number];
/** A stretch of a thread that was or will be approved or reset. */
export type SessionRecord = CallOutput<"GET /api/threads/:id/sessions">["sessions"][number];

/** One thread with what is pending in it. */
export interface PendingThread {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly session: string | null;
  /** The checkpoint of the approved state; null before the first one. */
  readonly approved: string | null;
  readonly files: readonly PendingFile[];
  readonly isWorking: boolean;
  readonly lastApprovedAt: string | null;
  readonly sessions: readonly SessionRecord[];
  /** What else is known of a file: by hand too, another agent too. */
  readonly marks: ReadonlyMap<string, string>;
}

/** What the screen shows. */
export interface PendingState {
  readonly threads: readonly PendingThread[] | undefined;
  readonly error: string | undefined;
  again(): void;
}

/** Threads with nothing pending are listed only up to here. */
const QUIET_THREADS = 5;

/** Loads what is pending, again whenever something happens. */
export function usePending(): PendingState {
  const source = useSource();
  const [threads, setThreads] = useState<readonly PendingThread[]>();
  const [error, setError] = useState<string>();
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((number) => number + 1), []);
  useEffect(() => {
    let isLatest = true;
    load(source).then(
      (loaded) => {
        if (!isLatest) return;
        setThreads((before) => inOrderOf(before, loaded));
        setError(undefined);
      },
      (problem: unknown) => isLatest && setError(refusalOf(problem).message),
    );
    return () => void (isLatest = false);
  }, [source, round]);
  useEffect(() => {
    let timer: NodeJS.Timeout | undefined;
    const stop = source.listen(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        again();
      }, SETTLE_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [source, again]);
  return { threads, error, again };
}

/** Nothing moves under the eye: threads keep their places, new ones come last. */
function inOrderOf(
  before: readonly PendingThread[] | undefined,
  loaded: readonly PendingThread[],
): PendingThread[] {
  const places = new Map(before?.map(({ id }, index) => [id, index]));
  const placeOf = ({ id }: PendingThread) => places.get(id) ?? Number.MAX_SAFE_INTEGER;
  return loaded.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Events come in bursts: one look is enough for all of them. */
const SETTLE_MS = 150;

async function load(source: Source): Promise<PendingThread[]> {
  const query = { workspace: source.place.workspace };
  const { threads } = await source.call("GET /api/threads", { query });
  const { now } = await source.call("GET /api/history", { query: { ...query, limit: 1 } });
  const working = new Set(now?.working);
  const loaded: PendingThread[] = [];
  let quiet = 0;
  for (const thread of threads) {
    const one = await loadThread(source, thread, working.has(thread.id));
    if (one.files.length === 0 && !one.isWorking && (quiet += 1) > QUIET_THREADS) continue;
    loaded.push(one);
  }
  // what wants a look comes first
  return loaded.toSorted((a, b) => Number(b.files.length > 0) - Number(a.files.length > 0));
}

async function loadThread(source: Source, thread: Thread, isWorking: boolean): Promise<PendingThread> {
  const params = { id: thread.id };
  const { changedFiles, activeSession } = await source.call("GET /api/threads/:id/session", {
    params,
    query: { diffs: "1" },
  });
  const { sessions } = await source.call("GET /api/threads/:id/sessions", { params });
  const { approved, marks } =
    changedFiles.length === 0 ? { approved: null, marks: new Map() } : await resetFacts(source, thread.id);
  return {
    id: thread.id,
    agent: thread.agent,
    title: thread.title ?? thread.externalId,
    session: activeSession,
    approved,
    files: changedFiles,
    isWorking,
    lastApprovedAt: thread.lastApprovedAt,
    sessions: sessions.toReversed(),
    marks,
  };
}

/** The plan of a reset knows the approved state, and who else changed a file. */
async function resetFacts(
  source: Source,
  thread: string,
): Promise<{ approved: string | null; marks: ReadonlyMap<string, string> }> {
  const { plan } = await makePlan(source, source.place.workspace, { kind: "reset", thread });
  const marks = plan?.files.map(({ path, marks: all }) => [
    path,
    all.filter((mark) => mark !== "scripts").join(", "),
  ]);
  return { approved: plan?.checkpointId ?? null, marks: new Map(marks as [string, string][]) };
}

/** What was seen, by what it was: a file that changed since is new again. */
export class SeenFiles {
  readonly #place: Place;
  #seen: Readonly<Record<string, string>>;

  constructor(place: Place) {
    this.#place = place;
    this.#seen = recall(place).seen;
  }

  /** Whether this content was seen, another one of the same file, or none. */
  stateOf(thread: string, file: PendingFile): "seen" | "changed" | "unseen" {
    const seen = this.#seen[keyOf(thread, file)];
    if (seen === undefined) return "unseen";
    return seen === contentOf(file) ? "seen" : "changed";
  }

  /** Changes the mark; says why it is not kept for the next run, if so. */
  toggle(thread: string, file: PendingFile): string | undefined {
    const key = keyOf(thread, file);
    const { [key]: _, ...others } = recall(this.#place).seen;
    const isSeen = this.stateOf(thread, file) === "seen";
    this.#seen = isSeen ? others : { ...others, [key]: contentOf(file) };
    return remember(this.#place, { seen: this.#seen });
  }
}

function keyOf(thread: string, { path, pathBase64 }: PendingFile): string {
  return hashOf([thread, pathBase64 ?? path]);
}

function contentOf({ diff, status, additions, deletions, isBinary }: PendingFile): string {
  return hashOf([diff, status, additions, deletions, isBinary]);
}

function hashOf(parts: readonly unknown[]): string {
  // loaded here: the timeline does not wait for it
  return process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify(parts), "base64url");
}
