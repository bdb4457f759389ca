/** The events of going back: started, how far it is, finished. */
import type { Context } from "../capture/context.ts";
import { branchAt } from "../history/branches.ts";
import { appendEvent } from "../history/events.ts";
import type { JournalEntry } from "../history/journal.ts";
import type { Recorded } from "../history/record.ts";
import type { OperationId, ThreadId } from "../model/ids.ts";
import type { Edit, RestorePhase, RestoreProgress } from "../model/plan.ts";

/** Records that it started. Call inside the transaction that writes the journal. */
export function tellStarted({ store, system }: Context, { id, finish, edits }: JournalEntry): void {
  const data = { operation: id, kind: finish.kind, description: finish.description, files: edits.length };
  appendEvent(store.db, { type: "restore_started", thread: finish.thread, at: system.now(), data });
}

/** The time between two progress events. */
const PROGRESS_MS = 500;

/** Reports how far an operation is, and which thread it belongs to. */
export type TellProgress = (at: RestoreProgress, thread: ThreadId | null) => void;

/** Reports the progress of a long restore, to its caller and as events. A failure to report does not stop the restore. */
export function progressTeller({ store, system, progress }: Context, operation: OperationId): TellProgress {
  let toldMs = system.elapsed();
  let toldPhase: RestorePhase | undefined;
  return (at, thread) => {
    progress?.(at);
    // of a long one the next phase is told at once, and the last file too: recording what was done takes a while after it
    const isDue = toldPhase !== undefined && (at.phase !== toldPhase || at.done === at.total);
    if (system.elapsed() - toldMs < PROGRESS_MS && !isDue) return;
    toldPhase = at.phase;
    const data = { operation, ...at };
    const event = { type: "restore_progress" as const, thread, at: system.now(), data };
    try {
      store.db.fleetingTransaction(() => appendEvent(store.db, event));
    } catch {
      // if the store fails now, recording the restore reports it
    }
    toldMs = system.elapsed();
  };
}

/** Records that it is done. Call inside the transaction that records the result. */
export function tellFinished(
  { store, system }: Context,
  { id, finish }: JournalEntry,
  { checkpoint }: Recorded,
  done: readonly Edit[],
): void {
  const about = { thread: finish.thread, at: system.now() };
  const { kind, description, moved: steps } = finish;
  const data = { operation: id, kind, description, files: done.length };
  appendEvent(store.db, { ...about, type: "restore_finished", data });
  if (finish.branch !== undefined) {
    const name = (branch: number) => branchAt(store.db, branch).name;
    const branches = { branch: name(finish.branch.to), from: name(finish.branch.from) };
    appendEvent(store.db, { ...about, type: "branch_switched", data: branches });
  }
  if (kind === "undo" || kind === "redo")
    appendEvent(store.db, { ...about, type: kind, data: { steps, checkpoint: checkpoint.id } });
}
