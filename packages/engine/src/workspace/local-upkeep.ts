/** Upkeep of a workspace in this process. */
import { checkpointAt, countCheckpoints } from "../history/checkpoints.ts";
import { liftExclusion } from "../history/kept-out.ts";
import { resolveCheckpoint } from "../history/references.ts";
import { assertThread } from "../history/threads.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { CheckpointRef } from "../model/ids.ts";
import type {
  ForgetReport,
  GcReport,
  PruneReport,
  SpaceUsage,
  Stats,
  UsageBy,
  VerifyReport,
} from "../model/reports.ts";
import { PRUNE_GRACE_MS } from "../model/retention.ts";
import { parsePath } from "../model/workspace-path.ts";
import { assertDeletable } from "../history/checkpoint-limits.ts";
import { withReserve } from "../store/reserve.ts";
import type { ForgetOptions } from "../upkeep/forget.ts";
import { collectGarbage } from "../upkeep/gc.ts";
import { pruneCheckpoints, selectPrunable, unprune } from "../upkeep/prune.ts";
import { keepDamage } from "../upkeep/known-damage.ts";
import { finishPurge, isPurgeUnfinished } from "../upkeep/purge.ts";
import { readStats } from "../upkeep/stats.ts";
import { readUsage, storedOnlyIn } from "../upkeep/usage.ts";
import { verifyStore } from "../upkeep/verify.ts";
import { forgetTarget } from "./forget-target.ts";
import type { Runner } from "./runner.ts";
import type { PruneOptions, Upkeep } from "./interface/upkeep.ts";

/** Each method of `Upkeep`, in terms of the layers below. */
export class LocalUpkeep implements Upkeep {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async verify(
    options: { full?: boolean; progress?: (done: number, total: number) => void } = {},
  ): Promise<VerifyReport> {
    const { full = false, progress } = options;
    const { store, system } = this.#runner.context;
    const report = verifyStore(store, { full, ...(progress === undefined ? {} : { progress }) });
    keepDamage(store, report, { now: system.now(), full });
    return report;
  }

  async stats(): Promise<Stats> {
    const { store, capBytes } = this.#runner.context;
    return readStats(store, capBytes);
  }

  async usage(by: UsageBy): Promise<SpaceUsage> {
    const { store } = this.#runner.context;
    return this.#runner.read(() => readUsage(store, by));
  }

  async prune(options: PruneOptions = {}): Promise<PruneReport> {
    const { store, system } = this.#runner.context;
    const { policy = this.#runner.retention, thread, dryRun = false } = options;
    if (thread !== undefined) assertThread(store.db, thread);
    const { dropped: pruned, ...rules } = selectPrunable(store, policy, { now: system.now(), thread });
    if (!dryRun) withReserve(store, () => pruneCheckpoints(store, system, pruned));
    const kept = countCheckpoints(store.db) - (dryRun ? pruned.length : 0);
    const report = { pruned, kept, ...rules, dryRun };
    if (options.estimate !== true) return report;
    const storedBytes = storedOnlyIn(store, new Set(pruned.map(({ seq }) => seq)));
    return { ...report, storedBytes };
  }

  async unprune(): Promise<Checkpoint[]> {
    const { store, system } = this.#runner.context;
    return unprune(store, system).map((seq) => checkpointAt(store.db, seq)!);
  }

  async deleteCheckpoint(ref: CheckpointRef): Promise<Checkpoint> {
    const { store, system } = this.#runner.context;
    const checkpoint = resolveCheckpoint(store.db, ref);
    assertDeletable(store.db, checkpoint);
    pruneCheckpoints(store, system, [checkpoint]);
    this.#runner.events.wake();
    return checkpoint;
  }

  async gc(
    options: { dryRun?: boolean; progress?: (done: number, total: number) => void } = {},
  ): Promise<GcReport> {
    const { store, system } = this.#runner.context;
    const dryRun = options.dryRun ?? false;
    const dropPrunedBefore = system.now() - PRUNE_GRACE_MS;
    const report =
      !dryRun && isPurgeUnfinished(store.db)
        ? finishPurge(store, system, { dropPrunedBefore, progress: options.progress })
        : collectGarbage(store, system, { dropPrunedBefore, dryRun, progress: options.progress });
    return { ...report, dryRun };
  }

  async forget(
    target: string,
    { dryRun = false, sameContent = false, always = false }: Partial<ForgetOptions> = {},
  ): Promise<ForgetReport> {
    const { context } = this.#runner;
    const report = forgetTarget(context, target, { dryRun, sameContent, always });
    if (!dryRun) context.workingCopy.distrust();
    return report;
  }

  async captureAgain(path: string): Promise<boolean> {
    const { db } = this.#runner;
    return db.transaction(() => liftExclusion(db, parsePath(path)));
  }
}
