/** An open workspace in the resident process: what happens to its files happens one thing at a time. */
import type { Plan, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";

const KEPT_PLANS = 100;

export class HostedWorkspace {
  readonly workspace: Workspace;
  readonly #plans = new Map<string, Plan>();
  #last: Promise<unknown> = Promise.resolve();
  #busy = 0;
  usedAt: number;

  constructor(workspace: Workspace, now: number) {
    this.workspace = workspace;
    this.usedAt = now;
  }

  /** Runs `work` when everything asked for before is done. */
  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#busy += 1;
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.#busy -= 1;
    }
  }

  get isBusy(): boolean {
    return this.#busy > 0;
  }

  /** Keeps a plan that was shown, so that it and nothing else can be carried out. */
  keep<Kind extends Plan | null>(plan: Kind): Kind {
    if (plan === null) return plan;
    this.#plans.set(plan.id, plan);
    for (const oldest of this.#plans.keys()) {
      if (this.#plans.size <= KEPT_PLANS) break;
      this.#plans.delete(oldest);
    }
    return plan;
  }

  /** The plan of a preview, once. */
  take(id: string, fits: (plan: Plan) => boolean): Plan {
    const plan = this.#plans.get(id);
    if (plan === undefined || !fits(plan))
      throw new ContractError("PLAN_STALE", "This plan is not known (any more). Nothing was changed.", {
        facts: { plan: id },
      });
    this.#plans.delete(id);
    return plan;
  }
}
