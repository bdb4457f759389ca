/**
 * Edits that can be taken back: before a tool writes, the state of the files is put by; when the tool fails, the files
 * of that edit are put back exactly. Unless the policy asks for it an edit makes no checkpoint: the state
 * it began with is kept by the edit itself, as long as it is open.
 */
import { newestSeq } from "../history/checkpoints.ts";
import type { Recorded } from "../history/record.ts";
import { openTurnOf } from "../history/steps.ts";
import {
  callsWithin,
  closeCall,
  findOpenCall,
  openCall,
  type NewToolCall,
  type ToolCall,
} from "../history/tool-calls.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import { hashFromBytes, hashToBytes } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Outcome, type Plan } from "../model/plan.ts";
import { carryOut, newOperation, withoutEffect, withRestoreLease } from "../restore/carry-out.ts";
import type { Context } from "../capture/context.ts";
import { planRestoreEdits } from "../restore/plan-restore.ts";
import { absenceProof, type RuledSnapshot } from "../capture/proven-changes.ts";
import { takeCheckpoint } from "../capture/take-checkpoint.ts";
import { beginTool, endTool } from "./tools.ts";
import { isTrigger } from "./turns.ts";
import type { Present } from "../capture/look.ts";

export interface EditFacts {
  readonly paths: readonly BytePath[];
  readonly tool: string;
  readonly within: string | null;
}

/** Announces an edit; its files are safe when this returns. */
export function startEdit(context: Context, thread: ThreadId, { paths, tool, within }: EditFacts): string {
  const { store, system } = context;
  const id = system.newId();
  const isOuter = within === null && isTrigger(context, "tool");
  if (isOuter) beginTool(context, thread, { tool, toolUseId: id, paths, nature: "edit" });
  takeCheckpoint(context, {
    request: {},
    description: "",
    look: { unlimited: new Set(paths) },
    unrecorded(present) {
      const saved = savedState(present);
      if (isOuter) return keepState(context, id, saved);
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
        since: newestSeq(store.db),
        openedAt: system.now(),
        saved,
      });
    },
  });
  return id;
}

function savedState({ snapshot, rules, excluded }: Present): NonNullable<NewToolCall["saved"]> {
  return {
    snapshot: hashToBytes(snapshot),
    rules: hashToBytes(rules),
    excluded: hashToBytes(excluded),
  };
}

function keepState({ store }: Context, id: string, saved: NonNullable<NewToolCall["saved"]>): void {
  store.db.run(
    "UPDATE tool_call SET snapshot = ?, rules = ?, excluded = ? WHERE id = ? AND closed_at IS NULL",
    saved.snapshot,
    saved.rules,
    saved.excluded,
    id,
  );
}

/** The tool is done. Several edits within one leave one checkpoint. */
export function finalizeEdit(context: Context, id: string): Recorded | undefined {
  const { store, system } = context;
  const edit = requireEdit(context, id);
  if (edit.captured) return endTool(context, edit.thread, { toolUseId: id });
  const close = () => closeCall(store.db, edit, system.now());
  if (edit.within !== null || callsWithin(store.db, id).length === 0) {
    store.db.transaction(close);
    return undefined;
  }
  return takeCheckpoint(context, {
    request: { kind: "tool", phase: "after", thread: edit.thread, tool: edit.tool, toolUseId: id },
    description: `After ${edit.tool}`,
    within: close,
  });
}

/** Puts the files of an edit back. What was half written is in a safety checkpoint first. */
export function abortEdit(context: Context, id: string): Outcome {
  const { store, system } = context;
  const startedMs = system.elapsed();
  const edit = requireEdit(context, id);
  const parts = [edit, ...partsOf(context, id)];
  const paths = [...new Set(parts.flatMap((part) => part.paths))];
  const outcome = withRestoreLease(context, () => {
    let plan: Plan | undefined;
    const safety = takeCheckpoint(context, {
      request: { kind: "safety", thread: edit.thread },
      description: `Before taking ${edit.tool} back`,
      look: { unlimited: new Set(paths) },
      wanted(present) {
        plan = planAbort(context, { edit, paths, present });
        return plan.edits.length > 0 && plan.conflicts.length === 0;
      },
    });
    if (safety === undefined) return withoutEffect(context, plan!, startedMs);
    const turn = openTurnOf(store.db, edit.thread)?.id ?? edit.step;
    return carryOut(context, {
      plan: plan!,
      safety: safety.checkpoint,
      finish: {
        kind: "restore",
        description: plan!.description,
        thread: edit.thread,
        target: null,
        step: null,
        ...(turn === null ? {} : { within: turn }),
        moved: [],
      },
      bestEffort: false,
      startedMs,
    });
  });
  if (outcome.outcome !== "conflicts")
    store.db.transaction(() => parts.forEach((part) => closeCall(store.db, part, system.now())));
  return outcome;
}

function partsOf({ store }: Context, id: string): ToolCall[] {
  return callsWithin(store.db, id).flatMap((part) => [part, ...callsWithin(store.db, part.id)]);
}

function planAbort(
  context: Context,
  { edit, paths, present }: { edit: ToolCall; paths: readonly BytePath[]; present: Present },
): Plan {
  const saved = readSaved(context, edit);
  const { edits, kept, conflicts } = planRestoreEdits({
    objects: present.objects,
    present: present.snapshot,
    target: saved.snapshot,
    wasAbsent: absenceProof(context.store.objects, saved),
    excluded: present.excludedRoots,
    paths,
    keepNew: false,
  });
  return {
    ...EMPTY_PLAN,
    id: newOperation(context),
    kind: "restore",
    description: `Took ${edit.tool} back`,
    checkpoint: null,
    thread: edit.thread,
    base: present.snapshot,
    edits,
    kept,
    conflicts,
  };
}

function readSaved({ store }: Context, { seq, id }: ToolCall): RuledSnapshot {
  const row = store.db.get("SELECT snapshot, rules, excluded FROM tool_call WHERE seq = ?", seq);
  if (!(row?.["snapshot"] instanceof Uint8Array)) throw notFound(id);
  const name = (column: string) => hashFromBytes(row[column] as Uint8Array);
  return { snapshot: name("snapshot"), rules: name("rules"), excluded: name("excluded") };
}

function requireEdit({ store }: Context, id: string): ToolCall {
  const edit = findOpenCall(store.db, id);
  if (edit === undefined) throw notFound(id);
  return edit;
}

function notFound(id: string): EngineError<"EDIT_NOT_FOUND"> {
  return new EngineError("EDIT_NOT_FOUND", `There is no open edit "${id}". Nothing was changed.`, {
    edit: id,
  });
}
