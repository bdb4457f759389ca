import type { HistoryRow } from "../data/history.ts";
import { targetOf } from "../timeline/row-text.ts";
import type { PlanRequest } from "./request.ts";

/** Opens the preview of going back to the state of a row. */
export function restoreTo(row: HistoryRow, plan: (request: PlanRequest) => void): void {
  const target = targetOf(row);
  if (target === undefined) return;
  plan({
    kind: "restore",
    target: target.checkpoint,
    name: target.name,
    at: target.at,
    note: row.note,
    ...(row.kind === "turn" && row.thread && { thread: row.thread }),
  });
}
