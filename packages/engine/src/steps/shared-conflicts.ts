/** Conflicts over changes that several steps may have made: which steps, and how to undo them together. */
import type { Context } from "../capture/context.ts";
import { readWindows, UNRECORDED } from "../history/changes.ts";
import { findStep, listSteps, summaryOf } from "../history/step-rows.ts";
import type { Conflict } from "../model/plan.ts";
import { sharersOf, type SelectedSteps, type StepRequest } from "./select-steps.ts";

/** [R126] Names the steps that a path is shared with, and how many steps are to be undone together. */
export function withSharers(
  { store: { db } }: Context,
  conflict: Conflict,
  { request, selected }: { request: StepRequest; selected: SelectedSteps },
): Conflict {
  if (conflict.reason !== "shared with another thread") return conflict;
  const list = request.kind === "redo" ? "undone" : "applied";
  const windows = selected.changes
    .flat()
    .filter(({ shared, path }) => shared && path === conflict.path)
    .flatMap(({ checkpoint }) =>
      checkpoint === UNRECORDED ? selected.windows : readWindows(db, checkpoint),
    );
  const others = sharersOf(db, list, { windows: [...new Set(windows)], steps: selected.steps });
  const sharedWith = others.flatMap((id) => findStep(db, id) ?? []).map(summaryOf);
  const wanted = new Set([...others, ...selected.steps.map(({ id }) => id)]);
  const changing = list === "applied" ? selected.changing : [];
  const listed = listSteps(db, list, { limit: wanted.size + changing.length }).map(({ id }) => id);
  const last = [...new Set([...changing, ...listed])].slice(0, wanted.size);
  const areLast = request.kind !== "revert" && last.every((id) => wanted.has(id));
  return { ...conflict, sharedWith, together: areLast && last.length === wanted.size ? wanted.size : null };
}
