/**
 * Plans between preview and apply: the one memory of them, for the library, HTTP and MCP alike. A plan can be carried out
 * once, in the working copy it was made in (`copyId`). Only the latest plans are kept, and not for long; every other plan is stale.
 * Whether the files are still what a plan was made on is not decided here but when it is carried out.
 */
import { serialize } from "node:v8";
import { EngineError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Preview, Seen, WayBack } from "../restore/go-back.ts";
import type { WayRequest } from "./way-request.ts";

/** A plan of a large restore takes megabytes: a caller that looks at hundreds needs none of the old ones. */
const KEPT_PLANS = 100;

/** How many edits all kept plans may have together: each takes about half a kilobyte. The newest plan is kept in any case. */
const KEPT_EDITS = 200_000;

/** What a plan was made on is kept for the latest plans only: it holds the names of all that was looked at. */
const KEPT_SIGHTS = 8;

const VALID_MS = 60 * 60 * 1000;

/** What a plan book goes by. */
export interface PlanBookOptions {
  /** Milliseconds on a monotonic clock. */
  elapsed(): number;
  /** How long a plan can be carried out; an hour unless said otherwise. */
  readonly validMs?: number;
}

/** A plan as it is kept: with the request that its way back was made of. */
export interface KeptPreview extends Preview {
  readonly request?: WayRequest;
}

interface Entry {
  readonly workspace: string;
  readonly plan: Plan;
  readonly request: WayRequest | undefined;
  readonly way: WayBack;
  readonly until: number;
  seen: Seen | undefined;
}

/** Remembers plans, for one opening of a workspace or for as long as its caller keeps it. */
export class PlanBook {
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #elapsed: () => number;
  readonly #validMs: number;

  constructor({ elapsed, validMs = VALID_MS }: PlanBookOptions) {
    this.#elapsed = elapsed;
    this.#validMs = validMs;
  }

  /**
   * Remembers a plan and the way back it is of, and returns the plan.
   * @internal
   */
  keep(workspace: string, { plan, seen, request }: KeptPreview, way: WayBack): Plan {
    const until = this.#elapsed() + this.#validMs;
    this.#entries.set(plan.id, { workspace, plan, way, seen, request, until });
    this.#dropOld();
    const entries = [...this.#entries.values()];
    for (const entry of entries.slice(0, -KEPT_SIGHTS)) entry.seen = undefined;
    return plan;
  }

  /**
   * A plan and what it was made on; throws `PLAN_STALE` for an unknown one.
   * @internal
   */
  preview(workspace: string, id: string): Preview {
    const { plan, seen } = this.#entry(workspace, id);
    return { plan, seen };
  }

  /** A plan that can still be carried out and is of the right kind; throws `PLAN_STALE` for every other. */
  find(workspace: string, id: string, fits: (plan: Plan) => boolean = () => true): Plan {
    const { plan } = this.#entry(workspace, id);
    if (!fits(plan)) throw stale(id);
    return plan;
  }

  /**
   * The plan and its way back, which cannot be taken again; throws `PLAN_STALE` for an unknown one.
   * @internal
   */
  take(workspace: string, id: string): { readonly plan: Plan; readonly way: WayBack } {
    const entry = this.#entry(workspace, id);
    this.#entries.delete(id);
    return entry;
  }

  /**
   * Gives a plan away, as bytes, to another process that carries it out (`Workspace.carryOut`): it cannot be taken here
   * any more. Throws `PLAN_STALE` for an unknown one.
   */
  handOver(workspace: string, id: string): Buffer {
    const { plan, request } = this.#entry(workspace, id);
    if (request === undefined) throw stale(id);
    this.#entries.delete(id);
    return serialize({ plan, request } satisfies HandedOver);
  }

  /** Forgets a plan that was declined. */
  discard(id: string): void {
    this.#entries.delete(id);
  }

  #entry(workspace: string, id: string): Entry {
    this.#dropOld();
    const entry = this.#entries.get(id);
    if (entry?.workspace !== workspace) throw stale(id);
    return entry;
  }

  #dropOld(): void {
    const now = this.#elapsed();
    let edits = 0;
    for (const { plan } of this.#entries.values()) edits += plan.edits.length;
    for (const [id, { until, plan }] of this.#entries) {
      const hasRoom = this.#entries.size <= KEPT_PLANS && (edits <= KEPT_EDITS || this.#entries.size === 1);
      if (until > now && hasRoom) return;
      this.#entries.delete(id);
      edits -= plan.edits.length;
    }
  }
}

/** A plan that another process showed. */
export interface HandedOver {
  readonly plan: Plan;
  readonly request: WayRequest;
}

function stale(plan: string): EngineError<"PLAN_STALE"> {
  return new EngineError(
    "PLAN_STALE",
    "This plan has already been carried out, is too old, or was not made for this. Nothing was changed; make a new plan.",
    { plan },
  );
}
