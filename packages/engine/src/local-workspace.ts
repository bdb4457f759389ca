/** A workspace in this process: each method of `Workspace`, in terms of the layers below. */
import { below, displayAbsolute } from "./fs/absolute-path.ts";
import { statNode } from "./fs/file-stat.ts";
import { addTag, removeTag, setName, setNote } from "./history/annotations.ts";
import { checkpointAt, listCheckpoints, newestCheckpoint } from "./history/checkpoints.ts";
import { appendOperation } from "./history/operations.ts";
import { resolveCheckpoint } from "./history/references.ts";
import { findThread, listThreads, openThread } from "./history/threads.ts";
import type { Checkpoint, CheckpointRequest, Thread } from "./model/checkpoint.ts";
import { EngineError, isEngineError } from "./model/errors.ts";
import type { CheckpointId, OperationId, WorkspaceId } from "./model/ids.ts";
import type { ApplyOptions, Outcome, Plan } from "./model/plan.ts";
import type { ForgetReport, GcReport, PruneReport, Stats, VerifyReport } from "./model/reports.ts";
import { PRUNE_GRACE_MS, RETENTION_PRESETS, type RetentionPolicy } from "./model/retention.ts";
import type { System } from "./model/system.ts";
import { captureWarnings } from "./capture-warnings.ts";
import { forgetTarget } from "./forget-target.ts";
import { compareStates, describeCheckpoint, describeStatus, exportedFiles } from "./queries.ts";
import type { Settings } from "./settings.ts";
import type { ObjectSource } from "./store/object-store.ts";
import type { Store } from "./store/store.ts";
import { collectGarbage, withReserve } from "./upkeep/gc.ts";
import { pruneCheckpoints, selectPrunable, unprune } from "./upkeep/prune.ts";
import { keepReserve } from "./store/reserve.ts";
import { readStats } from "./upkeep/stats.ts";
import { findAffected, verifyStore } from "./upkeep/verify.ts";
import type {
  CheckpointDetails,
  CheckpointRef,
  Diff,
  DiffOptions,
  ExportedFile,
  ListOptions,
  Progress,
  Reconciled,
  RestoreOptions,
  RevertOptions,
  TakenCheckpoint,
  Turn,
  TurnRequest,
  TurnResult,
  UndoOptions,
  Watching,
  Workspace,
  WorkspaceStatus,
} from "./workspace.ts";
import { restoreRequest, revertRequest, stepRequest } from "./requests.ts";
import { parsePath } from "./workspace-path.ts";
import { lookRequest, type Context } from "./worktree/context.ts";
import { recover } from "./worktree/recover.ts";
import { lookAndPlanRestore, restoreNow, restorePlanned, type RestoreRequest } from "./worktree/restore.ts";
import { namePaths, takeCheckpoint } from "./worktree/take-checkpoint.ts";
import { beginTurn, endTurn, threadForTurn } from "./worktree/turns.ts";
import { lookAndPlanSteps, moveSteps, type StepRequest } from "./worktree/undo.ts";
import { createContext, type ContextParts } from "./workspace-context.ts";

const NOT_WATCHING: Watching = { state: "cold", reason: "nobody asked to watch", directories: 0 };

export interface LocalWorkspaceParts extends ContextParts {
  readonly id: WorkspaceId;
  readonly notices: readonly string[];
}

export class LocalWorkspace implements Workspace {
  readonly id: WorkspaceId;
  readonly root: string;
  readonly store: string;
  readonly #context: Context;
  readonly #settings: Settings;
  readonly #notices: string[];
  /** The requests behind plans made here, for carrying them out later. */
  readonly #planned = new Map<OperationId, RestoreRequest | StepRequest>();

  constructor({ id, notices, ...parts }: LocalWorkspaceParts) {
    const { root, store, settings } = parts;
    this.id = id;
    this.root = displayAbsolute(root);
    this.store = store.directory === undefined ? "memory" : displayAbsolute(store.directory);
    this.#settings = settings;
    this.#notices = [...notices];
    this.#context = createContext(parts);
    if (!store.db.readOnly) keepReserve(store.directory);
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  /** Finishes what an interrupted process left behind. */
  recover(): void {
    this.#notices.push(...recover(this.#context));
  }

  async checkpoint(request: CheckpointRequest = {}, progress?: Progress): Promise<TakenCheckpoint> {
    const started = this.#system.elapsed();
    if (request.paths !== undefined) this.#name(request.paths);
    const description = request.description ?? request.name ?? "Manual checkpoint";
    const look = { progress, settled: await this.#caughtUp() };
    const before = newestCheckpoint(this.#db);
    const taken = takeCheckpoint(this.#context, { request, description, look });
    return {
      id: taken.checkpoint.id,
      checkpoint: taken.checkpoint,
      unchanged: taken.unchanged,
      gaps: taken.present.gaps,
      doubts: taken.present.doubts,
      warnings: captureWarnings(before, taken),
      durationMs: this.#system.elapsed() - started,
    };
  }

  async turn<Result>(
    request: TurnRequest,
    work: (turn: Turn) => Promise<Result>,
  ): Promise<TurnResult<Result>> {
    const description = request.description ?? request.prompt ?? "A turn";
    const thread = threadForTurn(this.#context, request.thread, {
      agent: request.agent ?? "belay",
      title: description,
    });
    const facts = { thread, description, prompt: request.prompt ?? null };
    const { id, before } = beginTurn(this.#context, facts, await this.#caughtUp());
    const turn: Turn = { id, thread, before: before.checkpoint, name: async (paths) => this.#name(paths) };
    let result: Result;
    try {
      result = await work(turn);
    } catch (error) {
      endTurn(this.#context, facts, await this.#caughtUp());
      throw error;
    }
    const after = endTurn(this.#context, facts, await this.#caughtUp());
    return {
      result,
      before: before.checkpoint,
      after: after.checkpoint,
      changed: before.checkpoint.snapshot !== after.checkpoint.snapshot,
    };
  }

  get watching(): Watching {
    return this.#context.worktree.live?.capture.watching ?? NOT_WATCHING;
  }

  async watch({ directoryLimit }: { directoryLimit?: number } = {}): Promise<Watching> {
    await this.#context.worktree.watch(directoryLimit);
    return this.watching;
  }

  async reconcile(): Promise<Reconciled> {
    const { worktree } = this.#context;
    const { paths, checkpoints } = await worktree.reconcile(() => lookRequest(this.#context));
    worktree.saveCache();
    return { missed: paths, checkpoints: checkpoints as readonly CheckpointId[] };
  }

  async list(options: ListOptions = {}): Promise<Checkpoint[]> {
    return listCheckpoints(this.#db, options);
  }

  async resolve(ref: CheckpointRef): Promise<Checkpoint> {
    return resolveCheckpoint(this.#db, ref);
  }

  async show(ref: CheckpointRef): Promise<CheckpointDetails> {
    return this.#blaming(() => describeCheckpoint(this.#context, resolveCheckpoint(this.#db, ref)));
  }

  async diff(fromOrOptions: CheckpointRef | DiffOptions, to?: CheckpointRef): Promise<Diff> {
    const isRef = typeof fromOrOptions === "string";
    const options = isRef
      ? { from: fromOrOptions, ...(to === undefined ? {} : { to }), detail: "text" as const }
      : fromOrOptions;
    const settled = options.to === undefined && (await this.#caughtUp());
    return this.#blaming(() => compareStates(this.#context, options, settled));
  }

  async status(): Promise<WorkspaceStatus> {
    const settled = await this.#caughtUp();
    return this.#blaming(() => ({
      id: this.id,
      root: this.root,
      store: this.store,
      ...describeStatus(this.#context, settled),
    }));
  }

  async planRestore(ref: CheckpointRef, options: RestoreOptions = {}): Promise<Plan> {
    return this.#blaming(() => {
      const request = restoreRequest(this.#context, ref, options);
      const plan = lookAndPlanRestore(this.#context, request);
      this.#planned.set(plan.id, request);
      return plan;
    });
  }

  async planUndo(options: UndoOptions = {}): Promise<Plan | null> {
    return this.#planSteps(stepRequest("undo", options));
  }

  async planRedo(options: UndoOptions = {}): Promise<Plan | null> {
    return this.#planSteps(stepRequest("redo", options));
  }

  async planRevert(ref: CheckpointRef, options: RevertOptions = {}): Promise<Plan> {
    return this.#planSteps(revertRequest(this.#context, ref, options));
  }

  async restore(plan: Plan, options: ApplyOptions = {}): Promise<Outcome> {
    const request = this.#planned.get(plan.id);
    if (request === undefined)
      throw new EngineError(
        "PLAN_STALE",
        "This plan was not made here, or was carried out already. Nothing was changed.",
        { plan: plan.id },
      );
    this.#planned.delete(plan.id);
    const bestEffort = options.bestEffort ?? false;
    return this.#blaming(() =>
      "kind" in request
        ? moveSteps(this.#context, request, { bestEffort, planned: plan })
        : restorePlanned(this.#context, request, plan, bestEffort),
    );
  }

  async restoreTo(ref: CheckpointRef, options: RestoreOptions & ApplyOptions = {}): Promise<Outcome> {
    return this.#blaming(() =>
      restoreNow(this.#context, restoreRequest(this.#context, ref, options), options.bestEffort ?? false),
    );
  }

  async undo(options: UndoOptions = {}): Promise<Outcome> {
    return this.#blaming(() =>
      moveSteps(this.#context, stepRequest("undo", options), { bestEffort: options.bestEffort ?? false }),
    );
  }

  async redo(options: UndoOptions = {}): Promise<Outcome> {
    return this.#blaming(() =>
      moveSteps(this.#context, stepRequest("redo", options), { bestEffort: options.bestEffort ?? false }),
    );
  }

  async revert(ref: CheckpointRef, options: RevertOptions & ApplyOptions = {}): Promise<Outcome> {
    return this.#blaming(() =>
      moveSteps(this.#context, revertRequest(this.#context, ref, options), {
        bestEffort: options.bestEffort ?? false,
      }),
    );
  }

  async note(ref: CheckpointRef, text: string): Promise<Checkpoint> {
    return this.#annotate(ref, (checkpoint) => setNote(this.#db, checkpoint, text));
  }

  async rename(ref: CheckpointRef, name: string): Promise<Checkpoint> {
    return this.#annotate(ref, (checkpoint) => setName(this.#db, checkpoint, name));
  }

  async tag(ref: CheckpointRef, tag: string): Promise<Checkpoint> {
    return this.#annotate(ref, (checkpoint) => addTag(this.#db, checkpoint, tag));
  }

  async untag(tag: string): Promise<Checkpoint> {
    return this.#db.transaction(() => {
      const { seq } = removeTag(this.#db, tag);
      this.#log({ untag: tag });
      return checkpointAt(this.#db, seq)!;
    });
  }

  async threads(): Promise<Thread[]> {
    return listThreads(this.#db);
  }

  async thread(ref: string): Promise<Thread> {
    return findThread(this.#db, ref);
  }

  async openThread(request: { agent: string; externalId?: string; title?: string }): Promise<Thread> {
    const id = this.#system.newId();
    const facts = {
      agent: request.agent,
      externalId: request.externalId ?? id,
      title: request.title ?? null,
    };
    return this.#db.transaction(() => openThread(this.#db, facts, { id, now: this.#system.now() }));
  }

  async verify(
    options: { full?: boolean; progress?: (done: number, total: number) => void } = {},
  ): Promise<VerifyReport> {
    const { full = false, progress } = options;
    return verifyStore(this.#context.store, { full, ...(progress === undefined ? {} : { progress }) });
  }

  async prune(options: { policy?: RetentionPolicy; dryRun?: boolean } = {}): Promise<PruneReport> {
    const { store, system } = this.#context;
    const policy = options.policy ?? RETENTION_PRESETS[this.#settings["retention.policy"]]!;
    const pruned = selectPrunable(store, policy, system.now());
    const dryRun = options.dryRun ?? false;
    if (!dryRun) withReserve(store, () => pruneCheckpoints(store, system, pruned));
    return { pruned, kept: listCheckpoints(this.#db).length - (dryRun ? pruned.length : 0), dryRun };
  }

  async unprune(): Promise<Checkpoint[]> {
    return unprune(this.#context.store, this.#system).map((seq) => checkpointAt(this.#db, seq)!);
  }

  async gc(options: { dryRun?: boolean } = {}): Promise<GcReport> {
    const dryRun = options.dryRun ?? false;
    const dropPrunedBefore = this.#system.now() - PRUNE_GRACE_MS;
    return { ...collectGarbage(this.#context.store, this.#system, { dropPrunedBefore, dryRun }), dryRun };
  }

  async forget(target: string, options: { dryRun?: boolean } = {}): Promise<ForgetReport> {
    const dryRun = options.dryRun ?? false;
    const report = forgetTarget(this.#context, target, dryRun);
    if (!dryRun) this.#context.worktree.distrust();
    return report;
  }

  async stats(): Promise<Stats> {
    return readStats(this.#context.store, this.#context.capBytes);
  }

  async *files(ref: CheckpointRef): AsyncIterable<ExportedFile> {
    yield* exportedFiles(this.#objects, resolveCheckpoint(this.#db, ref));
  }

  async close(): Promise<void> {
    await this.#context.worktree.close();
    this.#context.store[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** True when a capture right now may look at nothing but what the watcher named. */
  async #caughtUp(): Promise<boolean> {
    return (await this.#context.worktree.live?.capture.caughtUp()) ?? false;
  }

  get #system(): System {
    return this.#context.system;
  }

  get #db(): Store["db"] {
    return this.#context.store.db;
  }

  get #objects(): ObjectSource {
    return this.#context.store.objects;
  }

  #name(texts: readonly string[]): void {
    const { root } = this.#context.worktree;
    namePaths(this.#context, texts.map(parsePath), (path) => statNode(below(root, path)) !== undefined);
  }

  #planSteps(request: StepRequest): Plan;
  #planSteps(request: StepRequest): Plan | null;
  #planSteps(request: StepRequest): Plan | null {
    return this.#blaming(() => {
      const plan = lookAndPlanSteps(this.#context, request);
      if (plan !== null) this.#planned.set(plan.id, request);
      return plan;
    });
  }

  #annotate(ref: CheckpointRef, change: (checkpoint: Checkpoint) => void): Checkpoint {
    return this.#db.transaction(() => {
      const checkpoint = resolveCheckpoint(this.#db, ref);
      change(checkpoint);
      this.#log({ checkpoint: checkpoint.id });
      return checkpointAt(this.#db, checkpoint.seq)!;
    });
  }

  #log(detail: Record<string, unknown>): void {
    const { newId, now } = this.#system;
    appendOperation(this.#db, { id: newId() as OperationId, kind: "annotate", at: now(), detail });
  }

  /** Damage found on the way is reported with the checkpoints it concerns. */
  #blaming<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (
        (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) &&
        error.facts.checkpoints.length === 0
      ) {
        error.facts.checkpoints.push(...findAffected(this.#context.store, error.facts.object));
      }
      throw error;
    }
  }
}
