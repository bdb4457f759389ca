/** The status of a workspace in the contract's shape. */
import type { Pause, StepSummary, SyncState, WorkspaceStatus } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { checkpointJson, gitJson } from "./checkpoint-json.ts";
import { fileChangeJson } from "./diff-json.ts";
import { listField } from "./list-field.ts";
import { withPathJson } from "./path-json.ts";
import { isoTime, optionalTime } from "./thread-json.ts";
import { stepJson } from "./step-json.ts";

/** Whether the resident process serves a workspace; `watching`: captures cost what changed. */
export type ResidentStatus = Json<typeof shapes.residentStatus>;

/** The resident process is not running. */
export const NO_RESIDENT: ResidentStatus = { running: false, pid: null, watching: false };

/** The status of a workspace. */
export function statusJson(
  status: WorkspaceStatus,
  { resident }: { resident: ResidentStatus },
): Json<typeof shapes.status> {
  const { newest, session, changedFiles } = status;
  return {
    workspace: status.id,
    path: status.root,
    exists: status.exists,
    store: status.store,
    thread: status.thread?.id ?? null,
    session: session?.session ?? null,
    hasUnapproved: session?.hasUnapproved ?? null,
    // with a thread: what is unapproved in it; otherwise what changed since the newest checkpoint
    ...listField("changedFiles", (session?.changedFiles ?? changedFiles).map(fileChangeJson)),
    ...listField("sinceNewest", changedFiles.map(fileChangeJson)),
    // null = unknown
    changes: status.changes,
    ...listField("gaps", status.gaps.map(withPathJson)),
    ...listField("excluded", status.excluded.map(withPathJson)),
    resident,
    disk: { ...status.disk, fullSince: optionalTime(status.disk.fullSince) },
    damage: status.damage === null ? null : { ...status.damage, at: isoTime(status.damage.at) },
    checkpoints: status.checkpoints,
    newest: newest === null ? null : checkpointJson(newest, { workspace: status.id }),
    canUndo: optionalStep(status.canUndo),
    canRedo: optionalStep(status.canRedo),
    branch: status.branch,
    git: gitJson(status.git),
    forks: status.forks,
    runs: status.runs,
    sync: status.sync.map(syncStateJson),
    openConflicts: status.openConflicts,
    undoDropped: status.undoDropped,
    pausedTurns: status.pausedTurns,
    paused: pauseJson(status.paused),
    warnings: status.warnings,
  };
}

/** How a remote stands, in the contract's shape. */
function syncStateJson({ pushedAt, pulledAt, ...facts }: SyncState): Json<typeof shapes.syncState> {
  const iso = (moment: number | null) => (moment === null ? null : isoTime(moment));
  return { ...facts, lastPushedAt: iso(pushedAt), lastPulledAt: iso(pulledAt) };
}

/** A pause in the contract's shape. */
export function pauseJson(pause: Pause | null): Json<typeof shapes.pause> | null {
  const iso = (moment: number) => new Date(moment).toISOString();
  return pause === null ? null : { since: iso(pause.since), until: iso(pause.until) };
}

function optionalStep(step: StepSummary | null) {
  return step === null ? null : stepJson(step);
}
