/** Questions about a workspace: what a checkpoint holds, what differs, how things stand. Nothing here writes. */
import { countNewestPausedTurns } from "../history/paused-stretches.ts";
import { walkTree } from "../diff/compare-trees.ts";
import { countChanges } from "../diff/count-changes.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { readCheckpointAttributions, readCheckpointChanges } from "../history/changes.ts";
import { newestCheckpoint, readDoubts, readGaps } from "../history/checkpoints.ts";
import { resolveCheckpoint } from "../history/references.ts";
import { countDropped, nextStep } from "../history/steps.ts";
import { findThread } from "../history/threads.ts";
import { describeSession, resetRequest } from "./describe-session.ts";
import type { ThreadSummary } from "../model/conversation.ts";
import type { SessionStatus } from "../model/session.ts";
import { pendingIn } from "../steps/approval.ts";
import { isAtOrBelow } from "../model/byte-path.ts";
import type { Checkpoint, ExcludedRoot } from "../model/checkpoint.ts";
import { isEngineError } from "../model/errors.ts";
import type { ChangeCounts, FileChange } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { isPurgeUnfinished } from "../upkeep/purge.ts";
import { storeBytes } from "../store/store.ts";
import type { CheckpointDetails, Diff, DiffOptions, ExportedFile, WorkspaceStatus } from "./answers.ts";
import { KEPT_OUT_RULE, keptOutPaths } from "../history/kept-out.ts";
import { parsePaths } from "../model/workspace-path.ts";
import { asSeen, type Context } from "../capture/context.ts";
import { whyStagesStay } from "../restore/recover.ts";
import { lookNow } from "../capture/look-now.ts";
import { decodeExcluded } from "../rules/excluded-list.ts";
import { measureExcluded } from "../capture/excluded-size.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { stepToUndo } from "../steps/select-steps.ts";
import { lostRepository } from "../restore/plan-warnings.ts";
import { assertRootThere, isRootThere } from "../scan/root.ts";
import type { Present } from "../capture/look.ts";

/** How long may be spent on measuring what is left out. */
const MEASURE_MS = 300;

export function describeCheckpoint(context: Context, checkpoint: Checkpoint): CheckpointDetails {
  const { db, objects } = context.store;
  // as it was recorded: the same changes that the checkpoint counts, and that a revert would take out
  const edits = readCheckpointChanges(db, checkpoint.seq).map(({ path, old, new: to }) => ({
    path,
    from: old,
    to,
  }));
  const attributions = readCheckpointAttributions(db, checkpoint.seq);
  const excluded = decodeExcluded(objects.read(checkpoint.excluded), checkpoint.excluded);
  return {
    checkpoint,
    files: fileChanges(objects, edits, {
      detail: "counts",
      attributionOf: (path) => attributions.get(path) ?? null,
    }),
    gaps: readGaps(db, checkpoint.seq),
    doubts: readDoubts(db, checkpoint.seq),
    excluded: measure(context, excluded),
  };
}

/** What is kept out for good is listed also while it is not there. */
function withKeptOut({ store }: Context, roots: readonly ExcludedRoot[]): ExcludedRoot[] {
  const listed = new Set(roots.map(({ path }) => path));
  const missing = keptOutPaths(store.db).filter((path) => !listed.has(path));
  return [...roots, ...missing.map((path) => ({ path, rule: KEPT_OUT_RULE, bytes: null }))];
}

function measure({ worktree, system }: Context, excluded: readonly ExcludedRoot[]): ExcludedRoot[] {
  const end = system.elapsed() + MEASURE_MS;
  return measureExcluded(worktree.root, excluded, () => system.elapsed() > end);
}

/** Two checkpoints, or a checkpoint and the disk. */
export function compareStates(context: Context, options: DiffOptions): Diff {
  const { db, objects } = context.store;
  const from = resolveCheckpoint(db, options.from ?? "@");
  const to = options.to === undefined ? undefined : resolveCheckpoint(db, options.to);
  const other = to === undefined ? lookAtDisk(context, from) : { ...asSeen(context, to), objects };
  const edits = onlyBelow(provenChanges(other.objects, asSeen(context, from), other), options.paths);
  const files = fileChanges(other.objects, edits, { detail: options.detail });
  return {
    from: from.id,
    to: to?.id ?? null,
    files,
    summary: { ...countChanges(edits), ...sumLines(files) },
  };
}

function lookAtDisk(context: Context, since?: Checkpoint): Present {
  assertRootThere(context.worktree.root);
  return lookNow(context, { since });
}

function onlyBelow(edits: readonly Edit[], texts: readonly string[] | undefined): readonly Edit[] {
  const paths = parsePaths(texts);
  return paths === undefined
    ? edits
    : edits.filter(({ path }) => paths.some((chosen) => isAtOrBelow(path, chosen)));
}

function sumLines(files: readonly FileChange[]): Pick<Diff["summary"], "linesAdded" | "linesDeleted"> {
  const sum = (key: "linesAdded" | "linesDeleted") =>
    files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { linesAdded: sum("linesAdded"), linesDeleted: sum("linesDeleted") };
}

export function describeStatus(context: Context): Omit<WorkspaceStatus, "id" | "root" | "store"> {
  const { store, worktree, capBytes } = context;
  const { db } = store;
  const newest = newestCheckpoint(db);
  const present = isRootThere(worktree.root) ? lookAtDisk(context) : undefined;
  const changed =
    newest === undefined || present === undefined ? undefined : changedSince(context, newest, present);
  const isDamaged = newest !== undefined && present !== undefined && changed === undefined;
  const thread = activeThread(context);
  return {
    exists: present !== undefined,
    newest: newest ?? null,
    thread: thread ?? null,
    session: present === undefined || thread === undefined ? null : sessionIn(context, thread, present),
    checkpoints: Number(db.get("SELECT count(*) AS n FROM checkpoint WHERE pruned_at IS NULL")?.["n"] ?? 0),
    changedFiles: changed?.files ?? [],
    changes: changed?.changes ?? null,
    gaps: present?.gaps ?? [],
    excluded: measure(context, withKeptOut(context, present?.excludedRoots ?? [])),
    disk: { bytes: storeBytes(store), capBytes },
    canUndo: present === undefined || isDamaged ? nextStep(db, "applied") : stepToUndo(context, present),
    canRedo: nextStep(db, "undone"),
    undoDropped: countDropped(db),
    pausedTurns: countNewestPausedTurns(db),
    paused: context.pauses.current,
    warnings: [
      ...(isPurgeUnfinished(db)
        ? ["Forgotten content is still in the store's files: belay gc overwrites it."]
        : []),
      ...(present === undefined ? [] : whyStagesStay(context)),
      ...lostRepository(worktree.root, newest),
      ...(isDamaged ? ["The newest checkpoint is damaged: what changed since it cannot be told."] : []),
    ],
  };
}

/** The conversation that was last at work. */
function activeThread({ store: { db } }: Context): ThreadSummary | undefined {
  const row = db.get(
    "SELECT id FROM thread WHERE deleted_at IS NULL ORDER BY updated_at DESC, seq DESC LIMIT 1",
  );
  return row === undefined ? undefined : findThread(db, String(row["id"]));
}

/** null when the approved state is damaged. */
function sessionIn(context: Context, { id }: ThreadSummary, present: Present): SessionStatus | null {
  try {
    return describeSession(context, pendingIn(context, resetRequest(id), present), { detail: "counts" });
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

/** The files of a checkpoint, directories before what they hold; gaps have nothing to give. */
export function* exportedFiles(objects: ObjectSource, { snapshot }: Checkpoint): Generator<ExportedFile> {
  for (const { path, entry } of walkTree(objects, snapshot)) {
    if (entry.kind === "gap") continue;
    yield {
      path,
      kind: entry.kind,
      mode: entry.kind === "symlink" ? 0o777 : entry.mode,
      size: entry.kind === "directory" ? 0 : entry.size,
      content: () => (entry.kind === "directory" ? [] : objects.pieces(entry.hash)),
    };
  }
}
