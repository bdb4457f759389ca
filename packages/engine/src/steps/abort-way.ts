/** The way back of a failed edit: its files are put back exactly as they were when it began. */
import type { Context } from "../capture/context.ts";
import { absenceProof } from "../capture/proven-changes.ts";
import { openTurnOf } from "../history/step-rows.ts";
import { closeCall, readSavedState, type ToolCall } from "../history/tool-calls.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EMPTY_PLAN } from "../model/plan.ts";
import type { PlanDraft, WayBack } from "../restore/go-back.ts";
import { planRestoreEdits } from "../restore/plan-restore.ts";
import { editNotFound, type OpenEditCalls } from "./edits.ts";
import type { Present } from "../capture/look.ts";
import { ChosenPaths } from "../rules/chosen-paths.ts";

/** Puts the files of an open edit back. Half-written content is in the safety checkpoint. */
export function abortWay({ call, parts, paths }: OpenEditCalls): WayBack {
  const { thread, tool } = call;
  return {
    safety: { thread, description: `Before aborting ${tool}` },
    look: () => ({ unlimited: new Set(paths) }),
    plan: (context, { present }) => planAbort(context, { call, paths, present }),
    isWorthDoing: ({ edits, conflicts }) => edits.length > 0 && conflicts.length === 0,
    finish({ store }, { description }) {
      const turn = openTurnOf(store.db, thread)?.id ?? call.step;
      const within = turn === null ? {} : { within: turn };
      return { kind: "restore", description, thread, target: null, step: null, ...within, moved: [] };
    },
    end({ store: { db }, system }, outcome) {
      if (outcome.outcome !== "conflicts")
        db.transaction(() => [call, ...parts].forEach((each) => closeCall(db, each, system.now())));
      return outcome;
    },
  };
}

function planAbort(
  context: Context,
  { call, paths, present }: { call: ToolCall; paths: readonly BytePath[]; present: Present },
): PlanDraft {
  const saved = readSavedState(context.store.db, call);
  if (saved === undefined) throw editNotFound(call.id);
  const { edits, kept, conflicts } = planRestoreEdits({
    objects: present.objects,
    present: present.snapshot,
    target: saved.snapshot,
    wasAbsent: absenceProof(context.store.objects, saved),
    excluded: present.excludedRoots,
    chosen: new ChosenPaths(paths, () => true),
    keepNew: false,
  });
  return {
    ...EMPTY_PLAN,
    kind: "restore",
    description: `Aborted ${call.tool}`,
    checkpoint: null,
    thread: call.thread,
    base: present.snapshot,
    edits,
    kept,
    conflicts,
  };
}
