/** How many files wait for approval, thread by thread: asked one thread after another, when the page has nothing else to do. */
import { ClientError } from "@belay/protocol/client";
import { NoAnswer, useBelay, type Thread } from "@belay/react";
import { useEffect, useState } from "react";

/** Threads that changed last; older ones are counted by the view of pending changes. */
const COUNTED = 12;
const REST_MS = 400;

/** A number of files, or why it cannot be told. */
export type PendingCount = number | { readonly problem: string };

const known = new Map<string, PendingCount>();

/** The counts as far as they are known, by thread. */
export function usePendingCounts(
  threads: readonly Thread[],
  version: number,
): ReadonlyMap<string, PendingCount> {
  const { client } = useBelay();
  const [counts, setCounts] = useState<ReadonlyMap<string, PendingCount>>(() => new Map(known));
  const ids = threads.slice(0, COUNTED).map(({ id }) => id);
  useEffect(() => {
    let isCurrent = true;
    const count = async () => {
      for (const id of ids) {
        if (!isCurrent) return;
        known.set(id, await countOf(id));
        if (isCurrent) setCounts(new Map(known));
      }
    };
    const countOf = async (id: string): Promise<PendingCount> => {
      try {
        return (await client.call("GET /api/threads/:id/session", { params: { id } })).changedFiles.length;
      } catch (error) {
        // one thread that cannot be counted does not keep the next ones from it
        if (error instanceof ClientError) return { problem: error.message };
        throw error;
      }
    };
    const timer = setTimeout(
      () =>
        void count().catch((error: unknown) => {
          // what it shows is old then, and the strip says that the connection is gone
          if (!(error instanceof NoAnswer)) throw error;
        }),
      REST_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, ids.join(" "), version]);
  return counts;
}

/** The number of files, 0 where it is not known. */
export function filesWaiting(count: PendingCount | undefined): number {
  return typeof count === "number" ? count : 0;
}
