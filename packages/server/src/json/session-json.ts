/** The open session of a thread, what is pending in it, and its approval. */
import type { Approval, PendingFile, SessionStatus } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { pathJson } from "./path-json.ts";
import { optionalTime } from "./thread-json.ts";

/** The open session and what is not approved yet. */
export function sessionStatusJson(status: SessionStatus): Json<typeof shapes.session> {
  return {
    activeSession: status.active,
    sessionRef: sessionRef(status.active),
    hasUnapproved: status.hasUnapproved,
    lastApprovedAt: optionalTime(status.lastApprovedAt),
    changedFiles: status.changedFiles.map(pendingFileJson),
  };
}

/** The session's branch name in an exported repository. */
export function sessionRef(session: string | null): string | null {
  return session === null ? null : `refs/heads/${session}`;
}

/**
 * A rename counts as its two halves, a mode change as a modification: three words are enough for approval.
 */
export function pendingFileJson(file: PendingFile): Json<typeof shapes.pendingFile> {
  return {
    ...pathJson(file.path),
    status: file.type === "added" || file.type === "deleted" ? file.type : "modified",
    additions: file.linesAdded ?? 0,
    deletions: file.linesDeleted ?? 0,
    diff: file.diff ?? null,
    baseContent: file.baseContent,
    isBinary: file.binary,
    isTooLarge: file.tooLarge,
  };
}

/** What an approval did, as the contract shows it. */
export function approvalJson(approval: Approval): Json<typeof shapes.approval> {
  const { approved, session, newSession, checkpointsApproved } = approval;
  return { approved, session, newSession, checkpointsApproved };
}
