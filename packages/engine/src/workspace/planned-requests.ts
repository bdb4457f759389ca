/** The requests behind plans that were only looked at, for carrying them out later. */
import { EngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import type { Plan } from "../model/plan.ts";
import type { RestoreRequest } from "../restore/restore.ts";
import type { ResetRequest } from "../steps/approval.ts";
import type { StepRequest } from "../steps/select-steps.ts";

/** Only the latest plans can be carried out: a caller that looks at thousands needs none of the old ones. */
const KEPT_PLANS = 1000;

/** Remembers which request each plan answers; a plan is carried out once. */
export class PlannedRequests {
  readonly #requests = new Map<OperationId, RestoreRequest | StepRequest | ResetRequest>();

  keep(plan: Plan, request: RestoreRequest | StepRequest | ResetRequest): Plan {
    this.#requests.set(plan.id, request);
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > KEPT_PLANS && oldest !== undefined) this.#requests.delete(oldest);
    return plan;
  }

  /** The request of a plan, which cannot be taken again; throws `PLAN_STALE` for an unknown one. */
  take({ id }: Plan): RestoreRequest | StepRequest | ResetRequest {
    const request = this.#requests.get(id);
    if (request === undefined)
      throw new EngineError(
        "PLAN_STALE",
        "This plan was not made here, or was carried out already. Nothing was changed.",
        { plan: id },
      );
    this.#requests.delete(id);
    return request;
  }
}
