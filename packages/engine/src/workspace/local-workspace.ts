/** A workspace in this process: each method of `Workspace`, in terms of the layers below. */
import { namesakeWarnings } from "../capture/capture-warnings.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { addTag, removeTag, setName, setNote } from "../history/annotations.ts";
import { checkpointAt, listCheckpoints, listLate } from "../history/checkpoints.ts";
import { appendOperation } from "../history/operations.ts";
import { resolveCheckpoint } from "../history/references.ts";
import { appendEvent } from "../history/events.ts";
import type { Checkpoint, CheckpointRequest } from "../model/checkpoint.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { CheckpointId, OperationId, WorkspaceId } from "../model/ids.ts";
import type { ApplyOptions, Outcome, Plan } from "../model/plan.ts";
import type { System } from "../model/system.ts";
import { assertDeletable, assertRoomForManual } from "../settings/checkpoint-limits.ts";
import { createContext, retentionOf, type LocalWorkspaceParts } from "./create-context.ts";
import { contentAt } from "../queries/file-content.ts";
import { compareStates, describeCheckpoint, describeStatus, exportedFiles } from "../queries/queries.ts";
import { LocalUpkeep } from "./local-upkeep.ts";
import { withChanges } from "../queries/message-changes.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { pruneCheckpoints } from "../upkeep/prune.ts";
import { keepReserve } from "../store/reserve.ts";
import { findAffected } from "../upkeep/verify.ts";
import type {
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
} from "./workspace.ts";
import type {
  CheckpointDetails,
  Diff,
  DiffOptions,
  ExportedFile,
  FileContent,
  WorkspaceStatus,
} from "../queries/answers.ts";
import type { CheckpointRef } from "../model/ids.ts";
import { restoreRequest, revertRequest, stepRequest } from "./requests.ts";
import { parsePath } from "../model/workspace-path.ts";
import { lookRequest } from "../capture/context.ts";
import { filesBelow } from "../restore/files-below.ts";
import { recover } from "../restore/recover.ts";
import { lookAndPlanRestore, restoreNow, restorePlanned } from "../restore/restore.ts";
import { takeCheckpoint } from "../capture/take-checkpoint.ts";
import { beginTurn, endTurn, threadForTurn } from "../steps/turns.ts";
import type { StepRequest } from "../steps/select-steps.ts";
import { lookAndPlanSteps, moveSteps } from "../steps/undo.ts";

const NOT_WATCHING: Watching = { state: "cold", reason: "nobody asked to watch", directories: 0 };

export class LocalWorkspace extends LocalUpkeep implements Workspace {
  readonly id: WorkspaceId;
  readonly root: string;
  readonly store: string;
  readonly #notices: string[];

  constructor(parts: LocalWorkspaceParts) {
    const { id, root, store, settings, notices } = parts;
    super(createContext(parts), settings);
    this.id = id;
    this.root = displayAbsolute(root);
    this.store = store.directory === undefined ? "memory" : displayAbsolute(store.directory);
    this.#notices = [...notices];
    if (!store.db.readOnly) keepReserve(store.directory);
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  /** Numbers of checkpoints that came too late for some of their files, newest first. */
  lateSince(moment: number): number[] {
    return listLate(this.db, moment);
  }

  /** Finishes what an interrupted process left behind. */
  recover(): void {
    this.#notices.push(...recover(this.context));
  }

  async checkpoint(request: CheckpointRequest = {}, progress?: Progress): Promise<TakenCheckpoint> {
    assertRoomForManual(this.db, request, retentionOf(this.settings.values).manualLimit);
    if (request.paths !== undefined) this.namePaths(request.paths);
    const description = request.description ?? request.name ?? "Manual checkpoint";
    const included = (request.include ?? []).flatMap((path) =>
      filesBelow(this.context.worktree.root, parsePath(path)),
    );
    const namesakes = namesakeWarnings(this.db, request.name);
    const taken = (await this.take(() =>
      takeCheckpoint(this.context, { request, description, look: { progress, included } }),
    ))!;
    return { ...taken, warnings: [...taken.warnings, ...namesakes] };
  }

  async turn<Result>(
    request: TurnRequest,
    work: (turn: Turn) => Promise<Result>,
  ): Promise<TurnResult<Result>> {
    const description = request.description ?? request.prompt ?? "A turn";
    const thread = threadForTurn(this.context, request.thread, {
      agent: request.agent ?? "belay",
      title: description,
    });
    const facts = { thread, description, prompt: request.prompt ?? null };
    const { id, before } = await this.caughtUp(() => beginTurn(this.context, facts));
    const turn: Turn = {
      id,
      thread,
      before: before.checkpoint,
      name: async (paths) => void this.namePaths(paths),
    };
    let result: Result;
    try {
      result = await work(turn);
    } catch (error) {
      await this.caughtUp(() => endTurn(this.context, facts));
      throw error;
    }
    const after = await this.caughtUp(() => endTurn(this.context, facts));
    return {
      result,
      before: before.checkpoint,
      after: after.checkpoint,
      changed: before.checkpoint.snapshot !== after.checkpoint.snapshot,
      warnings: this.droppedNotices(),
    };
  }

  get isAlone(): boolean {
    return this.db.isAlone;
  }

  get watching(): Watching {
    return this.context.worktree.live?.capture.watching ?? NOT_WATCHING;
  }

  async watch({ directoryLimit }: { directoryLimit?: number } = {}): Promise<Watching> {
    const { worktree } = this.context;
    if (this.isAlone)
      throw new EngineError(
        "DISK_FULL",
        "No space is left for the store: nothing can be captured. Your files are untouched.",
        {
          path: this.store,
        },
      );
    await worktree.watch(directoryLimit);
    return this.watching;
  }

  async reconcile(): Promise<Reconciled> {
    const { worktree } = this.context;
    const { paths, checkpoints } = await worktree.reconcile(() => lookRequest(this.context));
    worktree.saveCache();
    return { missed: paths, checkpoints: checkpoints as readonly CheckpointId[] };
  }

  async list(options: ListOptions = {}): Promise<Checkpoint[]> {
    const listed = listCheckpoints(this.db, options);
    return options.fresh === true
      ? this.looking(() => this.#blaming(() => withChanges(this.context, listed)))
      : listed;
  }

  async resolve(ref: CheckpointRef): Promise<Checkpoint> {
    return resolveCheckpoint(this.db, ref);
  }

  async show(ref: CheckpointRef): Promise<CheckpointDetails> {
    return this.#blaming(() => describeCheckpoint(this.context, resolveCheckpoint(this.db, ref)));
  }

  async diff(fromOrOptions: CheckpointRef | DiffOptions, to?: CheckpointRef): Promise<Diff> {
    const isRef = typeof fromOrOptions === "string";
    const options = isRef
      ? { from: fromOrOptions, ...(to === undefined ? {} : { to }), detail: "text" as const }
      : fromOrOptions;
    return this.looking(() => this.#blaming(() => compareStates(this.context, options)));
  }

  async status(): Promise<WorkspaceStatus> {
    const { id, root, store } = this;
    return this.looking(() => this.#blaming(() => ({ id, root, store, ...describeStatus(this.context) })));
  }

  async planRestore(ref: CheckpointRef, options: RestoreOptions = {}): Promise<Plan> {
    return this.#blaming(() => {
      const request = restoreRequest(this.context, ref, options);
      return this.keepPlan(lookAndPlanRestore(this.context, request), request);
    });
  }

  async planUndo(options: UndoOptions = {}): Promise<Plan | null> {
    return this.#planSteps(stepRequest("undo", options));
  }

  async planRedo(options: UndoOptions = {}): Promise<Plan | null> {
    return this.#planSteps(stepRequest("redo", options));
  }

  async planRevert(ref: CheckpointRef, options: RevertOptions = {}): Promise<Plan> {
    return this.#planSteps(revertRequest(this.context, ref, options));
  }

  async restore(plan: Plan, options: ApplyOptions = {}): Promise<Outcome> {
    const request = this.planned.get(plan.id);
    if (request === undefined)
      throw new EngineError(
        "PLAN_STALE",
        "This plan was not made here, or was carried out already. Nothing was changed.",
        { plan: plan.id },
      );
    this.planned.delete(plan.id);
    const bestEffort = options.bestEffort ?? false;
    return this.#goBack(() => {
      if (!("kind" in request)) return restorePlanned(this.context, request, plan, bestEffort);
      if (request.kind === "reset") return this.resetAs(request, { bestEffort }, plan);
      return moveSteps(this.context, request, { bestEffort, planned: plan });
    });
  }

  async restoreTo(ref: CheckpointRef, options: RestoreOptions & ApplyOptions = {}): Promise<Outcome> {
    return this.#goBack(() =>
      restoreNow(this.context, restoreRequest(this.context, ref, options), options.bestEffort ?? false),
    );
  }

  async undo(options: UndoOptions = {}): Promise<Outcome> {
    return this.#goBack(() =>
      moveSteps(this.context, stepRequest("undo", options), { bestEffort: options.bestEffort ?? false }),
    );
  }

  async redo(options: UndoOptions = {}): Promise<Outcome> {
    return this.#goBack(() =>
      moveSteps(this.context, stepRequest("redo", options), { bestEffort: options.bestEffort ?? false }),
    );
  }

  async revert(ref: CheckpointRef, options: RevertOptions & ApplyOptions = {}): Promise<Outcome> {
    return this.#goBack(() =>
      moveSteps(this.context, revertRequest(this.context, ref, options), {
        bestEffort: options.bestEffort ?? false,
      }),
    );
  }

  async note(ref: CheckpointRef, text: string): Promise<Checkpoint> {
    return this.#annotate(ref, (checkpoint) => setNote(this.db, checkpoint, text));
  }

  async rename(ref: CheckpointRef, name: string): Promise<Checkpoint> {
    return this.#annotate(ref, (checkpoint) => setName(this.db, checkpoint, name));
  }

  async tag(ref: CheckpointRef, tag: string): Promise<Checkpoint> {
    return this.#annotate(ref, (checkpoint) => addTag(this.db, checkpoint, tag));
  }

  async untag(tag: string): Promise<Checkpoint> {
    return this.db.transaction(() => {
      const checkpoint = removeTag(this.db, tag);
      this.#log({ untag: tag });
      this.#tellUpdated(checkpoint);
      return checkpointAt(this.db, checkpoint.seq)!;
    });
  }

  async deleteCheckpoint(ref: CheckpointRef): Promise<Checkpoint> {
    const checkpoint = resolveCheckpoint(this.db, ref);
    assertDeletable(this.db, checkpoint);
    pruneCheckpoints(this.context.store, this.#system, [checkpoint]);
    this.changed();
    return checkpoint;
  }

  async file(ref: CheckpointRef | null, path: BytePath, limitBytes: number): Promise<FileContent | null> {
    return this.#blaming(() => contentAt(this.context, ref, path, limitBytes));
  }

  async *files(ref: CheckpointRef): AsyncIterable<ExportedFile> {
    yield* exportedFiles(this.#objects, resolveCheckpoint(this.db, ref));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #system(): System {
    return this.context.system;
  }

  get #objects(): ObjectSource {
    return this.context.store.objects;
  }

  #planSteps(request: StepRequest): Plan;
  #planSteps(request: StepRequest): Plan | null;
  #planSteps(request: StepRequest): Plan | null {
    return this.#blaming(() => {
      const plan = lookAndPlanSteps(this.context, request);
      return plan === null ? null : this.keepPlan(plan, request);
    });
  }

  #annotate(ref: CheckpointRef, change: (checkpoint: Checkpoint) => void): Checkpoint {
    return this.db.transaction(() => {
      const checkpoint = resolveCheckpoint(this.db, ref);
      change(checkpoint);
      this.#log({ checkpoint: checkpoint.id });
      this.#tellUpdated(checkpoint);
      return checkpointAt(this.db, checkpoint.seq)!;
    });
  }

  #tellUpdated({ id, thread }: Checkpoint): void {
    const at = this.#system.now();
    appendEvent(this.db, { type: "checkpoint_updated", thread, at, data: { checkpoint: id } });
    this.changed();
  }

  #log(detail: Record<string, unknown>): void {
    const { newId, now } = this.#system;
    appendOperation(this.db, { id: newId() as OperationId, kind: "annotate", at: now(), detail });
  }

  #goBack(work: () => Outcome): Promise<Outcome> {
    this.recoverLeft();
    return this.settled(this.#blaming(work));
  }

  /** Damage found on the way is reported with the checkpoints it concerns. */
  #blaming<Result>(work: () => Result): Result {
    try {
      return this.#telling(work());
    } catch (error) {
      if (
        (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) &&
        error.facts.checkpoints.length === 0
      ) {
        error.facts.checkpoints.push(...findAffected(this.context.store, error.facts.object));
      }
      throw error;
    }
  }

  /** Conflicts are told too: nothing else in the store speaks of them. */
  #telling<Result>(result: Result): Result {
    if (isConflicts(result)) {
      const { id: operation, kind, description, thread } = result.plan;
      const data = { operation, kind, description, files: result.conflicts.length };
      const at = this.#system.now();
      this.db.transaction(() => appendEvent(this.db, { type: "restore_conflicts", thread, at, data }));
    }
    this.changed();
    return result;
  }
}

function isConflicts(result: unknown): result is Outcome {
  return (
    typeof result === "object" && result !== null && "outcome" in result && result.outcome === "conflicts"
  );
}
