/** The timeline in the contract's shape. */
import type { TimelineNow, TimelinePage, TimelineRow, TimelineStep } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { isoTime, optionalTime, uncapturedJson } from "./thread-json.ts";

/** One page of the timeline as the contract shows it. */
export function historyJson(page: TimelinePage, event: number): Json<typeof shapes.history> {
  const { rows, next, skipped, total, days, now, uncaptured } = page;
  return {
    rows: rows.map(historyRowJson),
    next,
    skipped,
    event,
    total,
    days,
    now: now === null ? null : nowJson(now),
    uncaptured: uncaptured.map(uncapturedJson),
  };
}

function nowJson(now: TimelineNow) {
  const { at, failing } = now;
  return {
    ...now,
    at: isoTime(at),
    failing: failing === null ? null : { ...failing, since: isoTime(failing.since) },
  };
}

/** A row of the timeline as the contract shows it. */
export function historyRowJson({ damaged, ...row }: TimelineRow): Json<typeof shapes.historyRow> {
  return {
    ...row,
    ...(damaged && { damaged }),
    at: isoTime(row.at),
    endedAt: optionalTime(row.endedAt),
    undoneAt: optionalTime(row.undoneAt),
  };
}

/** What one tool call changed. */
export function historyStepJson(step: TimelineStep): Json<typeof shapes.historyStep> {
  return { ...step, at: isoTime(step.at) };
}
