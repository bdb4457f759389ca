/**
 * Edits that can be aborted: before a tool writes, the state of the files is saved; when the tool fails, the
 * files of that edit are put back exactly. An edit takes no checkpoint unless the policy asks for one: the
 * open edit itself holds the state it began with.
 */
import { headSeq } from "../history/line.ts";
import type { Recorded } from "../history/record.ts";
import { openTurnOf } from "../history/step-rows.ts";
import {
  callsWithin,
  closeCall,
  findOpenCall,
  openCall,
  saveState,
  type ToolCall,
} from "../history/tool-calls.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { beginTool, endTool } from "./tools.ts";
import { isTrigger } from "./turns.ts";

/** What is known of an edit when it begins. */
export interface EditFacts {
  readonly paths: readonly BytePath[];
  readonly tool: string;
  readonly within: string | null;
}

/** Announces an edit; its files are safe once this returns. */
export function startEdit(context: Context, thread: ThreadId, { paths, tool, within }: EditFacts): string {
  const { store, system } = context;
  const id = system.newId();
  const isOuter = within === null && isTrigger(context, "tool");
  if (isOuter) beginTool(context, thread, { tool, toolUseId: id, paths, nature: "edit" });
  withCapture(context, { unlimited: new Set(paths) }, (capture) => {
    capture.store();
    const saved = capture.present;
    if (isOuter) return saveState(store.db, id, saved);
    openCall(store.db, {
      id,
      thread,
      step: openTurnOf(store.db, thread)?.id ?? null,
      agent: null,
      tool,
      paths,
      captured: false,
      within,
      nature: "edit",
      background: false,
      since: headSeq(store.db),
      openedAt: system.now(),
      saved,
    });
  });
  return id;
}

/** Ends an edit whose tool has finished. Several edits within one leave one checkpoint. */
export function finalizeEdit(context: Context, id: string): Recorded | undefined {
  const { store, system } = context;
  const { call: edit } = findEdit(context, id);
  if (edit.captured) return endTool(context, edit.thread, { toolUseId: id });
  const close = () => closeCall(store.db, edit, system.now());
  if (edit.within !== null || callsWithin(store.db, id).length === 0) {
    store.db.transaction(close);
    return undefined;
  }
  return withCapture(context, {}, (capture) => {
    const recorded = capture.record({
      request: { kind: "tool", phase: "after", thread: edit.thread, tool: edit.tool, toolUseId: id },
      description: `After ${edit.tool}`,
    });
    close();
    return recorded;
  });
}

/** An open edit and the edits within it. */
export interface OpenEditCalls {
  readonly call: ToolCall;
  readonly parts: readonly ToolCall[];
  readonly paths: readonly BytePath[];
}

/** The open edit with this id. */
export function findEdit({ store: { db } }: Context, id: string): OpenEditCalls {
  const call = findOpenCall(db, id);
  if (call === undefined) throw editNotFound(id);
  const parts = callsWithin(db, id).flatMap((part) => [part, ...callsWithin(db, part.id)]);
  return { call, parts, paths: [...new Set([call, ...parts].flatMap(({ paths }) => paths))] };
}

/** The error for an id that belongs to no open edit. */
export function editNotFound(id: string): EngineError<"EDIT_NOT_FOUND"> {
  return new EngineError("EDIT_NOT_FOUND", `There is no open edit "${id}". Nothing was changed.`, {
    edit: id,
  });
}
