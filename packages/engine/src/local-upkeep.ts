/** Upkeep of a workspace in this process: proving, dropping, freeing, forgetting. */
import { checkpointAt, listCheckpoints } from "./history/checkpoints.ts";
import { resolveMessage } from "./history/messages.ts";
import { findThread } from "./history/threads.ts";
import type { Checkpoint } from "./model/checkpoint.ts";
import type {
  ForgetReport,
  ForgetWordsReport,
  GcReport,
  PruneReport,
  Stats,
  VerifyReport,
} from "./model/reports.ts";
import { PRUNE_GRACE_MS, type RetentionPolicy } from "./model/retention.ts";
import { retentionOf } from "./create-context.ts";
import type { CurrentSettings } from "./current-settings.ts";
import { forgetTarget } from "./forget-target.ts";
import { letIn } from "./history/kept-out.ts";
import type { ForgetOptions } from "./upkeep/forget.ts";
import { parsePath } from "./workspace-path.ts";
import { LocalApprovals } from "./local-approvals.ts";
import { forgetMessage, forgetThread } from "./upkeep/forget-words.ts";
import { withReserve } from "./store/reserve.ts";
import { collectGarbage } from "./upkeep/gc.ts";
import { pruneCheckpoints, selectPrunable, unprune } from "./upkeep/prune.ts";
import { finishPurge, isPurgeUnfinished } from "./upkeep/purge.ts";
import { readStats } from "./upkeep/stats.ts";
import { verifyStore } from "./upkeep/verify.ts";
import type { Context } from "./worktree/context.ts";

export class LocalUpkeep extends LocalApprovals {
  protected readonly settings: CurrentSettings;

  constructor(context: Context, settings: CurrentSettings) {
    super(context);
    this.settings = settings;
  }

  async verify(
    options: { full?: boolean; progress?: (done: number, total: number) => void } = {},
  ): Promise<VerifyReport> {
    const { full = false, progress } = options;
    return verifyStore(this.context.store, { full, ...(progress === undefined ? {} : { progress }) });
  }

  async prune(options: { policy?: RetentionPolicy; dryRun?: boolean } = {}): Promise<PruneReport> {
    const { store, system } = this.context;
    const policy = options.policy ?? retentionOf(this.settings.values);
    const pruned = selectPrunable(store, policy, system.now());
    const dryRun = options.dryRun ?? false;
    if (!dryRun) withReserve(store, () => pruneCheckpoints(store, system, pruned));
    return { pruned, kept: listCheckpoints(this.db).length - (dryRun ? pruned.length : 0), dryRun };
  }

  async unprune(): Promise<Checkpoint[]> {
    return unprune(this.context.store, this.context.system).map((seq) => checkpointAt(this.db, seq)!);
  }

  async gc(options: { dryRun?: boolean } = {}): Promise<GcReport> {
    const dryRun = options.dryRun ?? false;
    const dropPrunedBefore = this.context.system.now() - PRUNE_GRACE_MS;
    const { store } = this.context;
    const report =
      !dryRun && isPurgeUnfinished(this.db)
        ? finishPurge(store, this.context.system, dropPrunedBefore)
        : collectGarbage(store, this.context.system, { dropPrunedBefore, dryRun });
    return { ...report, dryRun };
  }

  async forget(
    target: string,
    { dryRun = false, sameContent = false, always = false }: Partial<ForgetOptions> = {},
  ): Promise<ForgetReport> {
    const report = forgetTarget(this.context, target, { dryRun, sameContent, always });
    if (!dryRun) this.context.worktree.distrust();
    return report;
  }

  async captureAgain(path: string): Promise<boolean> {
    return this.db.transaction(() => letIn(this.db, parsePath(path)));
  }

  async forgetThread(ref: string, { dryRun = false }: { dryRun?: boolean } = {}): Promise<ForgetWordsReport> {
    const { store, system } = this.context;
    return forgetThread(store, system, findThread(this.db, ref).id, { dryRun, packs: true });
  }

  async forgetMessage(
    ref: string,
    { dryRun = false }: { dryRun?: boolean } = {},
  ): Promise<ForgetWordsReport> {
    const { store, system } = this.context;
    return forgetMessage(store, system, resolveMessage(this.db, ref), { dryRun, packs: true });
  }

  async stats(): Promise<Stats> {
    return readStats(this.context.store, this.context.capBytes);
  }
}
