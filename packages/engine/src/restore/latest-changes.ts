/** Who changed the paths of a plan last, and when: recorded changes, and those that no checkpoint has yet. */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import type { Unrecorded } from "../capture/unrecorded.ts";
import { UNRECORDED } from "../history/changes.ts";
import type { Except } from "../history/last-author.ts";
import { agentOfStep, latestRecord, type LatestRecord } from "../history/latest-change.ts";
import { pausedStretches } from "../history/paused-stretches.ts";
import { openSteps } from "../history/step-rows.ts";
import { backgroundStretches, turnsOpenIn } from "../history/timeline-facts.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { LatestChange } from "../model/plan.ts";

/** What the answers depend on. */
interface Known {
  readonly except: Except;
  readonly unrecorded: Unrecorded;
}

/** Answers for one plan. */
export class LatestChanges {
  readonly #context: Context;
  readonly #known: Known;
  readonly #moment: ReturnType<typeof momentOf>;

  constructor(context: Context, known: Known) {
    this.#context = context;
    this.#known = known;
    this.#moment = momentOf(context);
  }

  /** The newest change of a path after the one that cannot be taken out; undefined where that is not known. */
  of(path: BytePath, after: number): LatestChange | undefined {
    if (after === UNRECORDED) return undefined;
    const fresh = this.#known.unrecorded.changes.find((change) => change.path === path);
    if (fresh !== undefined) {
      const agent = agentOfStep(this.#context.store.db, fresh.step);
      const isAbout = openSteps(this.#context.store.db).length > 0;
      return told({ ...fresh, agent }, { at: this.#changedAt(path, this.#moment.now), isAbout });
    }
    const record = latestRecord(this.#context.store.db, { path, after }, this.#known.except);
    if (record === undefined) return undefined;
    const at = this.#changedAt(path, record.foundAt);
    return told(record, { at, isAbout: this.#wasAgentAbout(record) });
  }

  #changedAt(path: BytePath, latest: number): number {
    return Math.min(this.#moment.changedAt(path) ?? latest, latest);
  }

  /** As the timeline judges whether a change was made by hand. */
  #wasAgentAbout({ checkpoint: seq, foundAt }: LatestRecord): boolean {
    const { db } = this.#context.store;
    const open = [...turnsOpenIn(db, { before: seq, after: seq }), ...backgroundStretches(db)];
    return (
      open.some(({ before, after }) => before < seq && after >= seq) ||
      pausedStretches(db).some(({ from, until }) => from < foundAt && until > foundAt)
    );
  }
}

function told(
  { attribution, agent }: Pick<LatestRecord, "attribution" | "agent">,
  { at, isAbout }: { readonly at: number; readonly isAbout: boolean },
): LatestChange | undefined {
  if (attribution === "tool" && agent !== null) return { by: "agent", agent, at };
  return attribution === "outside" ? { by: isAbout ? "outside" : "hand", agent: null, at } : undefined;
}
