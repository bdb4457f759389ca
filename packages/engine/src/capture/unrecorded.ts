/** Changes that no checkpoint has yet, attributed as the next capture would attribute them. */
import { asSeen, type Context } from "./context.ts";
import type { Present } from "./look.ts";
import { momentOf } from "./moment.ts";
import { provenChanges } from "./proven-changes.ts";
import { attributeChanges } from "../history/attribution.ts";
import { UNRECORDED, type Change } from "../history/changes.ts";
import { headCheckpointView } from "../history/checkpoints.ts";

/** What changed since the newest checkpoint, and the steps that are at work now. */
export type Unrecorded = ReturnType<typeof attributeChanges>;

/** The state where everything is recorded. */
export const ALL_RECORDED: Unrecorded = { changes: [], windows: [] };

/** What the present has and no checkpoint does. */
export function unrecordedIn(context: Context, present: Present): Unrecorded {
  const { db } = context.store;
  const newest = headCheckpointView(db);
  if (newest === undefined) return ALL_RECORDED;
  const changes = provenChanges(present.objects, asSeen(context, newest), present);
  return attributeChanges(db, changes, momentOf(context));
}

/** The changes that a step would be given; `isShared` says whether other steps share what several may have done. */
export function changesOfStep({ changes, windows }: Unrecorded, step: string, isShared = true): Change[] {
  return changes
    .filter((each) => each.step === step || (each.attribution === "shared" && windows.includes(step)))
    .map(({ path, from, to, attribution, during }) => ({
      checkpoint: UNRECORDED,
      path,
      old: from,
      new: to,
      shared: isShared && attribution === "shared",
      during,
    }));
}

/** The changes that no tool made. */
export function changesOutside({ changes }: Unrecorded): Change[] {
  return changes
    .filter(({ attribution }) => attribution === "outside")
    .map(({ path, from, to }) => ({ checkpoint: UNRECORDED, path, old: from, new: to, shared: false }));
}
