/** Forgets what a person named: a checkpoint by any reference, else a path, in the workspace or outside. */
import { resolveCheckpoint } from "../history/references.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { isAtOrBelow, pathFromText, type BytePath } from "../model/byte-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { ForgetReport } from "../model/reports.ts";
import type { ForgetRequest } from "../model/exchange.ts";
import { contentsAt, contentsOnlyIn } from "../upkeep/forget-contents.ts";
import { forgetCheckpoint, forgetPath, type ForgetOptions } from "../upkeep/forget.ts";
import { parsePath, pathInside } from "../model/workspace-path.ts";
import type { Context } from "../capture/context.ts";
import { pathsInStages } from "../restore/recover.ts";

/** Throws `CHECKPOINT_NOT_FOUND` when it is neither. A path that looks like a reference is written `./path`. */
export function forgetTarget(context: Context, target: string, options: ForgetOptions): ForgetReport {
  const { store, system, workingCopy } = context;
  try {
    const checkpoint = resolveCheckpoint(store.db, target);
    return { ...forgetCheckpoint(store, system, checkpoint, options.dryRun), stillOpen: [] };
  } catch (error) {
    if (!isEngineError(error, "CHECKPOINT_NOT_FOUND")) throw error;
    const path = pathOf(displayAbsolute(workingCopy.root), target, options);
    const report = forgetPath(store, system, path, options);
    // what was never captured can still be kept out
    if (report.checkpoints.length === 0 && !options.always) throw error;
    const forgotten = options.sameContent ? [path, ...report.sameContent] : [path];
    const isForgotten = (each: BytePath) => forgotten.some((one) => isAtOrBelow(each, one));
    return { ...report, stillOpen: pathsInStages(context).filter(isForgotten) };
  }
}

/** [R2027] What a target is to other machines: contents, whatever their paths are there. */
export function findContents({ store }: Context, target: string, always: boolean): ForgetRequest {
  try {
    const checkpoint = resolveCheckpoint(store.db, target);
    return { contents: contentsOnlyIn(store, checkpoint), checkpoint: checkpoint.id, always };
  } catch (error) {
    if (!isEngineError(error, "CHECKPOINT_NOT_FOUND")) throw error;
    return { contents: contentsAt(store, parsePath(target)), checkpoint: null, always };
  }
}

/** A path in the workspace, or an absolute one outside. */
function pathOf(root: string, target: string, { always }: ForgetOptions): BytePath {
  if (!target.startsWith("/")) return parsePath(target);
  const inside = pathInside(root, target);
  if (inside !== undefined) return inside;
  if (!always) return pathFromText(target.replace(/\/+$/, ""));
  throw new EngineError(
    "PATH_OUTSIDE",
    `${JSON.stringify(target)} is outside the workspace and cannot be kept out by its name. Nothing was changed; the setting outside.capture keeps everything outside out.`,
    { path: target },
  );
}
