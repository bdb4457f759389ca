/** Takes a checkpoint in one call. */
import type { Recorded, Recording } from "../history/record.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Bounded } from "../model/deadline.ts";
import type { Context } from "./context.ts";
import type { Look, Present } from "./look.ts";
import type { CaptureRecording } from "./record-capture.ts";
import { withCapture } from "./with-capture.ts";

export interface Taken extends Recorded {
  readonly present: Present;
}

export interface TakeOptions extends CaptureRecording, Bounded {
  readonly look?: Look;
  readonly since?: Checkpoint | undefined;
  readonly operation?: NonNullable<Recording["operation"]>;
  readonly ownDoing?: boolean;
  readonly keep?: number;
  within?(recorded: Recorded): void;
  wanted?(present: Present): boolean;
  unrecorded?(present: Present): void;
}

/** Takes a checkpoint; undefined only when `wanted` said no. */
export function takeCheckpoint(
  context: Context,
  options: TakeOptions & { wanted?: undefined; unrecorded?: undefined },
): Taken;
export function takeCheckpoint(context: Context, options: TakeOptions): Taken | undefined;
export function takeCheckpoint(context: Context, options: TakeOptions): Taken | undefined {
  const { look, deadline, since, keep, ownDoing, within, wanted, unrecorded, ...recording } = options;
  return withCapture(context, { ...look, deadline, since, spared: keep }, (capture) => {
    const { present } = capture;
    if (wanted?.(present) === false) return undefined;
    if (unrecorded !== undefined) {
      unrecorded(present);
      capture.store();
      return undefined;
    }
    const recorded = capture.record({ ...recording, ...(ownDoing === true && { madeBy: { step: null } }) });
    within?.(recorded);
    return { ...recorded, present };
  });
}
