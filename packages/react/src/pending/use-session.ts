/** The open session of a thread: what is not approved yet, and approving it. */
import type { CallOutput } from "@belay/protocol";
import { useState } from "react";
import { useBelay } from "../data/belay.tsx";
import { useLoaded } from "../data/loaded.ts";

/** What a thread changed since it was approved. */
export type PendingSession = CallOutput<"GET /api/threads/:id/session">;

/** The session of a thread as it is now. */
export interface SessionState {
  readonly session: PendingSession | undefined;
  readonly error: Error | undefined;
  /** Grows with every approval. */
  readonly approvals: number;
  /** Approves everything that is pending; no file is written. */
  approve(message?: string): Promise<void>;
}

/** What is pending in a thread. `version` grows when something happened, as `useVersion` counts it. */
export function useSession(thread: string, version: number): SessionState {
  const { client } = useBelay();
  const [approvals, setApprovals] = useState(0);
  const { value, error } = useLoaded(`session ${thread} ${version} ${approvals} !`, () =>
    client.call("GET /api/threads/:id/session", { params: { id: thread }, query: { diffs: "1" } }),
  );
  const approve = async (message = "") => {
    await client.call("POST /api/threads/:id/approve", {
      params: { id: thread },
      body: message === "" ? {} : { message },
    });
    setApprovals((before) => before + 1);
  };
  return { session: value, error, approvals, approve };
}
