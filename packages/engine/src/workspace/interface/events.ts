/** The part of a workspace that tells what happens in it. */
import type { Thread } from "../../model/checkpoint.ts";
import type { ThreadId } from "../../model/ids.ts";
import type { EventOptions, WorkspaceEvent } from "../../model/event.ts";
import type { AfterRestore } from "../../model/plan.ts";
import type { CaptureFailure } from "../../model/timeline.ts";

/** What a host does after words of this thread were forgotten. */
export type AfterForget = (thread: Pick<Thread, "agent" | "externalId">) => Promise<void>;

/** Which of these threads were interrupted, and when, as far as their agents recorded it. */
export type Interruptions = (
  threads: readonly Thread[],
) => Promise<readonly { readonly thread: ThreadId; readonly at: number }[]>;

/** Turns that could be neither captured nor recorded yet, and where their agents worked; oldest first. */
export type Unrecorded = () => readonly (CaptureFailure & { readonly directory: string })[];

/** What happens in the workspace, for readers and for hosts that act on it; `workspace.events`. */
export interface Events {
  /** Everything that happens here, by any process, as it happens; from the moment of the call. */
  read(options?: EventOptions): AsyncIterable<WorkspaceEvent>;
  /** The number of the newest event; those after it are what a reader missed. */
  newest(): number;
  /** What happened after an event, as far as it is kept. */
  after(seq: number): WorkspaceEvent[];
  /**
   * Adds to what the host does each time files went back; what it returns is added to the outcome's notices. The answer
   * takes it away again.
   */
  afterRestore(work: AfterRestore): () => void;
  /** Sets whom to ask about interruptions, before each plan that goes back while a tool is under way. */
  askInterruptions(ask: Interruptions): void;
  /** Sets whom to ask about turns that wait to be recorded: `failing` and an undo tell of them meanwhile. */
  askUnrecorded(ask: Unrecorded): void;
  /** Tells readers that the host's search index was compared with the newest checkpoint. */
  indexSynced(synced: {
    readonly checked: number;
    readonly reindexed: number;
    readonly removed: number;
  }): void;
  /** Sets what the host does each time words were forgotten: it may hold copies of them outside the store. */
  afterForget(work: AfterForget): void;
}
