/**
 * The files of a clone, in a directory that is empty. There is nothing to save and nothing to take back, so they are written
 * once, below the stage, synced with one call, and get their names a whole directory at a time: half the processor time of an
 * ordinary restore, and the history has no checkpoint of an empty directory. What makes it invalid is anything else in the
 * directory, or a refusal of the system: then it ends as if it had not begun, and an ordinary restore says what is wrong.
 *
 * The journal that an ordinary restore would write is in the store from the moment that a command can find it, together
 * with its lease: killed anywhere, the next command finishes the restore [R10].
 */
import { walkTree } from "../diff/compare-trees.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { syncDirectory, syncFile, syncFileSystem } from "../fs/durable-file.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { createDirectory, move } from "../fs/mutate.ts";
import { isSystemError } from "../fs/system-error.ts";
import { makeFiles } from "../fork/make-files.ts";
import { noteAttach } from "../history/attaches.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { removeJournal, writeJournal, type Finish } from "../history/journal.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { System } from "../model/system.ts";
import { nameOf } from "../restore/restore-way.ts";
import { giveName, Stage, TREE } from "../restore/stage.ts";
import { releaseLease, takeLease } from "../store/lease.ts";
import { openStore, type Store } from "../store/store.ts";

/** Files that are to be placed; the store knows of it. */
export interface FirstFiles {
  readonly operation: OperationId;
  readonly snapshot: ObjectHash;
  readonly lease: string;
}

/** Says in a store that no command can find yet that the files of its newest checkpoint are to be restored. */
export function beginFirstFiles({ db }: Store, system: System): FirstFiles | undefined {
  const head = headCheckpoint(db);
  if (head === undefined) return undefined;
  const { snapshot } = head;
  const operation = system.newId() as OperationId;
  const finish: Finish = {
    kind: "restore",
    description: `Restored to ${nameOf(head)}`,
    thread: null,
    target: head.id,
    step: { id: system.newId(), kind: "restore" },
    fills: snapshot,
    moved: [],
  };
  return db.transaction(() => {
    writeJournal(db, { id: operation, safety: head.seq, edits: [], finish, startedAt: system.now() });
    const lease = takeLease(db, "restore", system.owner, system.now());
    return { operation, snapshot, lease };
  });
}

/** Places the files; false when that is left to an ordinary restore. */
export function placeFirstFiles(directory: AbsolutePath, root: AbsolutePath, first: FirstFiles): boolean {
  using store = openStore(directory, { create: false });
  const stage = stageFiles(store, root, first);
  if (stage === undefined) {
    end(store, first, () => noteAttach(store.db));
    return false;
  }
  if (!giveNames(stage, root)) {
    // another program came in between, or the system refuses: recovery tells what is there, and finishes it as any restore
    stage[Symbol.dispose]();
    return false;
  }
  end(store, first);
  discard(stage);
  return true;
}

/** From here on the files are as the newest checkpoint says, or as if this had not begun. */
function end({ db }: Store, { operation, lease }: FirstFiles, also?: () => void): void {
  db.transaction(() => {
    removeJournal(db, operation);
    releaseLease(db, lease);
    also?.();
  });
}

/** Writes all files below the stage, durably; undefined when it cannot. */
function stageFiles(
  store: Store,
  root: AbsolutePath,
  { operation, snapshot }: FirstFiles,
): Stage | undefined {
  if (listDirectory(root).length > 0) return undefined;
  let stage: Stage | undefined;
  try {
    stage = Stage.create({ store, workingCopy: { root } }, operation);
    const target = stage.at(TREE);
    createDirectory(target);
    const { objects } = store;
    const original = { root, table: undefined };
    const work = makeFiles({ objects, snapshot, original, target, clone: false, withGaps: false });
    // one view of the store: a lock less for each file
    store.db.unchanging(() => {
      while (work.next().done !== true);
    });
    // [R4] content is durable before it has its name
    if (!syncFileSystem(root)) syncEach(target, walkTree(objects, snapshot));
    return stage;
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof EngineError)) throw error;
    if (stage !== undefined) discard(stage);
    return undefined;
  }
}

function syncEach(tree: AbsolutePath, nodes: Iterable<{ path: BytePath; entry: Entry }>): void {
  for (const { path, entry } of nodes) {
    if (entry.kind === "file") syncFile(below(tree, path));
    if (entry.kind === "directory") syncDirectory(below(tree, path));
  }
  syncDirectory(tree);
}

/** Gives everything its name; false when something else has one of them, or when a read-only directory cannot be moved. */
function giveNames(stage: Stage, root: AbsolutePath): boolean {
  const tree = stage.at(TREE);
  try {
    const areNamed = listDirectory(tree).every((name) => nameOne(below(tree, name), below(root, name)));
    if (areNamed) syncDirectory(root);
    return areNamed;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

function nameOne(from: AbsolutePath, to: AbsolutePath): boolean {
  if (kindOf(statNode(from)!) !== "directory") return giveName(from, to);
  if (statNode(to) !== undefined) return false;
  move(from, to);
  return true;
}

/** What cannot be cleared away now is cleared by the next command. */
function discard(stage: Stage): void {
  try {
    stage.discard();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    stage[Symbol.dispose]();
  }
}
