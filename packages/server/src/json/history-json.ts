/** The timeline in the contract's shape. */
import type { TimelinePage, TimelineRow, TimelineStep } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { isoTime, optionalTime } from "./thread-json.ts";

/** One page of what happened. */
export function historyJson({ rows, next, total, days, now }: TimelinePage): Json<typeof shapes.history> {
  return {
    rows: rows.map(historyRowJson),
    next,
    total,
    days,
    now: now === null ? null : { ...now, at: isoTime(now.at) },
  };
}

/** Something that happened. */
export function historyRowJson(row: TimelineRow): Json<typeof shapes.historyRow> {
  return {
    ...row,
    at: isoTime(row.at),
    endedAt: optionalTime(row.endedAt),
    undoneAt: optionalTime(row.undoneAt),
  };
}

/** What one tool call changed. */
export function historyStepJson(step: TimelineStep): Json<typeof shapes.historyStep> {
  return { ...step, at: isoTime(step.at) };
}
