/** The open session of a thread, and what is pending in it. */
import type { PendingFile, SessionStatus } from "@belay/engine";
import { pathJson } from "./path-json.ts";
import { optionalTime } from "./thread-json.ts";

export function sessionStatusJson(status: SessionStatus) {
  return {
    activeSession: status.active,
    sessionRef: sessionRef(status.active),
    hasUnapproved: status.hasUnapproved,
    lastApprovedAt: optionalTime(status.lastApprovedAt),
    changedFiles: status.changedFiles.map(pendingJson),
  };
}

/** What the session would be called in an exported repository. */
export function sessionRef(session: string | null): string | null {
  return session === null ? null : `refs/heads/${session}`;
}

function pendingJson(file: PendingFile) {
  const { baseContent, binary: isBinary, tooLarge: isTooLarge } = file;
  return { ...pendingFacts(file), baseContent, isBinary, isTooLarge };
}

/** A rename is what it is made of, a change of mode a modification: three words are enough to approve by. */
export function pendingFacts(file: PendingFile) {
  return {
    ...pathJson(file.path),
    status: file.type === "added" || file.type === "deleted" ? file.type : "modified",
    additions: file.linesAdded ?? 0,
    deletions: file.linesDeleted ?? 0,
    diff: file.diff ?? null,
  };
}
