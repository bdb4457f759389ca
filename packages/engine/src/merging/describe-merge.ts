/** Merges and conflicts as other programs see them: names in the place of ids, contents within reach. */
import type { Context } from "../capture/context.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { ownCommits } from "../git/own-commits.ts";
import { branchAt, otherCopyOn } from "../history/branches.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import {
  listConflicts,
  mergeAt,
  type ConflictRecord,
  type MergeRecord,
  type SourceRecord,
} from "../history/merge-rows.ts";
import { runBetween } from "../history/run-rows.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type {
  ConflictResolution,
  ForkCommits,
  Merge,
  MergeConflict,
  MergeSource,
  MergeState,
} from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { MAIN_WORKING_COPY, type Database } from "../store/database.ts";
import type { PlannedMerge } from "./plan-merge.ts";
import { optionsOf } from "./resolution-result.ts";

/** A merge that is recorded; undefined when there is none. */
export function describeMerge(context: Context, id: string): Merge | undefined {
  const { db, objects } = context.store;
  const merge = mergeAt(db, id);
  if (merge === undefined) return undefined;
  const conflicts = listConflicts(db, id);
  return toMerge(
    context,
    { ...merge, conflicts },
    { state: merge.state, read: (hash) => objects.read(hash) },
  );
}

/** A merge as it would be recorded. */
export function describePlanned(context: Context, { record, made }: PlannedMerge, read: Read): Merge {
  const isHeld = record.sources.some(({ outcome }) => outcome === "held");
  const readMade = (hash: ObjectHash) => made.get(hash) ?? read(hash);
  return toMerge(context, record, { state: isHeld ? "open" : "applied", read: readMade });
}

type Read = (hash: ObjectHash) => Buffer;

function toMerge(
  context: Context,
  record: MergeRecord,
  { state, read }: { state: MergeState; read: Read },
): Merge {
  const { db } = context.store;
  const { conflicts, merged, clean, notMerged, checks } = record;
  const resolvedBy = (by: "merger" | "user") => conflicts.filter((each) => each.by === by).length;
  const isListed = (path: BytePath) => merged.some((each) => each.path === path);
  return {
    id: record.id,
    state,
    into: branchAt(db, record.into).name,
    sources: record.sources.map((source) => describeSource(context, source)),
    merged,
    clean,
    conflicts: conflicts.map((conflict) => describeConflict(context, conflict, read)),
    notMerged,
    checks,
    resolution: {
      // what was decided without a person is listed as merged once it is in
      autoResolved:
        merged.length + conflicts.filter(({ by, path }) => by === "auto" && !isListed(path)).length,
      mergerResolved: resolvedBy("merger"),
      userResolved: resolvedBy("user"),
      success: conflicts.every((conflict) => conflict.state === "resolved"),
    },
    createdAt: record.createdAt,
  };
}

function describeSource(
  { store: { db } }: Context,
  { branch, bases, head, outcome }: SourceRecord,
): MergeSource {
  return {
    name: branchAt(db, branch).name,
    base: bases.flatMap((seq) => checkpointAt(db, seq)?.id ?? []),
    head: checkpointAt(db, head)?.id ?? null,
    outcome,
    run: runBetween(db, { branch, from: Math.min(...bases), to: head }),
    ownCommits: commitsOf(db, branch),
  };
}

/** A fork that is no longer there, or whose repository cannot be read, has none to fetch. */
function commitsOf(db: Database, branch: number): ForkCommits | null {
  const fork = otherCopyOn(db, branch);
  if (fork === undefined || fork.workingCopy === MAIN_WORKING_COPY) return null;
  const { refs, commits } = ownCommits(fork.root);
  return commits === 0 ? null : { commits, path: displayAbsolute(fork.root), refs };
}

/** A conflict with what people need to decide it. */
export function describeConflict(context: Context, conflict: ConflictRecord, read: Read): MergeConflict {
  const { id, merge, path, kind, severity, state, facts, note, base, ours, theirs } = conflict;
  return {
    id,
    merge,
    source: branchAt(context.store.db, conflict.sourceBranch).name,
    path,
    agents: facts.agents,
    severity,
    autoResolvable: false,
    reason: facts.reasons[0]?.detail ?? "",
    kind,
    reasons: facts.reasons,
    regions: facts.regions,
    options: optionsOf(conflict),
    state,
    resolution: resolutionOf(conflict),
    chosen: note.chosen ?? {},
    base,
    ours,
    theirs,
    otherPath: facts.other?.path ?? null,
    content: (version) => {
      const entry = conflict[version];
      return entry?.kind === "file" || entry?.kind === "symlink" ? readOrGone(read, entry.hash) : null;
    },
    get proposal() {
      return facts.proposal === null ? null : readOrGone(read, facts.proposal.hash);
    },
    get merger() {
      if (facts.merger === undefined) return null;
      const { hash, explanation, dropped } = facts.merger;
      return { content: readOrGone(read, hash), explanation, dropped };
    },
  };
}

/** [R26] The content of a conflict that is over may be gone; damage is reported as ever. */
function readOrGone(read: Read, hash: ObjectHash): Buffer | null {
  try {
    return read(hash);
  } catch (error) {
    if (error instanceof EngineError && error.code === "OBJECT_MISSING") return null;
    throw error;
  }
}

function resolutionOf({ state, by, note, at }: ConflictRecord): ConflictResolution | null {
  if (state === "open") return null;
  return {
    by: by ?? "user",
    take: note.take ?? "edit",
    explanation: note.explanation ?? null,
    dropped: note.dropped ?? [],
    at: at ?? 0,
  };
}
