/**
 * Files outside the workspace, when a restore is asked to write them back. Each is put in place by itself, after its
 * present content is in the safety checkpoint. What changed meanwhile stays and is named. The store says which paths are
 * at work until all are done [R1401]: a crash leaves at most one of them under another name, and the next command gives
 * it back.
 */
import type { Context } from "../capture/context.ts";
import { entryOf, lookOutside, withSavedOutside } from "../capture/save-outside.ts";
import { withCapture } from "../capture/with-capture.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { replaceOutside, type ReadOutside } from "../fs/outside-file.ts";
import { seqOf } from "../history/checkpoints.ts";
import { insertOutside, readOutside } from "../history/outside-files.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { sameNode } from "../model/entry.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { OutsideEdit, OutsideFile, OutsideOutcome } from "../model/outside.ts";
import type { Outcome } from "../model/plan.ts";
import { beginOutside, endOutside } from "./outside-under-way.ts";

/** What differs outside from what a checkpoint holds. */
export function planOutside(
  context: Context,
  { seq, createdAt }: Pick<Checkpoint, "seq" | "createdAt">,
): OutsideEdit[] {
  return readOutside(context.store.db, seq).flatMap(({ path, entry: to }): OutsideEdit[] => {
    const seen = lookOutside(context, path);
    if ("reason" in seen) return [{ path, type: "kept", from: undefined, to, reason: seen.reason }];
    const from = seen.file.entry;
    if (to === undefined && seen.read !== undefined && isOlder(seen.read, createdAt))
      return [{ path, type: "kept", from, to, reason: OLDER }];
    return sameNode(from, to) ? [] : [{ path, type: typeOf(from, to), from, to }];
  });
}

const OLDER = "it is older than the checkpoint that does not have it";

/** File systems keep times as coarse as two seconds. */
const COARSE_MS = 2000n;

/** [N6] Out of reach is not absent: a disk that was not mounted is there again with files that are older than the look. */
function isOlder({ stat: { birthtimeMs, ctimeMs } }: ReadOutside, lookedAt: number): boolean {
  const bornMs = birthtimeMs === 0n ? ctimeMs : birthtimeMs;
  return bornMs + COARSE_MS < BigInt(Math.floor(lookedAt));
}

function typeOf(from: OutsideFile["entry"], to: OutsideFile["entry"]): OutsideEdit["type"] {
  if (to === undefined) return "delete";
  if (from === undefined) return "create";
  return from.hash === to.hash ? "mode" : "restore";
}

/** Writes back what the plan lists outside the workspace; after conflicts inside it nothing. */
export function restoreOutside(context: Context, outcome: Outcome): Outcome {
  const edits = outcome.plan.outside.filter(({ type }) => type !== "kept");
  if (outcome.outcome === "conflicts" || edits.length === 0) return outcome;
  const safety = outcome.safetyCheckpoint ?? takeSafety(context, outcome);
  const paths = edits.map(({ path }) => path);
  const done = withSavedOutside(context, paths, (saved) => {
    const { db } = context.store;
    const seq = seqOf(db, safety)!;
    const operation = outcome.plan.id;
    // [N0] what is about to be replaced is durable first
    const recorded = db.transaction(() => {
      beginOutside(db, { operation, safety: seq, paths });
      return saved.record(seq);
    });
    const isSaved = ({ path, from }: OutsideEdit) =>
      recorded.some((file) => file.path === path && sameNode(file.entry, from));
    const written = writeAll(context, edits, { isSaved, operation });
    recordResult(context, outcome, written);
    return written;
  });
  const notice = `Files outside the workspace: \`belay restore ${safety} --outside\` takes them back; \`belay undo\` does not.`;
  return {
    ...outcome,
    outcome: outcomeOf(outcome, done),
    safetyCheckpoint: safety,
    outside: done,
    notices: [...(outcome.notices ?? []), ...(done.written.length === 0 ? [] : [notice])],
  };
}

function takeSafety(context: Context, { plan }: Outcome): CheckpointId {
  const description = `Before: ${plan.description}`;
  return withCapture(context, {}, (capture) => capture.record({ request: { kind: "safety" }, description }))
    .checkpoint.id;
}

function writeAll(
  context: Context,
  edits: readonly OutsideEdit[],
  { isSaved, operation }: { isSaved(edit: OutsideEdit): boolean; operation: string },
): OutsideOutcome {
  const written: OutsideEdit[] = [];
  const skipped: { path: string; reason: string }[] = [];
  for (const edit of edits) {
    const problem = isSaved(edit) ? writeOne(context, edit, operation) : NOT_SAVED;
    if (problem === undefined) written.push(edit);
    else skipped.push({ path: edit.path, reason: problem });
  }
  return { written, skipped };
}

const NOT_SAVED = "it was changed meanwhile, or cannot be saved";

function writeOne(
  { store }: Context,
  { path, from, to }: OutsideEdit,
  operation: string,
): string | undefined {
  try {
    return replaceOutside(absolutePath(path), {
      operation,
      content: to && { pieces: store.objects.pieces(to.hash), mode: to.mode },
      isSaved: (aside) => sameNode(aside && entryOf(aside), from),
    });
  } catch (error) {
    return (error as Error).message;
  }
}

/** The checkpoint of the result holds what is outside now, so that it can be gone back to as well. */
function recordResult(
  { store: { db } }: Context,
  { newCheckpoint }: Outcome,
  { written }: OutsideOutcome,
): void {
  const files = written.map(({ path, to }) => ({ path, entry: to }));
  db.transaction(() => {
    if (newCheckpoint !== null) insertOutside(db, seqOf(db, newCheckpoint)!, files);
    endOutside(db);
  });
}

function outcomeOf({ outcome }: Outcome, { written, skipped }: OutsideOutcome): Outcome["outcome"] {
  if (outcome === "displaced") return outcome;
  if (skipped.length > 0) return "partial";
  return outcome === "unchanged" && written.length > 0 ? "applied" : outcome;
}
