/** Going back to a checkpoint, told in Code Buddy's words. */
import {
  displayPath,
  EngineError,
  type Checkpoint as Taken,
  type Outcome,
  type RestoreOptions,
} from "@belay/engine";
import { messageOf, type Root } from "../frame/root.ts";
import { checkpointOf, type Checkpoint, type Rewound } from "./checkpoint.ts";

/**
 * Restores strictly: everything, or nothing and why. `paths`: only these files. `also`: files that the checkpoint knows
 * nothing of.
 */
export function rewindTo(
  root: Root,
  taken: Taken,
  { paths, also = [] }: Pick<RestoreOptions, "paths" | "also"> = {},
): Rewound {
  const checkpoint = checkpointOf(root, taken);
  try {
    const differing = paths && new Set(pathsSince(root, taken));
    const chosen = differing && paths.filter((path) => differing.has(path));
    if (chosen?.length === 0) return { success: true, restored: [], errors: [], checkpoint };
    const options = { also, ...(chosen && { paths: chosen }) };
    return told(root, root.workspace.restoreTo(taken.id, options), checkpoint);
  } catch (error) {
    root.log("error", "rewind", { reason: messageOf(error) });
    return { success: false, restored: [], errors: reasons(error), checkpoint };
  }
}

/** What was written, and "Deleted: …" for what was removed. */
function told(root: Root, outcome: Outcome, checkpoint: Checkpoint): Rewound {
  if (outcome.outcome === "conflicts") {
    const errors = outcome.conflicts.map(({ path, reason }) => `${root.absolute(path)}: ${reason}`);
    return { success: false, restored: [], errors, checkpoint };
  }
  const restored = outcome.plan.edits
    .filter(({ from, to }) => (to ?? from)?.kind !== "directory")
    .map(({ path, to }) => (to === undefined ? `Deleted: ${root.absolute(path)}` : root.absolute(path)));
  return { success: true, restored, errors: [], checkpoint };
}

/** What differs from the checkpoint now: only that can go back. */
function pathsSince(root: Root, { id }: Taken): string[] {
  const { files } = root.workspace.diff({ from: id, detail: "names" });
  return files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])).map(displayPath);
}

function reasons(error: unknown): string[] {
  if (error instanceof EngineError && error.code === "PREFLIGHT_FAILED")
    return (error as EngineError<"PREFLIGHT_FAILED">).facts.problems.map(
      ({ path, reason }) => `${path}: ${reason}`,
    );
  return [messageOf(error)];
}
