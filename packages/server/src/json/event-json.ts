/** The engine's events as the contract names them. */
import type { WorkspaceEvent } from "@belay/engine";
import type { BelayEvent } from "@belay/protocol";
import { checkpointJson } from "./checkpoint-json.ts";

/** An event as the contract shows it. */
export function eventJson(event: WorkspaceEvent, workspace: string): BelayEvent {
  const { seq: _, at, ...rest } = event;
  const place = { workspace, dialog_id: event.thread, at: new Date(at).toISOString() };
  switch (rest.type) {
    case "checkpoint_created":
    case "checkpoint_updated":
      return {
        ...rest,
        ...place,
        checkpoint: rest.checkpoint === null ? null : checkpointJson(rest.checkpoint, { workspace }),
      };
    case "capture_paused":
      return { ...rest, ...place, until: new Date(rest.until).toISOString() };
    case "sync_failed":
      return { ...rest, ...place, retryAt: optionalTime(rest.retryAt) };
    case "share_created":
      return { ...rest, ...place, expiresAt: optionalTime(rest.expiresAt) };
    case "checkpoint_deleted":
      return { ...rest, ...place, checkpoint_id: rest.checkpointId };
    case "session_approved":
      return { ...rest, ...place, type: rest.type, new_session: rest.newSession, approved: rest.checkpoint };
    case "session_reset":
      return { ...rest, ...place, type: rest.type, new_session: rest.newSession, reset_to: rest.checkpoint };
    default:
      return { ...rest, ...place };
  }
}

function optionalTime(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString();
}
