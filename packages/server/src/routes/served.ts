/** What handlers share: the host, and how a thread's request becomes work on its workspace. */
import type { Checkpoint, Outcome, ThreadId, Workspace } from "@belay/engine";
import type { HostedWorkspace } from "../hosting/hosted-workspace.ts";
import type { Json, shapes } from "@belay/protocol";
import type { EventStreams } from "../http/sse.ts";
import { untouchedText } from "../json/plan-json.ts";
import { ContractError } from "@belay/protocol/errors";
import type { WorkspaceHost } from "../hosting/workspace-host.ts";

/** What the handlers of a process work on. */
export interface Served extends EventStreams {
  readonly host: WorkspaceHost;
  readonly version: string;
  facts(): Omit<Json<typeof shapes.resident>, "workspaces">;
  /** Whether a workspace is captured automatically: known to those who know agents. */
  capture?: ((workspace: Workspace) => Promise<object>) | undefined;
  stop(): void;
}

/** A thread's request, when everything asked of its workspace before is done. */
export async function inThread<Result>(
  { host }: Served,
  id: string,
  work: (workspace: Workspace, thread: ThreadId, hosted: HostedWorkspace) => Promise<Result>,
): Promise<Result> {
  const hosted = await host.findThread(id);
  return hosted.inTurn(() => work(hosted.workspace, id as ThreadId, hosted));
}

export async function inWorkspace<Result>(
  { host }: Served,
  ref: string | undefined,
  work: (workspace: Workspace, hosted: HostedWorkspace) => Promise<Result>,
): Promise<Result> {
  const hosted = await host.find(ref);
  return hosted.inTurn(() => work(hosted.workspace, hosted));
}

/** A checkpoint of this very thread: another's is not there, whoever knows its id. */
export async function checkpointOf(workspace: Workspace, thread: ThreadId, ref: string): Promise<Checkpoint> {
  const checkpoint = await workspace.resolve(ref);
  if (checkpoint.thread === thread || checkpoint.thread === null) return checkpoint;
  throw new ContractError("CHECKPOINT_NOT_FOUND", `There is no checkpoint ${ref} in this thread.`, {
    facts: { checkpoint: ref },
  });
}

/** Conflicts are an answer of their own: the plan was not carried out, and these paths are why. */
export function assertApplied(outcome: Outcome, report: object): void {
  if (outcome.outcome !== "conflicts") return;
  const message = `Some files changed differently meanwhile. ${untouchedText(outcome)}`;
  throw new ContractError("CONFLICTS", message, { facts: { report } });
}
