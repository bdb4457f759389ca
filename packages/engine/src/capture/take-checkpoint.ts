/** Takes a checkpoint in one call. */
import { insertNamedPaths } from "../history/named-paths.ts";
import type { Recorded, Recording } from "../history/record.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
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

/**
 * Names paths that a tool is about to write: captured from now on, and known absent before if they are absent now,
 * like the directories that will have to be made for them.
 */
export function namePaths(
  { store }: Context,
  paths: readonly BytePath[],
  isThere: (path: BytePath) => boolean,
): void {
  const missing = paths.flatMap(ancestorPaths).filter((directory) => !isThere(directory));
  insertNamedPaths(store.db, [...paths, ...missing], isThere);
}
