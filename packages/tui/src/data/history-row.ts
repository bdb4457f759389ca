/** What happened, as the protocol tells it. */
import type { CallOutput } from "@belay/protocol";

/** Something that happened. `ref` names it and no other row. */
export type HistoryRow = CallOutput<"GET /api/history">["rows"][number];

/** The files on disk, compared with the newest checkpoint. */
export type Now = NonNullable<CallOutput<"GET /api/history">["now"]>;

/** One tool call that changed something. */
export type HistoryStep = CallOutput<"GET /api/history/:seq/steps">["steps"][number];
