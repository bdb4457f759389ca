/** The part of a workspace that tells what happens in it. */
import type { Thread } from "../../model/checkpoint.ts";
import type { EventOptions, WorkspaceEvent } from "../../model/event.ts";
import type { AfterRestore } from "../../model/plan.ts";

/** What a host does after words of this thread were forgotten. */
export type AfterForget = (thread: Pick<Thread, "agent" | "externalId">) => Promise<void>;

/** What happens in the workspace, for readers and for hosts that act on it; `workspace.events`. */
export interface Events {
  /** Everything that happens here, by any process, as it happens; from the moment of the call. */
  read(options?: EventOptions): AsyncIterable<WorkspaceEvent>;
  /** Sets what the host does each time files went back; what it returns is added to the outcome's notices. */
  afterRestore(work: AfterRestore): void;
  /** Sets what the host does each time words were forgotten: it may hold copies of them outside the store. */
  afterForget(work: AfterForget): void;
}
