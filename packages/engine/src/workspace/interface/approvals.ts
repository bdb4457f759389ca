/** The part of a workspace that approves or resets what a thread did since its approved state. */
import type { DiffDetail } from "../../model/file-change.ts";
import type { ThreadId } from "../../model/ids.ts";
import type { ApplyOptions, Decision, Plan } from "../../model/plan.ts";
import type { Approval, ApproveOptions, ResetOutcome, Session, SessionStatus } from "../../model/session.ts";

/** What a reset takes. */
export interface ResetOptions {
  /** Also changes that cannot be told apart from another thread's. */
  readonly includeShared?: boolean;
  /** Also merges that do not parse, though both sides do. */
  readonly mergeAnyway?: boolean;
}

/** Approval and reset of a thread's work; `workspace.approvals`. */
export interface Approvals {
  /** Compares a thread's approved state with the disk. Writes nothing. `content` also gives the approved texts. */
  session(
    thread: ThreadId,
    options?: { readonly detail?: DiffDetail; readonly content?: boolean },
  ): Promise<SessionStatus>;
  /** All sessions of a thread, oldest first. */
  sessions(thread: ThreadId): Promise<Session[]>;
  /** Makes the present state the approved one. Writes no file and is not a step. */
  approve(thread: ThreadId, options?: ApproveOptions): Promise<Approval>;
  /** What `reset` would do; `workspace.restore(plan)` carries it out. */
  planReset(
    thread: ThreadId,
    options?: ResetOptions & { readonly decisions?: readonly Decision[] },
  ): Promise<Plan>;
  /** Brings what is pending back to the approved state; a step. One conflict changes nothing. */
  reset(thread: ThreadId, options?: ApplyOptions & ResetOptions): Promise<ResetOutcome>;
}
