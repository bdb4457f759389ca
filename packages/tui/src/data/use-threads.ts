/** The threads of the workspace by id, for their titles. */
import { useEffect, useState } from "react";
import type { CallOutput } from "@belay/protocol";
import { useSource } from "./source.tsx";

/** What the screens know of a thread. */
export type ThreadFacts = CallOutput<"GET /api/threads">["threads"][number];

/** The threads as far as they are known; asked again when a row names another. */
export function useThreads(wanted: string | null | undefined): ReadonlyMap<string, ThreadFacts> {
  const source = useSource();
  const [threads, setThreads] = useState<ReadonlyMap<string, ThreadFacts>>(new Map());
  const isMissing = typeof wanted === "string" && !threads.has(wanted);
  useEffect(() => {
    if (!isMissing) return;
    source.call("GET /api/threads", { query: { workspace: source.place.workspace } }).then(
      (answer) => setThreads(new Map(answer.threads.map((thread) => [thread.id, thread]))),
      // without its title a thread is named by its id; the request for the rows says what is wrong
      () => undefined,
    );
  }, [source, isMissing]);
  return threads;
}
