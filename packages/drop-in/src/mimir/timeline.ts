/** Snapshots with the agents that began there, and what changed. */
import type { AgentRun, Checkpoint, ThreadId } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { fileChanges } from "./differences.ts";
import { idOf, snapshotOf } from "./snapshot.ts";
import type { AgentActivity, SnapshotTimeline } from "./types.ts";

/** What a timeline is made of: the snapshots, newest first. */
interface TimelineFacts {
  readonly thread: ThreadId;
  readonly listed: readonly Checkpoint[];
  readonly now: number;
}

/** The timeline of a conversation. */
export function timelineOf(
  workspace: SyncWorkspace,
  { thread, listed, now }: TimelineFacts,
): SnapshotTimeline {
  const runs = workspace.turns.agents(thread);
  return {
    snapshots: listed.map((checkpoint, at) => {
      const before = listed[at + 1];
      const agents = runs
        .filter((run) => run.checkpoint === checkpoint.id)
        .map((run) => activityOf(run, { checkpoint, listed, now }));
      return {
        snapshot: snapshotOf(workspace, checkpoint),
        ...(agents.length > 0 && { agents }),
        fileChanges: before === undefined ? [] : fileChanges(workspace, before.id, checkpoint),
      };
    }),
    currentSnapshotId: currentOf(workspace, listed),
  };
}

function activityOf(
  run: AgentRun,
  { checkpoint, listed, now }: { checkpoint: Checkpoint } & Pick<TimelineFacts, "listed" | "now">,
): AgentActivity {
  const { id, role, status, startedAt, endedAt } = run;
  const after = listed.findLast(
    ({ seq, createdAt }) => seq > checkpoint.seq && endedAt !== null && createdAt >= endedAt,
  );
  return {
    agentId: id,
    role,
    startTime: new Date(startedAt),
    endTime: new Date(endedAt ?? now),
    status,
    snapshotsBefore: [idOf(checkpoint)],
    snapshotsAfter: after === undefined ? [] : [idOf(after)],
  };
}

/** After a restore the files are what a snapshot has, until something else is captured. */
function currentOf(workspace: SyncWorkspace, listed: readonly Checkpoint[]): string {
  const [newest] = listed;
  if (newest === undefined) return "";
  const head = workspace.resolve("@");
  const restored =
    head.kind === "restore" ? listed.find(({ snapshot }) => snapshot === head.snapshot) : undefined;
  return idOf(restored ?? newest);
}
