/** What a person should know before an undo: what it cannot take back, and what it leaves unapproved. */
import type { Context } from "../capture/context.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { countPausedTurns } from "../history/paused-stretches.ts";
import { countLateTurns } from "../history/late-doubts.ts";
import { approvedStretches } from "../history/sessions.ts";
import type { Step } from "../history/step-rows.ts";
import { listUncaptured } from "../history/uncaptured.ts";
import type { ThreadId } from "../model/ids.ts";

/** The warnings of an undo of these steps. */
export function undoWarnings(context: Context, steps: readonly Step[]): string[] {
  return [
    ...approvalWarnings(context, steps),
    ...uncapturedWarnings(context, steps),
    ...pausedWarnings(context, steps),
    ...lateWarnings(context, steps),
  ];
}

/** What to tell the user where there is nothing to undo. */
export function nothingToUndoWarnings(context: Context, thread: ThreadId | undefined): string[] {
  const { db } = context.store;
  const turns = (found: number) => (found === 1 ? "1 turn was" : `${found} turns were`);
  const late = countLateTurns(db, 0, thread);
  const lost = listUncaptured(db, thread).length + context.unrecorded().length;
  return [
    late > 0 &&
      `${turns(late)} captured too late to be undone; what was there before is in the checkpoints (\`belay list\`)`,
    lost > 0 &&
      `${turns(lost)} not captured and cannot be undone; what was there before is in the checkpoints (\`belay list\`)`,
  ].filter((warning) => warning !== false);
}

/** [R125] The newest turns may have been captured too late: the undo takes another step, and says so. */
function lateWarnings({ store: { db } }: Context, steps: readonly Step[]): string[] {
  const since = Math.min(...steps.map(({ before }) => before ?? Infinity));
  const turns = since === Infinity ? 0 : countLateTurns(db, since, undefined);
  if (turns === 0) return [];
  return [
    `${turns === 1 ? "1 turn since then was" : `${turns} turns since then were`} captured too late: what ${turns === 1 ? "it" : "they"} changed is not taken back (\`belay list\`)`,
  ];
}

/** Undo may go back behind an approval; what it leaves is unapproved. */
function approvalWarnings({ store }: Context, steps: readonly Step[]): string[] {
  return steps
    .filter(({ thread, after }) => {
      if (thread === null || after === null) return false;
      return approvedStretches(store.db).some(
        (each) => each.thread === thread && each.base < after && after <= each.approved,
      );
    })
    .map(({ description }) => `"${description}" was approved; without it the state is unapproved`);
}

/** [R153] The newest change may belong to an uncaptured turn: the undo takes another step, and says so. */
function uncapturedWarnings({ store: { db }, unrecorded }: Context, steps: readonly Step[]): string[] {
  const since = Math.min(...steps.map(({ before }) => before ?? Infinity));
  const recorded = listUncaptured(db, undefined).filter(({ after }) => after >= since);
  const waiting = unrecorded().length;
  const lost = recorded.length + waiting;
  if (lost === 0) return [];
  const turns = lost === 1 ? "1 turn since then was" : `${lost} turns since then were`;
  // `list` has them once they are recorded
  const where = waiting > 0 ? "doctor" : "list";
  return [
    `${turns} not captured: what ${lost === 1 ? "it" : "they"} changed is not taken back (\`belay ${where}\`)`,
  ];
}

/** [R144] The newest turns may not be steps: the undo takes another step, and says so. */
function pausedWarnings({ store: { db } }: Context, steps: readonly Step[]): string[] {
  const befores = steps.flatMap(({ before }) => before ?? []);
  const since = befores.length === 0 ? undefined : checkpointAt(db, Math.min(...befores));
  const turns = since === undefined ? 0 : countPausedTurns(db, since.createdAt);
  if (turns === 0) return [];
  return [
    `${turns === 1 ? "1 turn since then was" : `${turns} turns since then were`} made while captures were paused, and cannot be undone`,
  ];
}
