/** How does a workspace stand: what changed, what can be undone, what needs attention? */
import { branchAt } from "../history/branches.ts";
import { branchHere } from "../history/line.ts";
import { countOpenConflicts } from "../history/merge-rows.ts";
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import type { Present } from "../capture/look.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { countChanges } from "../diff/count-changes.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { countQueued, readRemotes } from "../exchange/remotes.ts";
import { countCheckpoints, headCheckpoint } from "../history/checkpoints.ts";
import { listForks, listSpareForks } from "../history/forks.ts";
import { KEPT_OUT_RULE, keptOutPaths } from "../history/kept-out.ts";
import { countNewestPausedTurns } from "../history/paused-stretches.ts";
import { countRunsAtWork } from "../history/run-rows.ts";
import { countDropped, nextStep } from "../history/step-rows.ts";
import { lastActiveThread } from "../history/threads.ts";
import type { Checkpoint, ExcludedRoot } from "../model/checkpoint.ts";
import type { ThreadSummary } from "../model/conversation.ts";
import { isEngineError } from "../model/errors.ts";
import type { ChangeCounts, FileChange } from "../model/file-change.ts";
import type { KnownDamage } from "../model/reports.ts";
import type { SessionStatus } from "../model/session.ts";
import { lostRepository } from "../restore/plan-warnings.ts";
import { whyStagesStay } from "../restore/recover.ts";
import { isRootThere } from "../scan/root.ts";
import { pendingIn } from "../steps/pending.ts";
import { stepToUndo } from "../steps/select-steps.ts";
import type { Database } from "../store/database.ts";
import { storeBytes } from "../store/store.ts";
import { knownDamage } from "../upkeep/known-damage.ts";
import { fullSince } from "../upkeep/known-full.ts";
import { isPurgeUnfinished } from "../upkeep/purge.ts";
import type { SyncState, WorkspaceStatus } from "./answers.ts";
import { describeSession } from "./describe-session.ts";
import { measureQuickly } from "./measure-excluded.ts";

/** The status of a workspace, compared with the disk. */
export function describeStatus(context: Context): Omit<WorkspaceStatus, "id" | "root" | "store" | "limits"> {
  const { store, workingCopy, capBytes } = context;
  const { db } = store;
  const newest = headCheckpoint(db);
  const present = isRootThere(workingCopy.root) ? lookNow(context) : undefined;
  const changed =
    newest === undefined || present === undefined ? undefined : changedSince(context, newest, present);
  const isDamaged = newest !== undefined && present !== undefined && changed === undefined;
  const thread = lastActiveThread(db);
  const damage = knownDamage(db);
  const forks = listForks(db);
  return {
    exists: present !== undefined,
    newest: newest ?? null,
    thread: thread ?? null,
    session: present === undefined || thread === undefined ? null : sessionIn(context, thread, present),
    checkpoints: countCheckpoints(db),
    changedFiles: changed?.files ?? [],
    changes: changed?.changes ?? null,
    gaps: present?.gaps ?? [],
    excluded: measureQuickly(context, withKeptOut(context, present?.excludedRoots ?? [])),
    disk: {
      bytes: storeBytes(store),
      capBytes,
      fullSince: fullSince(store, capBytes),
      forks: [...forks, ...listSpareForks(db)].reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0),
    },
    damage,
    canUndo: present === undefined || isDamaged ? nextStep(db, "applied") : stepToUndo(context, present),
    canRedo: nextStep(db, "undone"),
    branch: branchAt(db, branchHere(db)).name,
    git: present?.git ?? null,
    forks: forks.filter(({ state }) => state === "ready").length,
    runs: countRunsAtWork(db),
    sync: syncStates(db),
    openConflicts: countOpenConflicts(db),
    undoDropped: countDropped(db),
    pausedTurns: countNewestPausedTurns(db),
    paused: context.pauses.current,
    warnings: [
      ...(isPurgeUnfinished(db)
        ? ["Forgotten content is still in the store's files: belay gc overwrites it."]
        : []),
      ...(present === undefined ? [] : whyStagesStay(context)),
      ...lostRepository(workingCopy.root, newest),
      ...(damage === null ? [] : [damageWarning(damage)]),
      ...(isDamaged ? ["The newest checkpoint is damaged: what changed since it cannot be told."] : []),
    ],
  };
}

/** How each remote stands; no server is asked. */
function syncStates(db: Database): SyncState[] {
  return readRemotes(db).map(({ name, pushedAt, pulledAt, problem }) => {
    const queued = countQueued(db, name).checkpoints;
    const calm = queued > 0 ? "queued" : "synced";
    const state = problem === null ? calm : problem.startsWith("REMOTE_UNREACHABLE") ? "offline" : "problem";
    return { remote: name, state, queued, pushedAt, pulledAt, problem };
  });
}

function damageWarning({ checkpoints, sound }: KnownDamage): string {
  const damaged = checkpoints === 1 ? "1 checkpoint" : `${checkpoints} checkpoints`;
  return `${damaged} cannot be restored in full; the other ${sound} ${sound === 1 ? "is" : "are"} sound. Your files are untouched: belay verify lists them.`;
}

/** What is kept out for good is listed also while it is not there. */
function withKeptOut({ store }: Context, roots: readonly ExcludedRoot[]): ExcludedRoot[] {
  const listed = new Set(roots.map(({ path }) => path));
  const missing = keptOutPaths(store.db).filter((path) => !listed.has(path));
  return [...roots, ...missing.map((path) => ({ path, rule: KEPT_OUT_RULE, bytes: null }))];
}

/** null when the approved state is damaged. */
function sessionIn(context: Context, { id }: ThreadSummary, present: Present): SessionStatus | null {
  try {
    const pending = pendingIn(context, { thread: id, includeShared: false }, present);
    return describeSession(context, pending, { detail: "counts" });
  } catch (error) {
    if (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) return null;
    throw error;
  }
}

/** undefined when the checkpoint is damaged. */
function changedSince(
  context: Context,
  checkpoint: Checkpoint,
  present: Present,
): { files: FileChange[]; changes: ChangeCounts } | undefined {
  try {
    const edits = provenChanges(present.objects, asSeen(context, checkpoint), present);
    const files = fileChanges(present.objects, edits, { detail: "counts" });
    return { files, changes: countChanges(edits) };
  } catch (error) {
    if (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) return undefined;
    throw error;
  }
}
