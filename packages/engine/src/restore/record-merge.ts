/** Records what a merge brought: one checkpoint for each source, one step for all, and what is left to decide. */
import type { Context } from "../capture/context.ts";
import { recordOnTop } from "../capture/record-on-top.ts";
import { branchAt } from "../history/branches.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { decodeEdit, type JournalEntry, type MergeFinish } from "../history/journal.ts";
import { markBranch, putMerge, stepsOfSource, type SourceRecord } from "../history/merge-rows.ts";
import { appendOperation } from "../history/operations.ts";
import type { Recorded } from "../history/record.ts";
import { displayPath } from "../model/byte-path.ts";
import type { OperationId } from "../model/ids.ts";
import type { Edit } from "../model/plan.ts";
import type { ObjectWriter } from "../store/object-writer.ts";

/** Records the sources that came in. Call inside the transaction that records the result. */
export function recordMerge(
  context: Context,
  writer: ObjectWriter,
  { entry, done }: { entry: JournalEntry; done: readonly Edit[] },
): Recorded {
  const { record, parts } = entry.finish.merge!;
  const step = entry.finish.step!.id;
  const inPlace = new Set(done.map(({ path }) => path));
  const missing = new Set(entry.edits.map(({ path }) => path).filter((path) => !inPlace.has(path)));
  const sources = [...record.sources];
  let last: Recorded | undefined;
  for (const { source: number, edits } of parts) {
    const source = sources[number]!;
    last = recordSource(context, writer, {
      source,
      step,
      edits: edits.map(decodeEdit).filter(({ path }) => !missing.has(path)),
    });
    if (source.outcome !== "merged") continue;
    sources[number] = { ...source, checkpoint: last.checkpoint.seq, step };
    markBranch(context.store.db, source.branch, "merged", context.system.now());
  }
  noteMerge(context, { record: { ...record, sources }, parts }, step);
  return last!;
}

/** [R95] Its own checkpoint, so that it can be taken out by itself. */
function recordSource(
  context: Context,
  writer: ObjectWriter,
  { source, step, edits }: { source: SourceRecord; step: string; edits: readonly Edit[] },
): Recorded {
  const { db } = context.store;
  const isWhole = source.outcome === "merged";
  const { name } = branchAt(db, source.branch);
  return recordOnTop(context, writer, {
    request: { kind: "merge" },
    description: isWhole ? `Merged ${name}` : `Merged ${name} in part`,
    operation: "merge",
    edits,
    madeBy: { step },
    mergedFrom: {
      checkpoint: isWhole ? (checkpointAt(db, source.head)?.id ?? null) : null,
      steps: stepsOfSource(db, source),
    },
  });
}

/** Records a merge of which nothing came in: only what is left to decide. Call inside a transaction. */
export function recordHeld(context: Context, finish: MergeFinish): void {
  const { store, system } = context;
  const detail = { merge: finish.record.id };
  appendOperation(store.db, { id: system.newId() as OperationId, kind: "merge", at: system.now(), detail });
  noteMerge(context, finish, null);
}

function noteMerge(
  { store: { db }, system }: Context,
  { record, parts }: MergeFinish,
  step: string | null,
): void {
  const now = system.now();
  const isOpen = record.sources.some(({ outcome }) => outcome === "held");
  putMerge(db, record, { state: isOpen ? "open" : "applied", step, now });
  const about = { thread: null, at: now };
  const open = record.conflicts.filter(({ state }) => state === "open").length;
  const sources = parts.map(({ source }) => branchAt(db, record.sources[source]!.branch).name);
  // [R1751] what is only held back is told by its conflicts
  if (sources.length > 0)
    appendEvent(db, { ...about, type: "merge_applied", data: { merge: record.id, sources, open } });
  for (const { id, merge, path } of record.conflicts)
    appendEvent(db, {
      ...about,
      type: "conflict_opened",
      data: { merge, conflict: id, path: displayPath(path) },
    });
}
