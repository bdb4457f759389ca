/** What is known of a project: its status and threads, asked again when something happened. */
import type { CallOutput } from "@belay/protocol";
import { useEffect, useState } from "react";
import { useBelay } from "./belay.tsx";
import { useLoaded } from "./loaded.ts";

/** The status of a project. */
export type Status = CallOutput<"GET /api/status">;
/** A conversation with an agent. */
export type Thread = CallOutput<"GET /api/threads">["threads"][number];

/** A named line of checkpoints. */
export type Branch = CallOutput<"GET /api/branches">["branches"][number];
/** One execution of an agent's program. */
export type Run = CallOutput<"GET /api/runs">["runs"][number];
/** A loop of attempts to fix what a review found. */
export type Fix = CallOutput<"GET /api/fixes">["fixes"][number];
/** A merge of branches. */
export type Merge = CallOutput<"GET /api/merges">["merges"][number];

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

/** The same, which stands still while something is being carried out: its own events ask for nothing. */
export function useVersionUnless(isBusy: boolean): number {
  const version = useVersion();
  const [shown, setShown] = useState(version);
  useEffect(() => {
    if (!isBusy) setShown(version);
  }, [version, isBusy]);
  return shown;
}

const latest = new Map<string, unknown>();

/** The last answer, also one that a view got which was left meanwhile: the frame around the next one stands still. */
function useLatest<Value>(name: string, value: Value | undefined): Value | undefined {
  if (value !== undefined) latest.set(name, value);
  return value ?? (latest.get(name) as Value | undefined);
}

/** The status of the workspace, as of the last event. */
export function useStatus(version: number): Status | undefined {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`status ${workspace} ${version} !`, () =>
    client.call("GET /api/status", { query: { workspace } }),
  );
  return useLatest(`status ${workspace}`, value);
}

/** The threads, newest first. */
export function useThreads(version: number): readonly Thread[] {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`threads ${workspace} ${version} !`, () =>
    client.call("GET /api/threads", { query: { workspace } }),
  );
  return useLatest(`threads ${workspace}`, value)?.threads ?? [];
}

/** Merges that wait: for decisions, or to be applied. */
export function useOpenMerges(version: number): readonly Merge[] {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`merges ${workspace} ${version} !`, () =>
    client.call("GET /api/merges", { query: { workspace, state: "open" } }),
  );
  return value?.merges ?? [];
}
