/** What does an event say? Checkpoints and messages as they are now; diffs are made for the reader. */
import { fromNames } from "../diff/unified.ts";
import { describeChange } from "./thread-file-edits.ts";
import { below, displayAbsolute } from "../fs/absolute-path.ts";
import { findCheckpointsWhere } from "../history/checkpoints.ts";
import { readMessage } from "../history/messages.ts";
import type { EventRow } from "../history/events.ts";
import { displayPath, pathFromBytes, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { EventDetail, WorkspaceEvent } from "../model/event.ts";
import type { Context } from "../capture/context.ts";

/** Longer texts are left out of events, which are kept for every reader; other requests have them whole. */
const MOST_CHARACTERS = 32 * 1024;

/** An event as readers get it. */
export function describeEvent(context: Context, row: EventRow): WorkspaceEvent {
  const { seq, at, thread } = row;
  return { seq, at, thread, ...detailOf(context, row) };
}

function detailOf(context: Context, { type, data }: EventRow): EventDetail {
  switch (type) {
    case "file_edit":
      return fileEdit(context, data as unknown as FileEditRow);
    case "user":
    case "assistant":
      return message(context, type, String(data["message"]));
    case "checkpoint_created":
    case "checkpoint_updated": {
      const [checkpoint] = findCheckpointsWhere(context.store.db, "c.id = ?", String(data["checkpoint"]));
      return { type, checkpoint: checkpoint ?? null };
    }
    default:
      return { type, ...data } as EventDetail;
  }
}

function message({ store }: Context, type: "user" | "assistant", id: string): EventDetail {
  const told = readMessage(store.db, id);
  const content = told?.content ?? "";
  return {
    type,
    content: content.slice(0, MOST_CHARACTERS),
    truncated: content.length > MOST_CHARACTERS,
    messageId: told?.externalId ?? id,
    checkpoint: told?.checkpoint ?? null,
    session: told?.session ?? "session_1",
  };
}

interface FileEditRow {
  /** seq */
  readonly checkpoint: number;
  /** base64 */
  readonly path: string;
}

function fileEdit(context: Context, { checkpoint, path: encoded }: FileEditRow): EventDetail {
  const path = pathFromBytes(Buffer.from(encoded, "base64"));
  const file = displayAbsolute(below(context.workingCopy.root, path));
  return { type: "file_edit", file, path: displayPath(path), diff: diffOf(context, checkpoint, path) };
}

/** null when the change is no longer known, or has no text to show. */
function diffOf({ store }: Context, seq: number, path: BytePath): string | null {
  try {
    const diff = fromNames(describeChange(store, seq, path)?.diff);
    return diff !== null && diff.length > MOST_CHARACTERS ? null : diff;
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}
