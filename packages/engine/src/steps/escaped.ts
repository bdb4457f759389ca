/**
 * What changed in the working copy here while runs were at work in forks of it, and no turn made: a run may have left its
 * fork, or a person edited. [R798] It is captured, so that nothing of it is lost.
 */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { pathsFromOutside } from "../history/changes.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { displayPath } from "../model/byte-path.ts";

/** Captures what no checkpoint has yet, and lists the paths that no turn changed since a checkpoint. */
export function escapedSince(context: Context, since: number): string[] {
  const { db } = context.store;
  withCapture(context, {}, (capture) => {
    if (capture.present.snapshot === headCheckpoint(db)?.snapshot) return;
    capture.record({ request: { kind: "safety" }, description: "After a run in a fork" });
  });
  return pathsFromOutside(db, since).map(displayPath);
}
