/** What changed after the undone steps without a tool: it stays, and the plan names it. */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import type { Change } from "../history/changes.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { isCommandRunning } from "../history/liveness.ts";
import { outsideChangesSince, outsidePathsSince, outsideStretchesSince } from "../history/outside-changes.ts";
import { pausedStretches } from "../history/paused-stretches.ts";
import { summaryOf, type Step } from "../history/step-rows.ts";
import { backgroundCalls } from "../history/tool-calls.ts";
import type { BytePath } from "../model/byte-path.ts";
import { isUnseen } from "../model/entry.ts";
import type { BackgroundWork } from "../model/plan.ts";
import type { SelectedSteps } from "./select-steps.ts";

/** Paths that no tool changed since the oldest of these steps. */
export function changedOutside({ store }: Context, { steps, outside }: SelectedSteps): BytePath[] {
  const since = oldestBefore(steps);
  if (!Number.isFinite(since)) return [];
  const recorded = outsidePathsSince(store.db, since);
  // [R1890] what was too large before is read for this plan: that does not change it
  const pending = outside.filter((change) => !isUnseen(change.old, change.new));
  return [...new Set([...recorded, ...pending.map(({ path }) => path)])].sort();
}

/** seq of the checkpoint before the oldest step. */
function oldestBefore(steps: readonly Step[]): number {
  return Math.min(...steps.map(({ before }) => before ?? Infinity));
}

/** [R144] Paths that may have changed during a pause, possibly by a tool whose events are unknown. */
export function changedWhilePaused(
  { store: { db }, system }: Context,
  { steps, outside }: SelectedSteps,
  meanwhile: readonly BytePath[],
): BytePath[] {
  const stretches = meanwhile.length === 0 ? [] : pausedStretches(db);
  if (stretches.length === 0) return [];
  const isIn = ({ after, until }: { after: number; until: number }) =>
    stretches.some((stretch) => stretch.from < until && stretch.until > after);
  const recorded = outsideStretchesSince(db, oldestBefore(steps)).filter(isIn);
  const isPending = isIn({ after: headCheckpoint(db)?.createdAt ?? 0, until: system.now() });
  const paused = new Set([...recorded, ...(isPending ? outside : [])].map(({ path }) => path));
  return meanwhile.filter((path) => paused.has(path));
}

/** [R127] What changed after a turn ended, where a command that the turn left in the background still runs. */
export function backgroundWork(
  context: Context,
  { steps, outside }: SelectedSteps,
  meanwhile: readonly BytePath[],
): BackgroundWork[] {
  const { db } = context.store;
  const moment = momentOf(context);
  const left = new Set(meanwhile);
  return steps.flatMap((step) => {
    if (step.after === null || left.size === 0) return [];
    const call = backgroundCalls(db, step.id).find((each) => isCommandRunning(db, each, moment));
    if (call === undefined) return [];
    const recorded = outsidePathsSince(db, step.after);
    const paths = [...recorded, ...outside.map(({ path }) => path)].filter((path) => left.delete(path));
    return paths.length === 0 ? [] : [{ step: summaryOf(step), tool: call.tool, paths }];
  });
}

/** The changes of background commands, to be taken back with their steps. */
export function backgroundChanges(
  { store }: Context,
  { steps, outside }: SelectedSteps,
  background: readonly BackgroundWork[],
): Change[] {
  const paths = new Set(background.flatMap((work) => work.paths));
  if (paths.size === 0) return [];
  const since = Math.min(...steps.map(({ after }) => after ?? Infinity));
  return [...outsideChangesSince(store.db, since), ...outside].filter(({ path }) => paths.has(path));
}
