/**
 * What is pending: everything a thread changed since its approved state. It is exactly what a reset would take out, so
 * one plan serves the status, the preview and the reset. A path that only this thread and people changed goes back to
 * its approved content; where other threads wrote too, this thread's changes are taken out one by one.
 */
import { assertSealed } from "../history/checkpoint-seal.ts";
import { checkpointAt, firstOfThread } from "../history/checkpoints.ts";
import { UNRECORDED, type Change } from "../history/changes.ts";
import { ownedChanges, withUnrecorded, type OwnedChange } from "../history/ownership.ts";
import { StepPlanner } from "../restore/plan-steps.ts";
import { readOpenSession } from "../history/sessions.ts";
import { haveOthersWorked } from "../history/step-rows.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { sameNode } from "../model/entry.ts";
import type { ThreadId } from "../model/ids.ts";
import { hashBytes } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Decision, type Edit } from "../model/plan.ts";
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { planWarnings } from "../restore/plan-warnings.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { ALL_RECORDED, unrecordedIn } from "../capture/unrecorded.ts";
import type { PlanDraft, Sight } from "../restore/go-back.ts";
import { spareIgnored } from "../rules/spare-ignored.ts";
import { assertRootThere } from "../scan/root.ts";
import { explainConflicts } from "../restore/explain-conflicts.ts";
import type { Present } from "../capture/look.ts";

/** Whose pending work is to be reset. */
export interface ResetRequest {
  readonly thread: ThreadId;
  /** Also takes what cannot be told apart from another thread's work. */
  readonly includeShared: boolean;
  readonly decisions?: readonly Decision[] | undefined;
  /** Take merges that do not parse as well. */
  readonly mergeAnyway?: boolean;
}

/** The state of a thread compared with the disk. */
export interface Pending {
  /** undefined while the thread has no checkpoint: then nothing can be pending. */
  readonly approved: Checkpoint | undefined;
  /** From the approved content to the present one, path by path. */
  readonly edits: readonly Edit[];
  readonly present: Present;
  /** What a reset would do. */
  readonly plan: PlanDraft;
}

/** Looks at the disk; records nothing. */
export function lookForPending(context: Context, request: ResetRequest): Pending {
  assertRootThere(context.workingCopy.root);
  return pendingIn(context, request, lookNow(context, { since: approvedState(context, request.thread) }));
}

/** What a thread has pending in the present. */
export function pendingIn(context: Context, request: ResetRequest, present: Present): Pending {
  return findPending(context, request, { present, put: hashBytes, isRecorded: false });
}

/** What is pending in the files as they are, and the plan that takes it out. */
export function findPending(context: Context, request: ResetRequest, seen: Sight): Pending {
  const { thread, includeShared } = request;
  const approved = approvedState(context, thread);
  const { present, put } = seen;
  const plan = emptyPlan(context, request, { approved, present });
  if (approved === undefined) return { approved, edits: [], present, plan };
  const edits = provenChanges(present.objects, asSeen(context, approved), present);
  const history =
    edits.length === 0 ? new Map<BytePath, OwnedChange[]>() : changesSince(context, request, approved, seen);
  const planner = new StepPlanner({
    objects: present.objects,
    present: present.snapshot,
    put,
    includeShared,
    decisions: request.decisions,
    parsers: request.mergeAnyway === true ? undefined : seen.parsers,
  });
  const isAlone = !haveOthersWorked(context.store.db, thread, approved.seq);
  planner.add(
    edits.flatMap((edit) => ownPart(edit, history.get(edit.path) ?? [], isAlone)),
    "backwards",
  );
  const planned = planner.result();
  const result = { ...planned, ...spareIgnored(planned, present.recordedRules) };
  const touched = new Set([...result.edits, ...result.conflicts, ...result.gaps].map(({ path }) => path));
  return {
    approved,
    edits: edits.filter(({ path }) => touched.has(path)),
    present,
    plan: {
      ...plan,
      ...result,
      conflicts: explainConflicts(context, result.conflicts, {
        direction: "backwards",
        except: { thread },
        unrecorded:
          seen.isRecorded || result.conflicts.length === 0 ? ALL_RECORDED : unrecordedIn(context, present),
        first: approved,
      }),
      git: { target: approved.git, now: present.git },
      warnings: [
        ...planWarnings(context, { present, target: approved, edits: result.edits }),
        ...lostBase(context, thread, approved),
      ],
    },
  };
}

/**
 * The approved state of a thread. A pruned one is replaced by the oldest checkpoint that the thread still
 * has.
 */
export function approvedState({ store }: Context, thread: ThreadId): Checkpoint | undefined {
  const { base } = readOpenSession(store.db, thread);
  const approved =
    base === null ? undefined : (checkpointAt(store.db, base) ?? firstOfThread(store.db, thread, base));
  if (approved !== undefined) assertSealed(store.db, approved);
  return approved;
}

/** [N1] A substitute for the approved state is named as one. */
function lostBase({ store }: Context, thread: ThreadId, approved: Checkpoint): string[] {
  if (readOpenSession(store.db, thread).base === approved.seq) return [];
  return [`The approved state was pruned; checkpoint ${approved.seq} is the oldest that is left`];
}

function changesSince(
  context: Context,
  { thread }: ResetRequest,
  approved: Checkpoint,
  { present, isRecorded }: Sight,
): Map<BytePath, OwnedChange[]> {
  const { db } = context.store;
  const history = ownedChanges(db, thread, { since: approved.seq });
  if (!isRecorded) withUnrecorded(db, thread, history, unrecordedIn(context, present));
  return history;
}

/**
 * The part of a difference to take out: all of it, nothing, or this thread's changes among those of others.
 */
function ownPart(edit: Edit, list: readonly OwnedChange[], isAlone: boolean): Change[] {
  const isUnknown = !isAlone && !isComplete(edit, list);
  if (!isUnknown && list.some(({ own }) => !own)) return ownRuns(list);
  const shared = isUnknown || list.some((change) => change.shared);
  return [{ checkpoint: UNRECORDED, path: edit.path, old: edit.from, new: edit.to, shared }];
}

/** True when the changes lead from one state to the other. Pruning drops changes: a gap may hide another thread's. */
function isComplete({ from, to }: Edit, list: readonly OwnedChange[]): boolean {
  let state = from;
  return (
    list.every((change) => {
      const follows = sameNode(change.old, state);
      state = change.new;
      return follows;
    }) && sameNode(state, to)
  );
}

/** Consecutive own changes are one; a change that leads nowhere is none. */
function ownRuns(list: readonly OwnedChange[]): Change[] {
  const runs: Change[] = [];
  list.forEach((change, index) => {
    const last = runs.at(-1);
    if (!change.own) return;
    if (last !== undefined && list[index - 1]?.own === true && sameNode(last.new, change.old))
      runs[runs.length - 1] = { ...last, new: change.new, shared: last.shared || change.shared };
    else runs.push(change);
  });
  return runs.filter((run) => !sameNode(run.old, run.new));
}

function emptyPlan(
  context: Context,
  { thread }: ResetRequest,
  { approved, present }: { approved: Checkpoint | undefined; present: Present },
): PlanDraft {
  const { name } = readOpenSession(context.store.db, thread);
  return {
    kind: "reset",
    description: `Reset ${name} to the approved state`,
    checkpoint: approved?.id ?? null,
    thread,
    base: present.snapshot,
    ...EMPTY_PLAN,
  };
}
