/**
 * Files outside the workspace, when a restore is asked to write them back. They have no stage and no journal: each is put
 * in place by itself, after its present content is in the safety checkpoint. What changed meanwhile stays and is named.
 */
import type { Context } from "../capture/context.ts";
import { lookOutside, withSavedOutside } from "../capture/save-outside.ts";
import { withCapture } from "../capture/with-capture.ts";
import { absolutePath, type AbsolutePath } from "../fs/absolute-path.ts";
import { readOutsideFile, replaceOutside } from "../fs/outside-file.ts";
import { seqOf } from "../history/checkpoints.ts";
import { insertOutside, readOutside } from "../history/outside-files.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { MODE_BITS, sameNode } from "../model/entry.ts";
import type { CheckpointId } from "../model/ids.ts";
import { hashBytes } from "../model/object-hash.ts";
import type { OutsideEdit, OutsideFile, OutsideOutcome } from "../model/outside.ts";
import type { Outcome } from "../model/plan.ts";

/** What differs outside from what a checkpoint holds. */
export function planOutside(context: Context, { seq }: Pick<Checkpoint, "seq">): OutsideEdit[] {
  return readOutside(context.store.db, seq).flatMap(({ path, entry: to }): OutsideEdit[] => {
    const seen = lookOutside(context, path);
    if ("reason" in seen) return [{ path, type: "kept", from: undefined, to, reason: seen.reason }];
    const from = seen.entry;
    return sameNode(from, to) ? [] : [{ path, type: typeOf(from, to), from, to }];
  });
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
  const done = withSavedOutside(
    context,
    edits.map(({ path }) => path),
    (saved) => {
      // [N0] what is about to be replaced is durable first
      saved.record(seqOf(context.store.db, safety)!);
      const isSaved = ({ path, from }: OutsideEdit) =>
        saved.files.some((file) => file.path === path && sameNode(file.entry, from));
      return writeAll(context, edits, isSaved);
    },
  );
  recordResult(context, outcome, done);
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
  isSaved: (edit: OutsideEdit) => boolean,
): OutsideOutcome {
  const written: OutsideEdit[] = [];
  const skipped: { path: string; reason: string }[] = [];
  for (const edit of edits) {
    const problem = isSaved(edit) ? writeOne(context, edit) : "it was changed meanwhile, or cannot be saved";
    if (problem === undefined) written.push(edit);
    else skipped.push({ path: edit.path, reason: problem });
  }
  return { written, skipped };
}

function writeOne({ store }: Context, { path, from, to }: OutsideEdit): string | undefined {
  try {
    return replaceOutside(absolutePath(path), {
      content: to && { pieces: store.objects.pieces(to.hash), mode: to.mode },
      isSaved: (aside) => (aside === undefined ? from === undefined : isEqual(aside, from)),
    });
  } catch (error) {
    return (error as Error).message;
  }
}

function isEqual(path: AbsolutePath, expected: OutsideFile["entry"]): boolean {
  const read = readOutsideFile(path, Infinity);
  if (read === undefined || typeof read === "string") return false;
  const { bytes, mode } = read;
  const entry = { kind: "file" as const, mode: mode & MODE_BITS, size: bytes.length, hash: hashBytes(bytes) };
  return sameNode(entry, expected);
}

/** The checkpoint of the result holds what is outside now, so that it can be gone back to as well. */
function recordResult(
  { store: { db } }: Context,
  { newCheckpoint }: Outcome,
  { written }: OutsideOutcome,
): void {
  if (newCheckpoint === null) return;
  const files = written.map(({ path, to }) => ({ path, entry: to }));
  db.transaction(() => insertOutside(db, seqOf(db, newCheckpoint)!, files));
}

function outcomeOf({ outcome }: Outcome, { written, skipped }: OutsideOutcome): Outcome["outcome"] {
  if (outcome === "displaced") return outcome;
  if (skipped.length > 0) return "partial";
  return outcome === "unchanged" && written.length > 0 ? "applied" : outcome;
}
