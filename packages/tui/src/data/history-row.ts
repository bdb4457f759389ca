/** What happened, as the protocol tells it. */
import type { CallOutput } from "@belay/protocol";

/** Something that happened. `ref` names it and no other row. */
export type HistoryRow = CallOutput<"GET /api/history">["rows"][number];

/** The files on disk, compared with the newest checkpoint. */
export type Now = NonNullable<CallOutput<"GET /api/history">["now"]>;

/** One tool call that changed something. */
export type HistoryStep = CallOutput<"GET /api/history/:seq/steps">["steps"][number];

/** A turn that was not captured; it came after the checkpoint `after`. */
export type UncapturedTurn = CallOutput<"GET /api/history">["uncaptured"][number];

/** What the pointer stands on: a row, or one of its steps. */
export interface Chosen {
  readonly row: HistoryRow;
  readonly step?: HistoryStep | undefined;
}
