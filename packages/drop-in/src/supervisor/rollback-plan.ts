/** What a rollback would do, in the supervisor's form. */
import { displayPath, type Checkpoint as Taken, type Edit, type Plan } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { textOf, withLazy } from "../frame/contents.ts";
import { idOf } from "./checkpoint.ts";

/** One file that a rollback changes. Contents are read when they are looked at. */
export interface RollbackOperation {
  type: "restore" | "delete" | "create";
  path: string;
  content?: string;
  fromContent?: string;
}

/** A rollback before it is carried out. */
export interface RollbackPlan {
  checkpointId: string;
  targetCheckpointId?: string;
  operations: RollbackOperation[];
  affectedFiles: string[];
  warnings: string[];
  /** What `executeRollback` carries out: this plan or nothing. */
  planId?: string;
  /** Whose checkpoint it is. */
  sessionId?: string;
  /** Files that stay although the checkpoint does not have them, and why. */
  kept?: { path: string; reason: string }[];
  /** Files that stand in the way. */
  conflicts?: { path: string; reason: string }[];
}

const UNCOMMITTED = "You have uncommitted git changes that may conflict with rollback";

/** A plan of the engine in the supervisor's form. */
export function rollbackPlan(
  workspace: SyncWorkspace,
  { session, target, plan }: { session: string; target: Taken; plan: Plan },
): RollbackPlan {
  const operations = plan.edits.flatMap((edit) => operationOf(workspace, target, edit));
  const isUncommitted = plan.git.target !== null && plan.git.now?.dirty === true;
  const named = ({ path, reason }: { path: Edit["path"]; reason: string }) => ({
    path: displayPath(path),
    reason,
  });
  return {
    checkpointId: idOf(target),
    operations,
    affectedFiles: operations.map(({ path }) => path),
    warnings: [...(isUncommitted ? [UNCOMMITTED] : []), ...plan.warnings],
    planId: plan.id,
    sessionId: session,
    kept: plan.kept.map(named),
    conflicts: plan.conflicts.map(named),
  };
}

function operationOf(workspace: SyncWorkspace, target: Taken, { path, from, to }: Edit): RollbackOperation[] {
  const [before, after] = [from, to].map((entry) => (entry?.kind === "directory" ? undefined : entry));
  if (before === undefined && after === undefined) return [];
  const contentAt = (ref: string | null) => () =>
    textOf(workspace.file(ref, path, Number.POSITIVE_INFINITY)?.content ?? Buffer.alloc(0)).content;
  const type = after === undefined ? "delete" : before === undefined ? "create" : "restore";
  const facts = { type, path: displayPath(path) } as const;
  const lazy = {
    ...(after === undefined ? {} : { content: contentAt(target.id) }),
    ...(before === undefined ? {} : { fromContent: contentAt(null) }),
  };
  return [withLazy<typeof facts, Record<string, string>>(facts, lazy)];
}
