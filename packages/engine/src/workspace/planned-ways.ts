/** The ways back behind plans that were only looked at, for carrying them out later. */
import { EngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import type { Plan } from "../model/plan.ts";
import type { WayBack } from "../restore/go-back.ts";

/** Only the latest plans can be carried out: a caller that looks at thousands needs none of the old ones. */
const KEPT_PLANS = 1000;

/** Remembers the way back that each plan is of; a plan is carried out once. */
export class PlannedWays {
  readonly #ways = new Map<OperationId, WayBack>();

  /** Keeps the way back of a plan, and returns the plan. */
  keep(plan: Plan, way: WayBack): Plan {
    this.#ways.set(plan.id, way);
    const [oldest] = this.#ways.keys();
    if (this.#ways.size > KEPT_PLANS && oldest !== undefined) this.#ways.delete(oldest);
    return plan;
  }

  /** The way back of a plan, which cannot be taken again; throws `PLAN_STALE` for an unknown one. */
  take({ id }: Plan): WayBack {
    const way = this.#ways.get(id);
    if (way === undefined)
      throw new EngineError(
        "PLAN_STALE",
        "This plan was not made here, or was carried out already. Nothing was changed.",
        { plan: id },
      );
    this.#ways.delete(id);
    return way;
  }
}
