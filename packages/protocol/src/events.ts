/** What the resident process tells those who listen. Field names are the contract's, snake_case where it has them so. */
import type { z } from "zod";
import type { checkpoint, outcome } from "./shapes.ts";

type Checkpoint = z.infer<typeof checkpoint>;

/** In every event that is about something in particular. */
interface Place {
  readonly workspace: string;
  /** null: about the workspace as a whole */
  readonly thread: string | null;
}

export type BelayEvent =
  | (Place & {
      type: "user" | "assistant";
      content: string;
      checkpoint: string | null;
      session: string | null;
      dialog_id: string;
    })
  | (Place & { type: "file_edit"; file: string; diff: string | null; dialog_id: string })
  | (Place & { type: "checkpoint_created" | "checkpoint_updated"; checkpoint: Checkpoint })
  | (Place & { type: "checkpoint_deleted"; checkpoint_id: string })
  | (Place & { type: "restore_started"; checkpoint_id: string | null })
  | (Place & { type: "restore_progress"; done: number; total: number })
  | (Place & { type: "restore_finished"; outcome: z.infer<typeof outcome> })
  | (Place & { type: "restore_conflicts"; conflicts: readonly { path: string }[] })
  | (Place & { type: "session_approved"; session: string | null; new_session: string; approved: string })
  | (Place & { type: "session_reset"; session: string | null; new_session: string; reset_to: string })
  | (Place & { type: "undo" | "redo"; steps: readonly { kind: string; description: string }[] })
  | (Place & { type: "coverage_gap"; gaps: readonly { path: string; reason: string }[] })
  | (Place & { type: "resident_status"; watching: boolean; reason: string | null })
  | (Place & { type: "done" })
  | (Place & { type: "error"; code: string; message: string })
  /** What came before can no longer be told: read the lists again. */
  | { type: "resync" };
