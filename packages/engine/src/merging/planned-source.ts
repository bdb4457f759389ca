/** A source of a merge with the states it is merged between, and its conflicts as they are stored. */
import type { Context } from "../capture/context.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { branchAt } from "../history/branches.ts";
import { assertSealed } from "../history/checkpoint-seal.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { headSeq } from "../history/line.ts";
import {
  findMerge,
  listConflicts,
  type ConflictRecord,
  type MergeRecord,
  type SourceRecord,
} from "../history/merge-rows.ts";
import type { SourceConflict } from "../merge/merge-sources.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Combined, CombinedSource } from "./combine-sources.ts";

/** A source and the states it is merged between. */
export interface PlannedSource extends CombinedSource {
  readonly number: number;
  readonly branch: number;
}

/** A source with its states; throws `CHECKPOINT_NOT_FOUND` where one was dropped. */
export function sourceAt(
  context: Context,
  { branch, bases, head }: SourceRecord,
  number: number,
): PlannedSource {
  return {
    number,
    branch,
    name: branchAt(context.store.db, branch).name,
    bases: bases.map((seq) => stateAt(context, seq)),
    head: stateAt(context, head),
  };
}

/** The checkpoint with this seq, which the merge needs. */
export function stateAt({ store: { db } }: Context, seq: number): Checkpoint {
  const checkpoint = checkpointAt(db, seq);
  if (checkpoint === undefined)
    throw new EngineError(
      "CHECKPOINT_NOT_FOUND",
      `Checkpoint ${seq}, which the merge needs, was dropped. Nothing was changed.`,
      { checkpoint: String(seq) },
    );
  assertSealed(db, checkpoint);
  return checkpoint;
}

/** Tells which names something has: on a side of the merge, or by another decision about it. */
export function takenNames({ store }: Context, { id, merge }: ConflictRecord): (path: BytePath) => boolean {
  const { db, objects } = store;
  const { sources, into } = findMerge(db, merge);
  const states = [headSeq(db, into), ...sources.map(({ head }) => head)].flatMap(
    (seq) => checkpointAt(db, seq) ?? [],
  );
  const others = listConflicts(db, merge).filter((conflict) => conflict.id !== id);
  const decided = new Set(others.flatMap(({ result }) => (result ?? []).map(([path]) => path)));
  return (path) =>
    decided.has(path) || states.some(({ snapshot }) => lookUp(objects, snapshot, path).entry !== undefined);
}

/** What a conflict is about: its merge, its source, and what was made or decided so far. */
export interface ConflictWork {
  readonly record: Pick<MergeRecord, "id">;
  readonly source: PlannedSource;
  readonly merge: Pick<Combined, "objects" | "onto">;
  readonly made: Map<ObjectHash, Buffer>;
  readonly known: readonly ConflictRecord[];
}

/** A conflict as it is stored; one that was decided before keeps its id. */
export function toRecord(context: Context, conflict: SourceConflict, work: ConflictWork): ConflictRecord {
  const { record, source, merge, made, known } = work;
  const { path, otherPath, kind, severity, facts: reasons, regions, options, agents, proposal } = conflict;
  const before = known.find((each) => each.path === path && each.sourceBranch === source.branch);
  const entryIn = (snapshot: ObjectHash, at: BytePath) =>
    kind === "check" ? null : (lookUp(merge.objects, snapshot, at).entry ?? null);
  const ours = (at: BytePath) => entryIn(merge.onto[conflict.source]!.snapshot, at);
  const theirs = (at: BytePath) => entryIn(source.head.snapshot, at);
  const hash = proposal === null ? undefined : hashBytes(proposal);
  if (proposal !== null) made.set(hash!, proposal);
  return {
    id: before?.id ?? context.system.newId(),
    merge: record.id,
    sourceBranch: source.branch,
    path,
    kind,
    severity,
    base: conflict.base ?? null,
    ours: conflict.ours ?? null,
    theirs: conflict.theirs ?? null,
    facts: {
      reasons,
      regions,
      options,
      agents,
      proposal: proposal === null ? null : { hash: hash!, size: proposal.length },
      here: { ours: ours(path), theirs: theirs(path) },
      other:
        otherPath === undefined
          ? null
          : { path: otherPath, ours: ours(otherPath), theirs: theirs(otherPath) },
    },
    state: "open",
    result: null,
    by: null,
    note: {},
    at: null,
  };
}
