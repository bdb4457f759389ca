/** Upkeep of a workspace in this process: proving, dropping, freeing, forgetting. */
import type { AfterForget, Conversations } from "./conversations.ts";
import { checkpointAt, listCheckpoints, newestCheckpoint } from "../history/checkpoints.ts";
import { resolveMessage } from "../history/messages.ts";
import { assertThread, findThread, hideThread, threadOrigin } from "../history/threads.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import type {
  ForgetReport,
  ForgetWordsReport,
  GcReport,
  PruneReport,
  Stats,
  VerifyReport,
} from "../model/reports.ts";
import { PRUNE_GRACE_MS, type RetentionPolicy } from "../model/retention.ts";
import { retentionOf } from "./create-context.ts";
import type { CurrentSettings } from "../settings/current-settings.ts";
import { forgetTarget } from "./forget-target.ts";
import { letIn } from "../history/kept-out.ts";
import type { ForgetOptions } from "../upkeep/forget.ts";
import { parsePath } from "../model/workspace-path.ts";
import { LocalApprovals } from "./local-approvals.ts";
import { forgetMessage, forgetThread } from "../upkeep/forget-words.ts";
import { storeBytes } from "../store/store.ts";
import { withReserve } from "../store/reserve.ts";
import { collectGarbage } from "../upkeep/gc.ts";
import { pruneCheckpoints, selectPrunable, unprune } from "../upkeep/prune.ts";
import { finishPurge, isPurgeUnfinished } from "../upkeep/purge.ts";
import { readStats } from "../upkeep/stats.ts";
import { verifyStore } from "../upkeep/verify.ts";
import type { Context } from "../capture/context.ts";

/** Up to this size a deleted thread's words are overwritten everywhere at once; beyond it `gc` does the rest. */
const SMALL_STORE_BYTES = 256 * 1024 * 1024;

export class LocalUpkeep extends LocalApprovals implements Conversations {
  #afterForget: AfterForget | undefined;
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

  afterForget(work: AfterForget): void {
    this.#afterForget = work;
  }

  async deleteThread(thread: ThreadId, options: { checkpoints?: boolean } = {}): Promise<void> {
    const { store, system } = this.context;
    assertThread(this.db, thread);
    const packs = storeBytes(store) < SMALL_STORE_BYTES;
    const report = forgetThread(store, system, thread, { dryRun: false, packs });
    this.write(thread, { deleted: true }, () => {
      hideThread(this.db, thread, system.now());
      if (options.checkpoints !== true) return;
      const newest = newestCheckpoint(this.db)?.seq;
      const own = listCheckpoints(this.db, { thread });
      pruneCheckpoints(
        store,
        system,
        own.filter(({ seq }) => seq !== newest),
      );
    });
    await this.#forgotten(report);
  }

  async forgetThread(ref: string, { dryRun = false }: { dryRun?: boolean } = {}): Promise<ForgetWordsReport> {
    const { store, system } = this.context;
    const { id } = findThread(this.db, ref);
    return this.#forgotten(forgetThread(store, system, id, { dryRun, packs: true }));
  }

  async forgetMessage(
    ref: string,
    { dryRun = false }: { dryRun?: boolean } = {},
  ): Promise<ForgetWordsReport> {
    const { store, system } = this.context;
    const message = resolveMessage(this.db, ref);
    return this.#forgotten(forgetMessage(store, system, message, { dryRun, packs: true }));
  }

  /** What others do because words were forgotten belongs to forgetting. */
  async #forgotten(report: ForgetWordsReport): Promise<ForgetWordsReport> {
    if (!report.dryRun) await this.#afterForget?.(threadOrigin(this.db, report.thread));
    return report;
  }

  async stats(): Promise<Stats> {
    return readStats(this.context.store, this.context.capBytes);
  }
}
