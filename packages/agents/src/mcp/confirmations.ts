/** Previews that somebody may still agree to. A code is a secret, works once, and not for long. */
import { randomBytes } from "node:crypto";

const VALID_MS = 10 * 60 * 1000;
const KEPT = 50;

export class Confirmations {
  readonly #plans = new Map<string, { planId: string; until: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A code for this plan. */
  offer(planId: string): string {
    const code = randomBytes(12).toString("base64url");
    this.#plans.set(code, { planId, until: this.#now() + VALID_MS });
    for (const old of this.#plans.keys()) {
      if (this.#plans.size <= KEPT) break;
      this.#plans.delete(old);
    }
    return code;
  }

  /** The plan behind a code, once. */
  redeem(code: string): string | undefined {
    const plan = this.#plans.get(code);
    this.#plans.delete(code);
    return plan === undefined || plan.until < this.#now() ? undefined : plan.planId;
  }
}
