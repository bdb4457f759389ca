/** Forgets what a person named: a checkpoint by any reference, else a path. */
import { resolveCheckpoint } from "../history/references.ts";
import { isEngineError } from "../model/errors.ts";
import type { ForgetReport } from "../model/reports.ts";
import { forgetCheckpoint, forgetPath, type ForgetOptions } from "../upkeep/forget.ts";
import { parsePath } from "../model/workspace-path.ts";
import type { Context } from "../capture/context.ts";

/** Throws `CHECKPOINT_NOT_FOUND` when it is neither. A path that looks like a reference is written `./path`. */
export function forgetTarget(
  { store, system }: Context,
  target: string,
  options: ForgetOptions,
): ForgetReport {
  try {
    return forgetCheckpoint(store, system, resolveCheckpoint(store.db, target), options.dryRun);
  } catch (error) {
    if (!isEngineError(error, "CHECKPOINT_NOT_FOUND")) throw error;
    const report = forgetPath(store, system, parsePath(target), options);
    // what was never captured can still be kept out
    if (report.checkpoints.length === 0 && !options.always) throw error;
    return report;
  }
}
