/**
 * Removes forks. Everything in a fork is captured, then it goes into the trash, where it stays for its grace time; just
 * before it is deleted it is captured once more. Nothing is ever removed because a process ended, a lock is old or a tree
 * looks clean. [R92]
 */
import { restoreBranch } from "../branch/change-branches.ts";
import type { Context } from "../capture/context.ts";
import { filesBelow, repositoriesBelow } from "../capture/files-below.ts";
import type { Look, Present } from "../capture/look.ts";
import { momentOf } from "../capture/moment.ts";
import { withCapture, type Capture } from "../capture/with-capture.ts";
import { below, displayAbsolute, parentOf, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { makePrivateDirectory, syncDirectory } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { move, removeEmptyDirectory } from "../fs/mutate.ts";
import { processesIn } from "../fs/processes-in.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import { ownCommits } from "../git/own-commits.ts";
import { branchAt, insertBranch, namedBranch, putOnBranch, workingCopyOn } from "../history/branches.ts";
import { checkpointAt, headCheckpoint } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import {
  forgetForkPlace,
  setForkBack,
  setForkFacts,
  setForkGone,
  setForkPlace,
  setForkRemoving,
  type ForkRow,
} from "../history/forks.ts";
import { headSeq } from "../history/line.ts";
import { callsAtWork } from "../history/liveness.ts";
import { appendOperation } from "../history/operations.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import { DEFAULTS_VERSION, defaultExcludes } from "../rules/default-excludes.ts";
import { GIT } from "../rules/hard-excludes.ts";
import { createPathMatch } from "../rules/match-path.ts";
import { rootIdentity } from "../store/registry.ts";
import { statCacheName } from "../store/store.ts";
import { FORKS_NAME, freeDirectory } from "./fork-place.ts";
import { isForkThere, withRegistry, type Forking } from "./forking.ts";
import { becomeSpare } from "./spare-fork.ts";

/** Throws while a tool or a process is at work in a fork. */
export function refuseBusy(inFork: Context, { name, root }: ForkRow): void {
  const tools = [...new Set(callsAtWork(inFork.store.db, momentOf(inFork)).map(({ tool }) => tool))];
  const pids = otherProcessesIn(inFork, root);
  if (tools.length + pids.length === 0) return;
  const path = displayAbsolute(root);
  const processes = pids.length === 1 ? `Process ${pids[0]} is` : `Processes ${pids.join(", ")} are`;
  const who = tools.length > 0 ? `An agent is (${tools.join(", ")})` : processes;
  throw new EngineError("FORK_BUSY", `${who} at work in ${path}. Nothing was changed.`, {
    fork: name,
    path,
    tools,
    pids,
  });
}

function otherProcessesIn({ system }: Context, root: AbsolutePath): number[] {
  return processesIn(root).filter((pid) => pid !== system.owner.pid);
}

/** Captures everything in a fork and, in the same transaction, says that it is being removed. */
export function captureForRemoval(
  inFork: Context,
  row: ForkRow,
  { despiteGaps }: { despiteGaps: boolean },
): Checkpoint {
  const { store, system } = inFork;
  const commits = ownCommits(row.root).refs;
  return captureAll(inFork, row, (capture) => {
    const missing = [
      ...capture.present.gaps.map(({ path, reason }) => ({
        path: displayPath(path),
        reason: reason as string,
      })),
      ...repositoriesIn(row.root, capture.present).map((path) => ({
        path: displayPath(path),
        reason: "a git repository that only the fork has",
      })),
      ...commits.map((ref) => ({ path: `.git/${ref}`, reason: "a commit that only the fork has" })),
    ];
    if (missing.length > 0 && !despiteGaps) throw uncaptured(row, missing);
    const { checkpoint } = capture.record({
      request: { kind: "safety" },
      description: `Before removing fork ${row.name}`,
    });
    setForkRemoving(store.db, row.workingCopy, system.now());
    const { seq, snapshot } = checkpoint;
    const facts = { ...factsOf(row), place: latin1(row.root), captured: { seq, snapshot } };
    setForkFacts(store.db, row.workingCopy, { ...row, facts });
    setForkPlace(store.db, row.workingCopy, { ...row, root: trashPath(row) });
    appendOperation(store.db, {
      id: system.newId() as OperationId,
      kind: "fork",
      at: system.now(),
      detail: { removed: row.name, checkpoint: checkpoint.id },
    });
    return checkpoint;
  });
}

function uncaptured(row: ForkRow, paths: { path: string; reason: string }[]): EngineError<"FORK_UNCAPTURED"> {
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return new EngineError(
    "FORK_UNCAPTURED",
    `The fork "${row.name}" has what no checkpoint can hold: ${paths[0]!.path} (${paths[0]!.reason})${more}. Nothing was changed.`,
    { fork: row.name, path: displayAbsolute(row.root), paths },
  );
}

/** Paths are bytes, and facts are JSON. */
function latin1(root: AbsolutePath): string {
  return Buffer.from(root, "latin1").toString("base64");
}

function placeOf({ place, root }: ForkRow): AbsolutePath {
  return place === undefined ? root : (Buffer.from(place, "base64").toString("latin1") as AbsolutePath);
}

function factsOf({ name, files, bytesOnDisk, dependencies, git, durationMs }: ForkRow) {
  return { name, files, bytesOnDisk, dependencies, git, durationMs };
}

/** [R1951] Its directory may be swapped for something else meanwhile: then the fork stays as it is. */
function captureAll<Result>(inFork: Context, row: ForkRow, work: (capture: Capture) => Result): Result {
  try {
    return withCapture(inFork, everything(inFork), work);
  } catch (error) {
    const path = displayAbsolute(row.root);
    throw explainSystemError(error, {
      what: `The fork in ${path} cannot be captured, and stays`,
      path,
      operation: "fork",
    });
  }
}

/** A look at all files but those that any tool makes again: dependencies, caches, builds, git's own data. */
function everything({ workingCopy: { root } }: Context): Look {
  const isDefault = createPathMatch(defaultExcludes(DEFAULTS_VERSION));
  return {
    widen: ({ excludedRoots }: Present) => ({
      included: excludedRoots
        .filter(({ path, rule }) => !rule.startsWith("always:") && !isDefault(path, true))
        .flatMap(({ path }) => filesBelow(root, path))
        .filter((path: BytePath) => !isDefault(path)),
    }),
  };
}

/** The repositories in a fork beside its own; those of dependencies are made again with them. */
function repositoriesIn(root: AbsolutePath, { excludedRoots }: Present): BytePath[] {
  const isDefault = createPathMatch(defaultExcludes(DEFAULTS_VERSION));
  return excludedRoots.flatMap(({ path, rule }) => {
    if (rule === GIT.excludedBy) return path === ".git" ? [] : [path];
    return rule.startsWith("always:") || isDefault(path, true) ? [] : repositoriesBelow(root, path);
  });
}

const TRASH = ".trash";

function isInTrash(root: AbsolutePath): boolean {
  return parentOf(root).endsWith(`/${TRASH}`);
}

function trashPath(row: ForkRow): AbsolutePath {
  const base = row.root.slice(row.root.lastIndexOf("/") + 1);
  return below(parentOf(row.root), `${TRASH}/${row.workingCopy}-${base}`);
}

/** Whether a fork that is being removed is still, or again, where it was: its way into or out of the trash was cut off. */
export function isOutsideTrash(row: ForkRow): boolean {
  return statNode(row.root) === undefined && isForkThere({ ...row, root: placeOf(row) });
}

/** Goes on with a removal that was cut off, unless a process is at work in the fork. [R92] */
export function goOnRemoving(context: Context, forking: Forking, row: ForkRow): void {
  if (isOutsideTrash(row) && otherProcessesIn(context, placeOf(row)).length === 0)
    moveToTrash(context, forking, row);
}

/** Moves a fork that is being removed into the trash; does nothing when it is there already. */
export function moveToTrash(context: Context, forking: Forking, row: ForkRow): void {
  const from = placeOf(row);
  if (!isOutsideTrash(row)) return;
  try {
    makePrivateDirectory(parentOf(row.root));
    move(from, row.root);
    syncDirectory(parentOf(row.root));
    syncDirectory(parentOf(from));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const path = displayAbsolute(from);
    const message = `Everything in ${path} is captured, but it cannot be moved into the trash yet (${error.message}). The next command tries it again.`;
    throw new EngineError("FILE_SYSTEM", message, { path, operation: "fork" }, error);
  }
  withRegistry(context, forking, (registry) =>
    registry.removeFork({ id: forking.id, workingCopy: row.workingCopy }),
  );
}

/** Takes a fork out of the trash, to where it was, or beside that when something else is there now. */
export function moveBack(context: Context, forking: Forking, row: ForkRow): void {
  const { db } = context.store;
  const holder = workingCopyOn(db, row.branch);
  if (holder !== undefined)
    throw new EngineError(
      "BRANCH_IN_USE",
      `The files of ${holder.path} are on the branch "${row.branchName}". Nothing was changed.`,
      { branch: row.branchName, path: holder.path },
    );
  const place = isOutsideTrash(row) ? placeOf(row) : leaveTrash(context, row);
  const identity = rootIdentity(place)!;
  // first: a fork that is ready is always found from its directory
  withRegistry(context, forking, (registry) => {
    const registered = registry.list().find(({ id }) => id === forking.id)!;
    registry.addFork({ ...registered, ...identity, path: place, workingCopy: row.workingCopy }, row.port);
  });
  db.transaction(() => {
    setForkBack(db, row.workingCopy);
    // files are on no deleted branch: upkeep would drop what they are compared with
    restoreBranch(context, row.branchName);
    setForkPlace(db, row.workingCopy, { root: place, ...identity });
    appendForkEvent(context, {
      type: "fork_created",
      fork: forking.copyId(row.workingCopy),
      name: row.name,
      path: displayAbsolute(place),
    });
  });
  tidyTrash(row);
}

/** Moves a fork from the trash to where it was, or beside that; the row says where before it is there. */
function leaveTrash({ store: { db } }: Context, row: ForkRow): AbsolutePath {
  const old = placeOf(row);
  const name = Buffer.from(old.slice(old.lastIndexOf("/") + 1), "latin1").toString("utf8");
  const place = freeDirectory(parentOf(old), name);
  const facts = { ...factsOf(row), ...(row.captured && { captured: row.captured }), place: latin1(place) };
  db.transaction(() => setForkFacts(db, row.workingCopy, { ...row, facts }));
  try {
    move(row.root, place);
    syncDirectory(parentOf(place));
  } catch (error) {
    const path = displayAbsolute(place);
    throw explainSystemError(error, {
      what: `The fork cannot be brought back to ${path}`,
      path,
      operation: "fork",
    });
  }
  return place;
}

/** Deletes a fork in the trash for good, or keeps it as a spare one; false while a process is at work in it. */
export async function deleteTrashed(
  context: Context,
  forking: Forking,
  { row, spare }: { readonly row: ForkRow; readonly spare: boolean },
): Promise<boolean> {
  const { db } = context.store;
  if (isOutsideTrash(row)) return false;
  if (isForkThere(row)) {
    if (processesIn(row.root).length > 0) return false;
    await forking.inCopy(row, async (inFork) => captureAgain(inFork, row));
    if (spare && becomeSpare(context, row)) return true;
  }
  // [R92] half of a fork is none: it can neither be brought back nor captured
  db.transaction(() => setForkGone(db, row.workingCopy));
  clearAway(context, row);
  return true;
}

/** Removes what is left of a fork in the trash that is gone; a crash may have left some of it. */
export function clearAway({ store: { db, directory } }: Context, row: ForkRow): void {
  const { root, workingCopy } = row;
  try {
    if (isInTrash(root) && isForkThere(row)) for (const _ of removeTree(root));
    if (directory !== undefined) for (const _ of removeTree(below(directory, statCacheName(workingCopy))));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const path = displayAbsolute(root);
    const message = `Everything in ${path} is captured, but it cannot be deleted yet (${error.message}). The next command tries it again.`;
    throw new EngineError("FILE_SYSTEM", message, { path, operation: "fork" }, error);
  }
  db.transaction(() => forgetForkPlace(db, workingCopy));
  tidyTrash(row);
}

/** [R92] A process that was still at work may have written after the capture. */
function captureAgain(inFork: Context, row: ForkRow): void {
  const { db } = inFork.store;
  captureAll(inFork, row, (capture) => {
    const captured = row.captured ?? headCheckpoint(db);
    if (capture.present.snapshot === captured?.snapshot) return;
    if (captured !== undefined && isLeft(inFork, row, captured.seq)) leaveBranch(inFork, row, captured.seq);
    capture.record({ request: { kind: "safety" }, description: `Before deleting fork ${row.name}` });
  });
}

/** [R94] The branch was deleted, or it is another working copy's now: what is in the trash is not part of that line. */
function isLeft({ store: { db } }: Context, { branch }: ForkRow, captured: number): boolean {
  const { state, head } = branchAt(db, branch);
  return head !== captured || state === "discarded" || workingCopyOn(db, branch) !== undefined;
}

/** Takes a fork in the trash to a branch of its own, which begins with what was captured when it was removed. */
function leaveBranch({ store: { db }, system }: Context, row: ForkRow, captured: number): void {
  const first = `${row.name}-removed-${row.workingCopy}`;
  let name = first;
  for (let number = 2; namedBranch(db, name) !== undefined; number += 1) name = `${first}-${number}`;
  const base = checkpointAt(db, captured) === undefined ? headSeq(db) : captured;
  const now = system.now();
  putOnBranch(db, insertBranch(db, { name, base, description: null, now }));
  appendEvent(db, { type: "branch_created", thread: null, at: now, data: { branch: name } });
}

/** The trash, the directory of a workspace's forks and that of all forks go with the last thing in them. */
function tidyTrash({ root }: ForkRow): void {
  const trash = parentOf(root);
  const all = parentOf(parentOf(trash));
  try {
    if (!isInTrash(root) || !removeEmptyDirectory(trash)) return;
    if (removeEmptyDirectory(parentOf(trash)) && all.endsWith(`/${FORKS_NAME}`)) removeEmptyDirectory(all);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // they stay, empty
  }
}

/** Says that a fork is gone whose directory is no longer there. */
export function forgetGone(context: Context, forking: Forking, row: ForkRow): void {
  const { db } = context.store;
  db.transaction(() => {
    setForkGone(db, row.workingCopy);
    forgetForkPlace(db, row.workingCopy);
  });
  withRegistry(context, forking, (registry) =>
    registry.removeFork({ id: forking.id, workingCopy: row.workingCopy }),
  );
}

/** Appends an event about a fork; call it inside a transaction. */
export function appendForkEvent(
  { store: { db }, system }: Context,
  { type, ...data }: { type: "fork_created" | "fork_removed"; fork: string; name: string; path: string },
): void {
  appendEvent(db, { type, thread: null, at: system.now(), data });
}
