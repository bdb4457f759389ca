/** Looks again when an answer has ended: only then it is known whether it changed anything. */
import { useEffect, useRef } from "react";

/** Where an answer is, in the words of common chat libraries. */
export type StreamingStatus = "submitted" | "streaming" | "ready" | "error";

/** Calls `refresh` whenever an answer ends, well or with an error. */
export function useStreamingRefresh(status: StreamingStatus, refresh: () => Promise<void> | void): void {
  const before = useRef(status);
  useEffect(() => {
    const wasAnswering = before.current === "streaming" || before.current === "submitted";
    before.current = status;
    if (wasAnswering && (status === "ready" || status === "error")) void refresh();
  }, [status, refresh]);
}
