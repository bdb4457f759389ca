/** How many files wait for approval, thread by thread: asked one thread after another, when the page has nothing else to do. */
import { useBelay, type Thread } from "@belay/react";
import { useEffect, useState } from "react";

/** Threads that changed last; older ones are counted by the view of pending changes. */
const COUNTED = 12;
const REST_MS = 400;

const known = new Map<string, number>();

/** The counts as far as they are known, by thread. */
export function usePendingCounts(threads: readonly Thread[], version: number): ReadonlyMap<string, number> {
  const { client } = useBelay();
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(() => new Map(known));
  const ids = threads.slice(0, COUNTED).map(({ id }) => id);
  useEffect(() => {
    let isCurrent = true;
    const count = async () => {
      for (const id of ids) {
        if (!isCurrent) return;
        const { changedFiles } = await client.call("GET /api/threads/:id/session", { params: { id } });
        known.set(id, changedFiles.length);
        if (isCurrent) setCounts(new Map(known));
      }
    };
    // what it shows is old already when it fails; the strip says that the connection is gone
    const timer = setTimeout(() => void count().catch(() => undefined), REST_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, ids.join(" "), version]);
  return counts;
}
