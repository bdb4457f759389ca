/** One row of the timeline: the facts of what happened, and how much it changed. */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import type { Happening } from "../history/happenings.ts";
import { isTurnOver } from "../history/liveness.ts";
import { pausedStretches } from "../history/paused-stretches.ts";
import {
  countChangingCalls,
  countDoubts,
  countLate,
  isApproved,
  isContinued,
  listBackChanges,
  listOutsideChanges,
  listStepChanges,
  pointKind,
  readAgent,
  readEnd,
  readPrevious,
  readStepFacts,
  wasAgentAbout,
  type EndFacts,
  type ListedChange,
  type StepFacts,
} from "../history/timeline-facts.ts";
import type { TimelineRow, TimelineStatus } from "../model/timeline.ts";
import { netChanges, type ChangeCounter } from "./net-changes.ts";
import { backTitle, pointTitle, turnTitle } from "./timeline-titles.ts";

/** What rows need beside the store. */
export interface RowRequest {
  readonly lines: ChangeCounter;
  /** The numbers of turns, by the seqs of their steps. */
  readonly numbers: ReadonlyMap<number, number>;
  /** The snapshot on disk; undefined when it was not looked at. */
  readonly present: string | undefined;
}

/** The row of something that happened; undefined when it was dropped meanwhile. */
export function rowOf(context: Context, happening: Happening, request: RowRequest): TimelineRow | undefined {
  switch (happening.kind) {
    case "turn":
      return turnRow(context, happening, request);
    case "back":
      return backRow(context, happening, request);
    case "point":
      return pointRow(context, happening, request);
    case "hand":
      return handRow(context, happening, request);
  }
}

function turnRow(context: Context, { seq, step }: Happening, request: RowRequest): TimelineRow | undefined {
  const { db } = context.store;
  const facts = readStepFacts(db, step);
  if (facts === undefined) return undefined;
  const [before, after] = [readEnd(db, facts.before), readEnd(db, facts.after)];
  const end = before ?? after;
  if (end === undefined) return undefined;
  const { thread, state } = facts;
  const to = facts.after ?? Number.MAX_SAFE_INTEGER;
  return {
    ...changed(listStepChanges(db, facts.id), request),
    ...annotationsOf(before),
    ...sides(before, after, request),
    seq,
    id: end.id,
    ref: `T${request.numbers.get(step)}`,
    kind: "turn",
    title: turnTitle(facts),
    thread,
    agent: facts.agent,
    session: end.session,
    at: facts.openedAt,
    endedAt: facts.closedAt,
    state,
    status: statusOf(context, facts, after),
    undoneAt: facts.undoneAt,
    approved: isApproved(db, thread, end.session),
    pruned: facts.pruned,
    steps: countChangingCalls(db, facts.id),
    late: thread === null ? 0 : countLate(db, thread, { from: facts.before, to }),
  };
}

/** A turn that ended without a stop was interrupted, unless it only continues in another. */
function statusOf(context: Context, facts: StepFacts, after: EndFacts | undefined): TimelineStatus {
  const { db } = context.store;
  if (facts.state === "open") {
    const { owner, thread } = facts;
    return isTurnOver(db, { owner, thread }, momentOf(context)) ? "interrupted" : "working";
  }
  if (facts.isFailed) return "failed";
  const isStopped = after === undefined || (after.kind === "turn" && after.phase === "after");
  return isStopped || isContinued(db, facts) ? "completed" : "interrupted";
}

function backRow(
  context: Context,
  { seq, step, at }: Happening,
  request: RowRequest,
): TimelineRow | undefined {
  const { db } = context.store;
  const facts = readStepFacts(db, step);
  const end = readEnd(db, seq);
  if (facts === undefined || end === undefined) return undefined;
  return {
    ...pointFields(context, end, request),
    ...changed(listBackChanges(db, seq), request),
    ...sides(readEnd(db, facts.before), end, request),
    kind: facts.kind as "restore" | "revert" | "reset",
    title: backTitle(db, facts),
    at,
    state: facts.state,
    undoneAt: facts.undoneAt,
    pruned: facts.pruned,
  };
}

function pointRow(context: Context, { seq }: Happening, request: RowRequest): TimelineRow | undefined {
  const { db } = context.store;
  const end = readEnd(db, seq);
  if (end === undefined) return undefined;
  return {
    ...pointFields(context, end, request),
    ...changed(listOutsideChanges(db, [seq]), request),
    kind: pointKind(end.kind),
    title: pointTitle(end),
  };
}

function handRow(
  context: Context,
  { seq, captures }: Happening,
  request: RowRequest,
): TimelineRow | undefined {
  const { db } = context.store;
  const end = readEnd(db, seq);
  if (end === undefined) return undefined;
  const before = readPrevious(db, captures.at(-1)!);
  const isByHand = !wasAgentAbout(db, captures) && !wasPaused(context, before, end);
  return {
    ...pointFields(context, end, request),
    ...changed(listOutsideChanges(db, captures), request),
    ...sides(before, end, request),
    // annotations of the checkpoint belong to what it was taken for
    ...annotationsOf(undefined),
    kind: "hand",
    title: isByHand ? "Changed by hand" : "Changed outside any agent",
    thread: null,
    agent: null,
    session: null,
    approved: false,
  };
}

/** During a pause agents may have written too. */
function wasPaused({ store }: Context, before: EndFacts | undefined, { at }: EndFacts): boolean {
  const since = before?.at ?? 0;
  return pausedStretches(store.db).some(({ from, until }) => from < at && until > since);
}

/** What rows of one checkpoint have in common. */
function pointFields(
  { store: { db } }: Context,
  end: EndFacts,
  request: RowRequest,
): Omit<
  TimelineRow,
  "kind" | "title" | "added" | "modified" | "deleted" | "plus" | "minus" | "shared" | "gaps"
> {
  const { thread, session } = end;
  return {
    ...annotationsOf(end),
    ...sides(readPrevious(db, end.seq), end, request),
    seq: end.seq,
    id: end.id,
    ref: String(end.seq),
    thread,
    agent: readAgent(db, thread),
    session,
    at: end.at,
    endedAt: end.at,
    state: "applied",
    status: null,
    undoneAt: null,
    approved: end.kind === "approve",
    pruned: false,
    steps: 0,
    late: countDoubts(db, end.seq),
  };
}

function annotationsOf(end: EndFacts | undefined): Pick<TimelineRow, "name" | "note" | "tags"> {
  return { name: end?.name ?? null, note: end?.note ?? null, tags: end?.tags ?? [] };
}

function sides(
  before: EndFacts | undefined,
  after: EndFacts | undefined,
  { present }: RowRequest,
): Pick<TimelineRow, "before" | "after" | "sameAsNow" | "beforeSameAsNow"> {
  const isNow = (end: EndFacts | undefined) => (present === undefined ? null : end?.snapshot === present);
  return {
    before: before?.id ?? null,
    after: after?.id ?? null,
    sameAsNow: isNow(after),
    beforeSameAsNow: isNow(before),
  };
}

function changed(
  changes: readonly ListedChange[],
  { lines }: RowRequest,
): Pick<TimelineRow, "added" | "modified" | "deleted" | "plus" | "minus" | "shared" | "gaps"> {
  const edits = netChanges(changes);
  const shared = new Set(changes.flatMap(({ path, shared: isShared }) => (isShared ? [path] : [])));
  return {
    ...lines.count(edits),
    shared: edits.filter(({ path }) => shared.has(path)).length,
    gaps: edits.filter(({ to }) => to?.kind === "gap").length,
  };
}
