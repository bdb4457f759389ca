/** What is known of a project: its status and threads, asked again when something happened. */
import type { CallOutput } from "@belay/protocol";
import { useEffect, useState } from "react";
import { useBelay } from "./belay.tsx";
import { useLoaded } from "./loaded.ts";

/** The status of a project. */
export type Status = CallOutput<"GET /api/status">;
/** A conversation with an agent. */
export type Thread = CallOutput<"GET /api/threads">["threads"][number];

const EVENTS_MS = 300;

/** A number that grows when something happened in the project. */
export function useVersion(): number {
  const { live } = useBelay();
  const [version, setVersion] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.onEvent(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setVersion((before) => before + 1);
      }, EVENTS_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live]);
  return version;
}

/** The status, as of the last event. */
export function useStatus(version: number): Status | undefined {
  const { client, workspace } = useBelay();
  return useLoaded(`status ${workspace} ${version} !`, () =>
    client.call("GET /api/status", { query: { workspace } }),
  ).value;
}

/** The threads, newest first. */
export function useThreads(version: number): readonly Thread[] {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`threads ${workspace} ${version} !`, () =>
    client.call("GET /api/threads", { query: { workspace } }),
  );
  return value?.threads ?? [];
}
