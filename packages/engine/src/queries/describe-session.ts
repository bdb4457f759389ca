/** How does a thread stand: its open session, and what is pending in it? */
import { isUtf8 } from "node:buffer";
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "../diff/content-kind.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { countSessionCheckpoints, readLastApproval, readOpenSession } from "../history/sessions.ts";
import type { DiffDetail } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";
import type { PendingFile, SessionStatus } from "../model/session.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { Pending } from "../steps/pending.ts";
import type { Context } from "../capture/context.ts";

/** How closely the pending changes are described. */
export interface SessionDetail {
  readonly detail?: DiffDetail;
  /** The approved texts too. */
  readonly content?: boolean;
}

/** The open session of a thread and what is pending in it. */
export function describeSession(
  { store }: Context,
  { approved, edits, present, plan }: Pending,
  options: SessionDetail,
): SessionStatus {
  const { db } = store;
  const thread = plan.thread!;
  const open = readOpenSession(db, thread);
  const isEmpty = edits.length === 0 && countSessionCheckpoints(db, thread, open) === 0;
  return {
    thread,
    active: isEmpty ? null : open.name,
    session: open.name,
    hasUnapproved: edits.length > 0,
    approved: approved?.id ?? null,
    lastApprovedAt: readLastApproval(db, thread),
    changedFiles: pendingFiles(present.objects, edits, options),
  };
}

/** One row per path: a moved file is one gone and one come, since each can be pending without the other. */
function pendingFiles(
  objects: ObjectSource,
  edits: readonly Edit[],
  { detail = "names", content = false }: SessionDetail,
): PendingFile[] {
  return edits
    .flatMap((edit) =>
      fileChanges(objects, [edit], { detail }).map((change) => ({
        ...change,
        baseContent: content ? baseContent(objects, edit) : null,
      })),
    )
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function baseContent(objects: ObjectSource, { from }: Edit): string | null {
  if (from?.kind !== "file" || from.size > TEXT_DIFF_LIMIT_BYTES) return null;
  const bytes = objects.read(from.hash);
  return isBinary(bytes) || !isUtf8(bytes) ? null : bytes.toString("utf8");
}
