/** Takes a project back to a checkpoint: first a plan, then all of it or nothing. */
import { CHECKPOINT_PRESETS, pathFromBytes } from "@belay/engine";
import { assertApplied } from "../frame/applied.ts";
import type { DropInOptions } from "../frame/options.ts";
import { messageOf, Root } from "../frame/root.ts";
import { checkpointIn, sessionThread, type Checkpoint, type Session } from "./checkpoint.ts";
import { rollbackPlan, type RollbackPlan } from "./rollback-plan.ts";

/** Plans and carries out rollbacks. */
export class RollbackEngine {
  readonly #root: Root;

  constructor({ projectDir, ...options }: { projectDir?: string } & DropInOptions = {}) {
    this.#root = new Root(projectDir, options, CHECKPOINT_PRESETS.tool);
  }

  /** Compares the whole project with a checkpoint; changes nothing. */
  async createRollbackPlan(session: Session, target: Checkpoint): Promise<RollbackPlan> {
    const workspace = this.#root.knownWith(target.id);
    const taken = checkpointIn(workspace, session.id, target.id);
    const plan = workspace.planRestore(taken.id, { thread: sessionThread(workspace, session.id) });
    return rollbackPlan(workspace, { session: session.id, target: taken, plan });
  }

  /**
   * Carries out a plan, or nothing of it: what was done is taken back before it throws. `PLAN_STALE` when files changed since,
   * or when this process did not make the plan.
   */
  async executeRollback(plan: RollbackPlan): Promise<void> {
    const workspace = this.#root.knownWith(plan.checkpointId);
    try {
      const kept = workspace.plans.find(workspace.copyId, plan.planId ?? "");
      assertApplied(workspace.restore(kept));
    } catch (error) {
      this.#root.log("error", "rollback_failed", { checkpoint: plan.checkpointId, reason: messageOf(error) });
      throw error;
    }
  }

  /** Whether the files are as the plan makes them. */
  async verify(plan: RollbackPlan): Promise<{ ok: boolean; problems: string[] }> {
    const { sessionId, checkpointId } = plan;
    const workspace = this.#root.knownWith(checkpointId);
    const target =
      sessionId === undefined
        ? workspace.resolve(checkpointId)
        : checkpointIn(workspace, sessionId, checkpointId);
    const problems = plan.operations.flatMap(({ type, path }) => {
      const place = pathFromBytes(Buffer.from(path));
      const [now, then] = [workspace.file(null, place, HASHED), workspace.file(target.id, place, HASHED)];
      if (type === "delete") return now === null ? [] : [`${path} is still there`];
      if (now === null) return [`${path} is missing`];
      return now.hash === then?.hash && now.mode === then?.mode
        ? []
        : [`${path} differs from the checkpoint`];
    });
    return { ok: problems.length === 0, problems };
  }
}

/** Contents of any size are compared. */
const HASHED = Number.POSITIVE_INFINITY;
