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
import { readJournal, type JournalEntry } from "../history/journal.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import { isId } from "../model/ids.ts";
import type { Edit } from "../model/plan.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { applyEdits } from "./apply.ts";
import { abandonJournal, finishJournal, withRestoreLease } from "./carry-out.ts";
import type { Context } from "./context.ts";
import { matchesEntry } from "./node-state.ts";
import { isRootThere } from "./root.ts";
import { findStages, salvageStage, Stage } from "./stage.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";

/** Recovers if there is anything to recover; says what it did. */
export function recover(context: Context): string[] {
  if (context.store.db.readOnly || !isRootThere(context.worktree.root)) return [];
  if (readJournal(context.store.db).length === 0 && findOwnStages(context).length === 0) return [];
  try {
    return withRestoreLease(context, () => recoverAll(context));
  } catch (error) {
    // what was found is not left over but under way, or another process is recovering it
    if (isEngineError(error, "RESTORE_RUNNING")) return [];
    throw error;
  }
}

/** Looks again now that nobody else can: another process may have recovered in the meantime. */
function recoverAll(context: Context): string[] {
  const notices = readJournal(context.store.db).map((entry) => recoverEntry(context, entry));
  for (const operation of findOwnStages(context)) clearStage(context, new Stage(context.worktree.root, operation));
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
  return stat !== undefined && kindOf(stat) === "directory" && listDirectory(path).every((name) => /^(?:[no]\d+|probe)$/.test(name));
}

function recoverEntry(context: Context, entry: JournalEntry): string {
  const { root } = context.worktree;
  const stage = new Stage(root, entry.id);
  const interrupted = takeCheckpoint(context, {
    request: { kind: "safety" },
    description: `Interrupted: ${entry.finish.description}`,
    operation: "recover",
    ownDoing: true,
    doubts: entry.edits.map(({ path }) => ({ path, reason: "mid-restore" as const })),
    look: { unlimited: new Set(entry.edits.map(({ path }) => path)) },
  });
  const states = putAsidesBack(root, stage, entry);
  const strangers = entry.edits.filter((_, index) => states[index] === "other").map(({ path }) => path);
  clearStage(context, stage);
  if (strangers.length > 0) {
    abandonJournal(context, entry);
    throw blocked(entry, strangers);
  }
  const left = remaining(entry.edits, states);
  if (!tryApply(context, entry, left)) return takeBack(context, entry, states);
  finishJournal(context, entry, interrupted.checkpoint, entry.edits);
  return `An interrupted ${entry.finish.kind} was finished: ${entry.finish.description}.`;
}

type PathState = "before" | "after" | "between" | "other";

/** Returns nodes that were moved aside and not yet replaced, then tells in which state each path is. */
function putAsidesBack(root: AbsolutePath, stage: Stage, { edits }: JournalEntry): PathState[] {
  using anchor = new Anchor(root);
  return edits.map((edit, index) => {
    const old = stage.oldNode(index);
    const path = reach(anchor, edit.path);
    if (path !== undefined && statNode(path) === undefined && statNode(old) !== undefined) {
      if (addName(old, path)) removeName(old);
      else move(old, path);
    }
    return stateOf(path, edit);
  });
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

function stateOf(path: AbsolutePath | undefined, { from, to }: Edit): PathState {
  const is = (entry: Edit["from"]) => (path === undefined ? entry === undefined : matchesEntry(path, entry));
  if (is(to)) return "after";
  if (is(from)) return "before";
  const stat = path === undefined ? undefined : statNode(path);
  // a directory goes before a file can come in its place; a file never goes without a copy in the stage
  if (stat === undefined) return from?.kind === "directory" && to?.kind !== "directory" ? "between" : "other";
  // a directory is made first and gets its mode last
  return kindOf(stat) === "directory" && (from?.kind === "directory" || to?.kind === "directory") ? "between" : "other";
}

function remaining(edits: readonly Edit[], states: readonly PathState[]): Edit[] {
  return edits.flatMap((edit, index) => {
    if (states[index] === "after") return [];
    if (states[index] === "before") return [edit];
    const present = edit.to?.kind === "directory" ? edit.to : undefined;
    return [{ ...edit, from: present === undefined ? undefined : { ...present, mode: -1 } }];
  });
}

/** True when the remaining edits are in place. */
function tryApply(context: Context, entry: JournalEntry, edits: readonly Edit[]): boolean {
  const stage = new Stage(context.worktree.root, entry.id);
  try {
    stage.create();
    stage.fill(edits, context.store.objects);
    return applyEdits(context.worktree.root, stage, edits, false).conflicts.length === 0;
  } catch (error) {
    if (error instanceof EngineError || (error as NodeJS.ErrnoException).errno !== undefined) return false;
    throw error;
  } finally {
    clearStage(context, stage);
  }
}

function takeBack(context: Context, entry: JournalEntry, states: readonly PathState[]): string {
  const backwards = entry.edits.flatMap(({ path, from, to }, index) => (states[index] === "after" ? [{ path, from: to, to: from }] : []));
  if (!tryApply(context, entry, backwards)) throw blocked(entry, entry.edits.map(({ path }) => path));
  abandonJournal(context, entry);
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

