/**
 * Finishes what a killed process left: the next command of any kind captures first, then completes the
 * journalled restore, or takes it back when it cannot be completed. If a journalled path is neither as
 * it was nor as it was to be, somebody else wrote there: the tree stays as it is and the paths are named.
 * Idempotent: a crash in here is recovered by the same steps.
 */
import { Anchor } from "../fs/anchor.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { isErrno, kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { addName, move, removeName } from "../fs/mutate.ts";
import { isSystemError } from "../fs/system-error.ts";
import { readJournal, type JournalEntry } from "../history/journal.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import { MODE_BITS, type Entry } from "../model/entry.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import { isId } from "../model/ids.ts";
import { NO_OBJECT } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { applyEdits, HalfDone, type Applied } from "./apply.ts";
import {
  abandonJournal,
  finishJournal,
  leftHalfDone,
  withFilesInPlace,
  withRestoreLease,
} from "./carry-out.ts";
import type { Context } from "./context.ts";
import { matchesEntry } from "./node-state.ts";
import { isRootThere } from "./root.ts";
import { findStages, numberEdits, salvageStage, Stage, type NumberedEdit } from "./stage.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";

/** Recovers if there is anything to recover; says what it did. */
export function recover(context: Context): string[] {
  if (!isRootThere(context.worktree.root)) return [];
  const journal = readJournal(context.store.db);
  // [N1] nothing can be finished, and nobody should take the tree for whole
  const leftAsItIs = () =>
    journal.map(
      ({ finish }) =>
        `An interrupted ${finish.kind} is left as it is, because the store cannot be written: ${finish.description}.`,
    );
  if (context.store.db.readOnly) return leftAsItIs();
  if (journal.length === 0 && findOwnStages(context).length === 0) return [];
  try {
    return withRestoreLease(context, () => recoverAll(context));
  } catch (error) {
    // what was found is not left over but under way, or another process is recovering it
    if (isEngineError(error, "RESTORE_RUNNING")) return [];
    // some media only say so when they are written to
    if (isEngineError(error, "STORE_READ_ONLY")) return leftAsItIs();
    // stage and journal are still there
    if (isSystemError(error)) throw leftHalfDone(context, new HalfDone("not recovered", { cause: error }));
    throw error;
  }
}

/** Looks again now that nobody else can: another process may have recovered in the meantime. */
function recoverAll(context: Context): string[] {
  const notices = readJournal(context.store.db).map((entry) => recoverEntry(context, entry));
  for (const operation of findOwnStages(context))
    clearStage(context, new Stage(context.worktree.root, operation));
  return notices;
}

function findOwnStages({ worktree: { root } }: Context): string[] {
  return findStages(root).filter((operation) => isOurs(root, operation));
}

/** A directory with our prefix that holds anything we would not have put there is somebody else's. */
function isOurs(root: AbsolutePath, operation: string): boolean {
  if (!isId(operation)) return false;
  const { path } = new Stage(root, operation);
  const stat = statNode(path);
  return (
    stat !== undefined &&
    kindOf(stat) === "directory" &&
    listDirectory(path).every((name) => /^(?:[no]\d+|probe)$/.test(name))
  );
}

function recoverEntry(context: Context, entry: JournalEntry): string {
  const { root } = context.worktree;
  const stage = new Stage(root, entry.id);
  takeCheckpoint(context, {
    request: { kind: "safety" },
    description: `Interrupted: ${entry.finish.description}`,
    operation: "recover",
    ownDoing: true,
    doubts: entry.edits.map(({ path }) => ({ path, reason: "mid-restore" as const })),
    look: { unlimited: new Set(entry.edits.map(({ path }) => path)) },
  });
  const found = putAsidesBack(root, stage, entry);
  const strangers = found.filter(({ state }) => state === "other").map(({ path }) => path);
  clearStage(context, stage);
  if (strangers.length > 0) {
    abandonJournal(context, entry);
    throw blocked(entry, strangers);
  }
  const left = found
    .filter(({ state }) => state !== "after")
    .map((edit) => ({ ...edit, from: edit.present }));
  const applied = tryApply(context, entry, left);
  if (applied === undefined) return takeBack(context, entry, found);
  const done = new Set(applied.done.map(({ path }) => path));
  withFilesInPlace(() =>
    finishJournal(
      context,
      entry,
      found.filter(({ state, path }) => state === "after" || done.has(path)),
    ),
  );
  return `An interrupted ${entry.finish.kind} was finished: ${entry.finish.description}.`;
}

/** A journalled edit and what stands at its path: its pre-image, its post-image, a step on the way, or something else. */
interface FoundEdit extends NumberedEdit {
  readonly state: "before" | "after" | "between" | "other";
  readonly present: Entry | undefined;
}

/** Returns nodes that were moved aside and belong back, then tells in which state each path is. */
function putAsidesBack(root: AbsolutePath, stage: Stage, { edits }: JournalEntry): FoundEdit[] {
  using anchor = new Anchor(root);
  return numberEdits(edits).map((edit) => {
    const path = reach(anchor, edit.path);
    if (path !== undefined) putAsideBack(stage.oldNode(edit.index), path, edit);
    return { ...edit, ...stateOf(path, edit) };
  });
}

function putAsideBack(old: AbsolutePath, path: AbsolutePath, { from, to }: Edit): void {
  if (statNode(old) === undefined) return;
  if (statNode(path) === undefined) {
    if (addName(old, path)) removeName(old);
    else move(old, path);
    // [R5] killed between exchange and proof: what was exchanged is not what was saved, so it is put back
  } else if (to?.kind !== "directory" && !matchesEntry(old, from) && matchesEntry(path, to)) {
    move(old, path);
  }
}

/** undefined when a directory on the way is missing or is none: then nothing is at the path. */
function reach(anchor: Anchor, path: BytePath): AbsolutePath | undefined {
  try {
    return anchor.at(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
}

function stateOf(path: AbsolutePath | undefined, { from, to }: Edit): Pick<FoundEdit, "state" | "present"> {
  const is = (entry: Edit["from"]) => (path === undefined ? entry === undefined : matchesEntry(path, entry));
  if (is(to)) return { state: "after", present: to };
  if (is(from)) return { state: "before", present: from };
  const stat = path === undefined ? undefined : statNode(path);
  const [wasDirectory, becomesDirectory] = [from?.kind === "directory", to?.kind === "directory"];
  // a directory goes before a file can come in its place; a file never goes without a copy in the stage
  if (stat === undefined)
    return { state: wasDirectory && !becomesDirectory ? "between" : "other", present: undefined };
  // a directory is made first and gets its mode last
  const isOnTheWay = kindOf(stat) === "directory" && (wasDirectory || becomesDirectory);
  const present: Entry = { kind: "directory", mode: Number(stat.mode) & MODE_BITS, hash: NO_OBJECT };
  return isOnTheWay ? { state: "between", present } : { state: "other", present: undefined };
}

/** What was carried out, or undefined when it could not be and everything is as it was found. */
function tryApply(
  context: Context,
  entry: JournalEntry,
  edits: readonly NumberedEdit[],
): Applied | undefined {
  const stage = new Stage(context.worktree.root, entry.id);
  let applied: Applied | undefined;
  try {
    stage.create();
    stage.fill(edits, context.store.objects);
    applied = applyEdits(context.worktree.root, stage, edits, { bestEffort: false });
  } catch (error) {
    // what could not be taken back either is left, stage and journal, to the next recovery
    if (error instanceof HalfDone) throw leftHalfDone(context, error);
    if (!(error instanceof EngineError) && !isSystemError(error)) throw error;
  }
  clearStage(context, stage);
  return applied?.conflicts.length === 0 ? applied : undefined;
}

function takeBack(context: Context, entry: JournalEntry, found: readonly FoundEdit[]): string {
  const touched = found.filter(({ state }) => state !== "before");
  const backwards = touched.map(({ path, index, from, present }) => ({
    path,
    index,
    from: present,
    to: from,
  }));
  if (tryApply(context, entry, backwards) === undefined)
    throw blocked(
      entry,
      entry.edits.map(({ path }) => path),
    );
  withFilesInPlace(() => abandonJournal(context, entry));
  return `An interrupted ${entry.finish.kind} could not be finished and was taken back: ${entry.finish.description}.`;
}

/** Saves what the store does not have yet, then removes the stage. */
function clearStage({ store, system }: Context, stage: Stage): void {
  if (statNode(stage.path) === undefined) return;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  salvageStage(stage, createStoreSink(writer));
  writer.flush();
  writer.abandon();
  stage.remove();
}

function blocked(entry: JournalEntry, paths: readonly BytePath[]): EngineError<"RECOVERY_BLOCKED"> {
  return new EngineError(
    "RECOVERY_BLOCKED",
    `An interrupted ${entry.finish.kind} was found, and ${paths.length} of its paths were changed by somebody else since. ` +
      "Your files are left exactly as they are and are saved in a checkpoint.",
    { operation: entry.id, paths: paths.map(displayPath) },
  );
}
