/** Rows of the timeline: the facts of what happened, and how much it changed. A page is read at once. */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import type { Happening } from "../history/happenings.ts";
import { isTurnOver, lastHeard } from "../history/liveness.ts";
import {
  captureKind,
  pointKind,
  type EndFacts,
  type ListedChange,
  type StepFacts,
} from "../history/timeline-facts.ts";
import { displayPath } from "../model/byte-path.ts";
import { isLeaf } from "../model/entry.ts";
import type { TimelineCounts, TimelineRow, TimelineStatus } from "../model/timeline.ts";
import { netChanges, type ChangeCounter } from "./net-changes.ts";
import { gatherFacts, isStop, type PageFacts } from "./page-facts.ts";
import { backTarget, backTitle, pointTitle, turnTitle } from "./timeline-titles.ts";

/** How rows are made. */
export interface RowRequest {
  readonly lines: ChangeCounter;
  /** The snapshot on disk; undefined when it was not looked at. */
  readonly present: string | undefined;
}

/** The rows of things that happened, in their order; undefined where one was dropped meanwhile. */
export function rowsOf(
  context: Context,
  happenings: readonly Happening[],
  request: RowRequest,
): (TimelineRow | undefined)[] {
  const facts = gatherFacts(context, happenings);
  request.lines.expect(
    [facts.changes, facts.outside, facts.backs, facts.found].flatMap((changes) =>
      [...changes.values()].map(netChanges),
    ),
  );
  const maker = new RowMaker(context, facts, request);
  return happenings.map((each) => maker.row(each));
}

class RowMaker {
  readonly #context: Context;
  readonly #facts: PageFacts;
  readonly #request: RowRequest;
  readonly #moment: ReturnType<typeof momentOf>;

  constructor(context: Context, facts: PageFacts, request: RowRequest) {
    this.#context = context;
    this.#moment = momentOf(context);
    this.#facts = facts;
    this.#request = request;
  }

  row(happening: Happening): TimelineRow | undefined {
    if (happening.kind === "turn") return this.#turn(happening);
    if (happening.kind === "back") return this.#back(happening);
    if (happening.kind === "capture") return this.#capture(happening);
    return happening.kind === "point" ? this.#point(happening) : this.#hand(happening);
  }

  #turn({ seq, step }: Happening): TimelineRow | undefined {
    const { steps, numbers, changes, calls } = this.#facts;
    const facts = steps.get(step);
    if (facts === undefined) return undefined;
    const [before, after] = [this.#end(facts.before), this.#end(facts.after)];
    const end = before ?? after;
    if (end === undefined) return undefined;
    const { thread, state } = facts;
    return {
      ...this.#changed(changes.get(facts.id) ?? []),
      ...annotationsOf(before),
      ...this.#sides(before, after),
      seq,
      id: end.id,
      ref: `T${numbers.get(step)}`,
      kind: "turn",
      title: turnTitle(facts),
      thread,
      agent: facts.agent,
      session: end.session,
      at: facts.openedAt,
      endedAt: facts.closedAt ?? this.#goneSince(facts),
      state,
      status: this.#status(facts, after),
      undoneAt: facts.undoneAt,
      ...(facts.undoneBy !== null && { undoneBy: facts.undoneBy }),
      approved: this.#facts.approved.has(`${thread} ${end.session}`),
      pruned: facts.pruned,
      steps: calls.get(facts.id) ?? 0,
      late: facts.late,
    };
  }

  /** [R1700] An agent that is gone worked until it was last heard of, also where no capture has closed its turn yet. */
  #goneSince(facts: StepFacts): number | null {
    const { thread, openedAt } = facts;
    if (facts.state !== "open" || thread === null || !this.#isOver(facts)) return null;
    return Math.max(openedAt, lastHeard(this.#context.store.db, thread));
  }

  #isOver(facts: StepFacts): boolean {
    return isTurnOver(this.#context.store.db, { ...facts, at: facts.openedAt }, this.#moment);
  }

  /** [R2149] A turn that ended without a stop was interrupted, unless it only continues in another or was a run that is done. */
  #status(facts: StepFacts, after: EndFacts | undefined): TimelineStatus {
    if (facts.state === "open") return this.#isOver(facts) ? "interrupted" : "working";
    const run = this.#facts.runEnds.get(facts.id);
    if (facts.isFailed || run === "failed") return "failed";
    if (run === "done") return "completed";
    return after === undefined || isStop(after) || this.#facts.continued.has(facts.id)
      ? "completed"
      : "interrupted";
  }

  #back({ seq, step, at }: Happening): TimelineRow | undefined {
    const facts = this.#facts.steps.get(step);
    const end = this.#end(seq);
    if (facts === undefined || end === undefined) return undefined;
    const { db } = this.#context.store;
    const target = backTarget(db, facts);
    return {
      ...this.#pointFields(end),
      ...this.#changed(
        facts.kind === "merge"
          ? (this.#facts.changes.get(facts.id) ?? [])
          : (this.#facts.backs.get(seq) ?? []),
      ),
      ...this.#sides(this.#end(facts.before), end),
      kind: facts.kind as "restore" | "revert" | "reset" | "switch" | "merge",
      title: backTitle(db, facts, target),
      ...(target && { target: target.id }),
      at,
      state: facts.state,
      undoneAt: facts.undoneAt,
      ...(facts.undoneBy !== null && { undoneBy: facts.undoneBy }),
      pruned: facts.pruned,
    };
  }

  #point({ seq }: Happening): TimelineRow | undefined {
    const end = this.#end(seq);
    if (end === undefined) return undefined;
    return {
      ...this.#pointFields(end),
      ...this.#changed(this.#facts.outside.get(seq) ?? []),
      kind: pointKind(end.kind),
      title: pointTitle(end),
    };
  }

  #capture({ seq }: Happening): TimelineRow | undefined {
    const end = this.#end(seq);
    if (end === undefined) return undefined;
    return {
      ...this.#pointFields(end),
      ...this.#changed(this.#facts.found.get(seq) ?? []),
      kind: captureKind(end.kind),
      title: pointTitle(end),
    };
  }

  #hand({ seq, captures }: Happening): TimelineRow | undefined {
    const end = this.#end(seq);
    if (end === undefined) return undefined;
    const before = this.#previous(captures.at(-1)!);
    const changes = captures.toReversed().flatMap((capture) => this.#facts.outside.get(capture) ?? []);
    const path = onlyFile(changes);
    const isByHand = !this.#facts.wasAgentAbout(captures) && !this.#wasPaused(before, end);
    return {
      ...this.#pointFields(end),
      ...this.#changed(changes),
      ...this.#sides(before, end),
      // annotations of the checkpoint belong to what it was taken for
      ...annotationsOf(undefined),
      kind: "hand",
      title: isByHand ? "Changed by hand" : "Changed outside any agent",
      ...(path !== undefined && { path }),
      thread: null,
      agent: null,
      session: null,
      approved: false,
    };
  }

  /** During a pause agents may have written too. */
  #wasPaused(before: EndFacts | undefined, { at }: EndFacts): boolean {
    return this.#facts.paused().some(({ from, until }) => from < at && until > (before?.at ?? 0));
  }

  #end(seq: number | null): EndFacts | undefined {
    return seq === null ? undefined : this.#facts.ends.get(seq);
  }

  #previous(seq: number): EndFacts | undefined {
    return this.#end(this.#facts.previous.get(seq) ?? null);
  }

  /** What rows of one checkpoint have in common. */
  #pointFields(end: EndFacts): Omit<TimelineRow, "kind" | "title" | keyof Changed> {
    const { thread, session } = end;
    return {
      ...annotationsOf(end),
      ...this.#sides(this.#previous(end.seq), end),
      seq: end.seq,
      id: end.id,
      ref: String(end.seq),
      thread,
      agent: thread === null ? null : (this.#facts.agents.get(thread) ?? null),
      session,
      at: end.at,
      endedAt: end.at,
      state: "applied",
      status: null,
      undoneAt: null,
      approved: end.kind === "approve",
      pruned: false,
      steps: 0,
      late: this.#facts.doubts.get(end.seq) ?? 0,
    };
  }
  #sides(before: EndFacts | undefined, after: EndFacts | undefined): Sides {
    const { present } = this.#request;
    const isNow = (end: EndFacts | undefined) => (present === undefined ? null : end?.snapshot === present);
    return {
      before: before?.id ?? null,
      after: after?.id ?? null,
      damaged: [before, after].some((end) => end !== undefined && this.#facts.damaged.has(end.id)),
      sameAsNow: isNow(after),
      beforeSameAsNow: isNow(before),
    };
  }

  #changed(changes: readonly ListedChange[]): Changed {
    const edits = netChanges(changes);
    const shared = new Set(changes.flatMap(({ path, shared: isShared }) => (isShared ? [path] : [])));
    return {
      ...this.#request.lines.count(edits),
      shared: edits.filter(({ path }) => shared.has(path)).length,
      gaps: edits.filter(({ to }) => to?.kind === "gap").length,
    };
  }
}

type Sides = Pick<TimelineRow, "before" | "after" | "damaged" | "sameAsNow" | "beforeSameAsNow">;
type Changed = TimelineCounts & Pick<TimelineRow, "shared" | "gaps">;

function annotationsOf(end: EndFacts | undefined): Pick<TimelineRow, "name" | "note" | "tags"> {
  return { name: end?.name ?? null, note: end?.note ?? null, tags: end?.tags ?? [] };
}

/** The one file that was changed; undefined where there are several, or none. */
function onlyFile(changes: readonly ListedChange[]): string | undefined {
  const files = netChanges(changes).filter(({ from, to }) => isLeaf(from) || isLeaf(to));
  return files.length === 1 ? displayPath(files[0]!.path) : undefined;
}
