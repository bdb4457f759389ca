/** A workspace in this process: each method of `Workspace`, in terms of the layers below. */
import { deserialize } from "node:v8";
import { namesakeWarnings } from "../capture/capture-warnings.ts";
import type { Context } from "../capture/context.ts";
import { importCheckpoints } from "../capture/import-checkpoints.ts";
import { importThread } from "../capture/import-thread.ts";
import { withNamedOutside } from "../capture/save-outside.ts";
import { withCapture } from "../capture/with-capture.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import type { MissingGhost } from "../ghost/ghosts.ts";
import { addAlias, aliasedCheckpoints, type Alias } from "../history/aliases.ts";
import { addTag, setAnnotations, setName, setNote, type Annotations } from "../history/annotations.ts";
import { assertRoomForManual } from "../history/checkpoint-limits.ts";
import { findBranch } from "../history/branches.ts";
import { headSeq } from "../history/line.ts";
import { listCheckpoints, listLate } from "../history/list-checkpoints.ts";
import { resolveState } from "../history/references.ts";
import { failingSince } from "../history/uncaptured.ts";
import type { OpenSyntax } from "../merge/parsers.ts";
import type { Imported, ImportedThread, ImportRequest, ThreadImport } from "../model/arrival.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Branch, BranchRequest, SwitchOptions } from "../model/branch.ts";
import type { Checkpoint, CheckpointRequest, TakenCheckpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { Findings, FindOptions } from "../model/finding.ts";
import type { FileDiff } from "../model/file-diff.ts";
import type { Ghost, GhostOptions } from "../model/ghost.ts";
import type { CheckpointId, CheckpointRef, WorkspaceId } from "../model/ids.ts";
import type { Fork, ForkRequest, MadeFork, RemovedFork, RemoveForkOptions } from "../model/fork.ts";
import type { Merge, MergeConflict, MergeOutcome, MergePlan } from "../model/merge.ts";
import type { Pause } from "../model/pause.ts";
import type { ApplyOptions, Interrupt, Outcome, Plan, RestoreProgress } from "../model/plan.ts";
import type { FileChange } from "../model/file-change.ts";
import type { PlanDetails, PlannedDiff } from "../model/plan-details.ts";
import type { FailingCaptures } from "../model/timeline.ts";
import { parsePath } from "../model/workspace-path.ts";
import type {
  CaptureLimits,
  CheckpointDetails,
  Diff,
  DiffOptions,
  ExportedFile,
  FileContent,
  ShowOptions,
  WorkspaceStatus,
} from "../queries/answers.ts";
import { withChanges } from "../queries/changes-after-message.ts";
import {
  compareFile,
  comparePlan,
  comparePlannedFile,
  type CompareFileOptions,
  type OneFileOptions,
} from "../queries/compare-file.ts";
import { findInHistory } from "../queries/find-in-history.ts";
import { compareStates } from "../queries/compare-states.ts";
import { describePlan } from "../queries/describe-plan.ts";
import { describeCheckpoint } from "../queries/describe-checkpoint.ts";
import { describeStatus } from "../queries/describe-status.ts";
import { exportedFiles } from "../queries/exported-files.ts";
import { contentAt } from "../queries/file-content.ts";
import { filesBelow } from "../capture/files-below.ts";
import { goBack, planBack, type WayBack } from "../restore/go-back.ts";
import { recover } from "../restore/recover.ts";
import { restoreWay } from "../restore/restore-way.ts";
import { noticeKilledFixes } from "../steps/fixes.ts";
import { stepsWay } from "../steps/steps-way.ts";
import type { Database } from "../store/database.ts";
import { keepReserve } from "../store/reserve.ts";
import { fullSince } from "../upkeep/known-full.ts";
import { annotate, untag } from "./annotate.ts";
import { copyIdOf } from "./copy-id.ts";
import { createContext, type LocalWorkspaceParts } from "./create-context.ts";
import type { Events } from "./interface/events.ts";
import { LocalApprovals } from "./local-approvals.ts";
import { LocalBranches } from "./local-branches.ts";
import { LocalForks } from "./local-forks.ts";
import { ghostWarnings, LocalGhosts } from "./local-ghosts.ts";
import { LocalExchange } from "./local-exchange.ts";
import { LocalFixes } from "./local-fixes.ts";
import { LocalMerges } from "./local-merges.ts";
import { LocalRuns } from "./local-runs.ts";
import { LocalThreads } from "./local-threads.ts";
import { LocalTimeline } from "./local-timeline.ts";
import { LocalTurns } from "./local-turns.ts";
import { LocalUpkeep } from "./local-upkeep.ts";
import { LocalVersions } from "./local-versions.ts";
import { pauseCaptures, resumeCaptures } from "./pause-captures.ts";
import { PlanBook, type HandedOver } from "./plan-book.ts";
import { Runner } from "./runner.ts";
import type { Fixes } from "./interface/fixes.ts";
import type { Runs } from "./interface/runs.ts";
import type { BranchMergeOptions, ConflictChoice, ResolvedConflict } from "./interface/merges.ts";
import type { Threads } from "./interface/threads.ts";
import type { Timeline } from "./interface/timeline.ts";
import type { Turns } from "./interface/turns.ts";
import type { Upkeep } from "./interface/upkeep.ts";
import type { Versions } from "./interface/versions.ts";
import { restoreRequest, revertRequest, undoWay } from "./way-back-requests.ts";
import { wayOf, type WayRequest } from "./way-request.ts";
import type {
  ListOptions,
  Progress,
  Reconciled,
  RestoreOptions,
  PartialUndoOptions,
  RevertOptions,
  UndoOptions,
  Watching,
  Workspace,
} from "./interface/workspace.ts";

const NOT_WATCHING: Watching = { state: "cold", reason: "watching was not started", directories: 0 };

/** The parts of a workspace over one runner, and each method of `Workspace` in terms of the layers below. */
export class LocalWorkspace implements Workspace {
  readonly id: WorkspaceId;
  readonly copyId: string;
  readonly root: string;
  readonly store: string;
  readonly timeline: Timeline;
  readonly threads: Threads;
  readonly turns: Turns;
  readonly approvals: LocalApprovals;
  readonly merges: LocalMerges;
  readonly runs: Runs;
  readonly fixes: Fixes;
  readonly upkeep: Upkeep;
  readonly versions: Versions;
  readonly exchange: LocalExchange;
  readonly #branches: LocalBranches;
  readonly #forks: LocalForks;
  readonly #ghosts: LocalGhosts;
  /** What the parts share. */
  readonly runner: Runner;
  readonly plans: PlanBook;
  readonly #notices: string[];

  constructor(parts: LocalWorkspaceParts) {
    const { id, root, store, settings, notices, system } = parts;
    this.id = id;
    this.copyId = copyIdOf(id, store.db.workingCopy);
    this.root = displayAbsolute(root);
    this.store = store.directory === undefined ? "memory" : displayAbsolute(store.directory);
    this.#notices = [...notices];
    this.runner = new Runner(createContext(parts), settings);
    this.timeline = new LocalTimeline(this.runner);
    this.threads = new LocalThreads(this.runner);
    this.exchange = new LocalExchange(this.runner);
    this.turns = new LocalTurns(this.runner);
    this.plans = parts.plans ?? new PlanBook(system);
    this.approvals = new LocalApprovals(this.runner, (preview, way) =>
      this.plans.keep(this.copyId, preview, way),
    );
    this.#forks = new LocalForks(this.runner, parts);
    this.merges = new LocalMerges(this.runner, {
      plan: (request) => this.#plan(() => request),
      restore: (plan) => this.restore(plan),
      openCopy: parts.copies?.open,
      scratch: (state) => this.#forks.scratch(state),
    });
    this.runs = new LocalRuns(this.runner, parts);
    this.fixes = new LocalFixes(this.runner);
    this.upkeep = new LocalUpkeep(this.runner);
    this.versions = new LocalVersions(this.runner);
    this.#branches = new LocalBranches(this.runner);
    this.#ghosts = new LocalGhosts(this.runner);
    if (!store.db.readOnly) keepReserve(store.directory);
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  get events(): Events {
    return this.runner.events;
  }

  /** Finishes what an interrupted process left behind. */
  recover(): void {
    this.#notices.push(...recover(this.#context), ...this.#forks.recover());
    noticeKilledFixes(this.#context);
  }

  async checkpoint(request: CheckpointRequest = {}, progress?: Progress): Promise<TakenCheckpoint> {
    assertRoomForManual(this.#db, request, this.runner.retention.manualLimit);
    if (request.paths === undefined && this.#context.coverage.isNamed) this.#coverAll();
    this.runner.name((request.paths ?? []).map(parsePath));
    const description = request.description ?? request.name ?? "Manual checkpoint";
    const included = (request.include ?? []).flatMap((path) =>
      filesBelow(this.#context.workingCopy.root, parsePath(path)),
    );
    const namesakes = namesakeWarnings(this.#db, request.name);
    let warnings: readonly string[] = namesakes;
    const taken = await this.runner.take(() =>
      withNamedOutside(this.#context, { paths: request.outside ?? [] }, (saved) => {
        const recorded = withCapture(this.#context, { progress, included }, (capture) => {
          const checkpoint = capture.record({ request, description });
          saved.record(checkpoint.checkpoint.seq);
          return checkpoint;
        });
        warnings = [...namesakes, ...saved.warnings];
        return recorded;
      }),
    );
    return { ...taken, warnings: [...taken.warnings, ...warnings] };
  }

  #coverAll(): void {
    this.#context.coverage.coverAll();
    this.#context.workingCopy.distrust();
  }

  get limits(): CaptureLimits {
    const { fileBytes, checkpointBytes } = this.runner.settings.limits;
    return { fileBytes, checkpointBytes };
  }

  get isAlone(): boolean {
    return this.#db.isAlone;
  }

  get watching(): Watching {
    return this.#context.workingCopy.live?.capture.watching ?? NOT_WATCHING;
  }

  async watch({ directoryLimit }: { directoryLimit?: number } = {}): Promise<Watching> {
    const { workingCopy } = this.#context;
    if (this.isAlone)
      throw new EngineError(
        "DISK_FULL",
        "No space is left for the store: nothing can be captured. Your files are untouched.",
        {
          path: this.store,
        },
      );
    await workingCopy.watch(directoryLimit);
    return this.watching;
  }

  async reconcile(): Promise<Reconciled> {
    const { workingCopy } = this.#context;
    const { paths, checkpoints } = await workingCopy.reconcile();
    workingCopy.saveCache();
    return { missed: paths, checkpoints: checkpoints as readonly CheckpointId[] };
  }

  async list(options: ListOptions = {}): Promise<Checkpoint[]> {
    const branch = options.branch === undefined ? undefined : findBranch(this.#db, options.branch).id;
    const listed = listCheckpoints(this.#db, { ...options, branch });
    return options.fresh === true ? this.runner.look(() => withChanges(this.#context, listed)) : listed;
  }

  async resolve(ref: CheckpointRef): Promise<Checkpoint>;
  async resolve(conflict: string, choice: ConflictChoice): Promise<ResolvedConflict>;
  async resolve(ref: string, choice?: ConflictChoice): Promise<Checkpoint | ResolvedConflict> {
    return choice === undefined ? resolveState(this.#context, ref) : this.merges.resolve(ref, choice);
  }

  async show(ref: CheckpointRef, { since }: ShowOptions = {}): Promise<CheckpointDetails> {
    const state = (each: CheckpointRef) => resolveState(this.#context, each);
    return this.runner.read(() => ({
      ...describeCheckpoint(this.#context, state(ref), since === undefined ? undefined : state(since)),
      limits: this.limits,
    }));
  }

  async diff(fromOrOptions: CheckpointRef | DiffOptions, to?: CheckpointRef): Promise<Diff> {
    const isRef = typeof fromOrOptions === "string";
    const options = isRef
      ? { from: fromOrOptions, ...(to === undefined ? {} : { to }), detail: "text" as const }
      : fromOrOptions;
    return this.runner.look(() => compareStates(this.#context, options));
  }

  async diffFile(options: CompareFileOptions): Promise<FileDiff | null> {
    return this.runner.look(() => compareFile(this.#context, options));
  }

  async find(options: FindOptions): Promise<Findings> {
    return findInHistory(this.#context, options);
  }

  async status(): Promise<WorkspaceStatus> {
    const { id, root, store } = this;
    return this.runner.look(() => {
      const status = describeStatus(this.#context);
      return {
        id,
        root,
        store,
        limits: this.limits,
        ...status,
        warnings: [...status.warnings, ...ghostWarnings(this.runner)],
      };
    });
  }

  async planRestore(ref: CheckpointRef, options: RestoreOptions = {}): Promise<Plan> {
    return this.#plan(() => ({ way: "restore", request: restoreRequest(this.#context, ref, options) }));
  }

  async planUndo(options: PartialUndoOptions = {}): Promise<Plan | null> {
    return ofSteps(this.#plan(() => undoWay(this.#context, "undo", options)));
  }

  async planRedo(options: UndoOptions = {}): Promise<Plan | null> {
    return ofSteps(this.#plan(() => undoWay(this.#context, "redo", options)));
  }

  async planRevert(ref: CheckpointRef, options: RevertOptions = {}): Promise<Plan> {
    return this.#plan(() => ({ way: "steps", request: revertRequest(this.#context, ref, options) }));
  }

  branches(options?: { deleted?: boolean }): Promise<Branch[]> {
    return this.#branches.branches(options);
  }

  createBranch(name: string, request?: BranchRequest): Promise<Branch> {
    return this.#branches.createBranch(name, request);
  }

  async planSwitch(name: string, options: SwitchOptions = {}): Promise<Plan> {
    return this.#plan(() => this.#branches.switchRequest(name, options));
  }

  renameBranch(name: string, next: string): Promise<Branch> {
    return this.#branches.renameBranch(name, next);
  }

  deleteBranch(name: string): Promise<Branch> {
    return this.#branches.deleteBranch(name);
  }

  restoreBranch(name: string): Promise<Branch> {
    return this.#branches.restoreBranch(name);
  }

  async forks(options: { removed?: boolean } = {}): Promise<Fork[]> {
    return this.#forks.forks(options);
  }

  async findFork(ref: string): Promise<Fork> {
    return this.#forks.findFork(ref);
  }

  async fork(name?: string, request: ForkRequest = {}): Promise<MadeFork> {
    return this.#forks.fork(name, request);
  }

  async openFork(ref: string): Promise<Workspace> {
    return this.#forks.openFork(ref);
  }

  async forkEnvironment(ref: string): Promise<Record<string, string>> {
    return this.#forks.forkEnvironment(ref);
  }

  async removeFork(ref: string, options: RemoveForkOptions = {}): Promise<RemovedFork> {
    return this.#forks.removeFork(ref, options);
  }

  async restoreFork(ref: string): Promise<Fork> {
    return this.#forks.restoreFork(ref);
  }

  async planMerge(sources: readonly string[], options: BranchMergeOptions = {}): Promise<MergePlan> {
    return this.merges.planMerge(sources, options);
  }

  async merge(plan: MergePlan): Promise<MergeOutcome> {
    return this.merges.merge(plan);
  }

  async conflicts(merge?: string): Promise<MergeConflict[]> {
    return this.merges.conflicts(merge);
  }

  async reopen(conflict: string): Promise<MergeConflict> {
    return this.merges.reopen(conflict);
  }

  async abandonMerge(id: string): Promise<Merge> {
    return this.merges.abandonMerge(id);
  }

  ghost(ref?: CheckpointRef, options?: GhostOptions): Promise<Ghost | MissingGhost> {
    return this.#ghosts.ghost(ref, options);
  }

  ghosts(): Promise<Ghost[] | MissingGhost> {
    return this.#ghosts.ghosts();
  }

  importGhost(id: string): Promise<Checkpoint | MissingGhost> {
    return this.#ghosts.importGhost(id);
  }

  dropGhost(id: string): Promise<number | MissingGhost> {
    return this.#ghosts.dropGhost(id);
  }

  async planDetails({ id }: Plan): Promise<PlanDetails> {
    return this.runner.read(() => describePlan(this.#context, this.plans.preview(this.copyId, id)));
  }

  async diffPlanned({ id }: Plan, options: OneFileOptions): Promise<PlannedDiff | null> {
    return this.runner.read(() => comparePlannedFile(this.plans.preview(this.copyId, id), options));
  }

  async planChanges({ id }: Plan): Promise<FileChange[]> {
    return this.runner.read(() => comparePlan(this.plans.preview(this.copyId, id)));
  }

  async restore(plan: Plan, options: ApplyOptions = {}): Promise<Outcome> {
    const { plan: planned, way } = this.plans.take(this.copyId, plan.id);
    return this.runner.goBack(() => goBack(this.#context, way, { ...options, planned }));
  }

  async carryOut(handed: Uint8Array, options: ApplyOptions = {}): Promise<Outcome> {
    const { plan: planned, request } = deserialize(handed) as HandedOver;
    return this.runner.goBack(() => goBack(this.#context, wayOf(request), { ...options, planned }));
  }

  async restoreTo(ref: CheckpointRef, options: RestoreOptions & ApplyOptions = {}): Promise<Outcome> {
    return this.#goBack(() => restoreWay(restoreRequest(this.#context, ref, options)), options);
  }

  async undo(options: PartialUndoOptions = {}): Promise<Outcome> {
    return this.#goBack(() => wayOf(undoWay(this.#context, "undo", options)), options);
  }

  async redo(options: UndoOptions = {}): Promise<Outcome> {
    return this.#goBack(() => wayOf(undoWay(this.#context, "redo", options)), options);
  }

  async revert(ref: CheckpointRef, options: RevertOptions & ApplyOptions = {}): Promise<Outcome> {
    return this.#goBack(() => stepsWay(revertRequest(this.#context, ref, options)), options);
  }

  async annotate(ref: CheckpointRef, change: Annotations): Promise<Checkpoint> {
    return annotate(this.runner, ref, (checkpoint) => setAnnotations(this.#db, checkpoint, change));
  }

  async importCheckpoint(request: ImportRequest): Promise<Checkpoint> {
    return (await this.importCheckpoints([request])).checkpoints[0]!;
  }

  async importCheckpoints(requests: Iterable<ImportRequest>): Promise<Imported> {
    return this.runner.run(() => importCheckpoints(this.#context, requests));
  }

  async importThread(request: ThreadImport): Promise<ImportedThread> {
    return this.runner.run(() => importThread(this.#context, request));
  }

  async note(ref: CheckpointRef, text: string): Promise<Checkpoint> {
    return annotate(this.runner, ref, (checkpoint) => setNote(this.#db, checkpoint, text));
  }

  async rename(ref: CheckpointRef, name: string): Promise<Checkpoint> {
    return annotate(this.runner, ref, (checkpoint) => setName(this.#db, checkpoint, name));
  }

  async tag(ref: CheckpointRef, tag: string): Promise<Checkpoint> {
    return annotate(this.runner, ref, (checkpoint) => addTag(this.#db, checkpoint, tag));
  }

  async untag(tag: string): Promise<Checkpoint> {
    return untag(this.runner, tag);
  }

  async addAlias(ref: CheckpointRef, alias: Alias): Promise<Checkpoint> {
    return annotate(this.runner, ref, (checkpoint) => addAlias(this.#db, checkpoint, alias));
  }

  async aliases(origin: string): Promise<Map<string, Checkpoint>> {
    return aliasedCheckpoints(this.#db, origin);
  }

  async file(ref: CheckpointRef | null, path: BytePath, limitBytes: number): Promise<FileContent | null> {
    return this.runner.read(() => contentAt(this.#context, ref, path, limitBytes));
  }

  async *files(ref: CheckpointRef, paths?: readonly string[]): AsyncIterable<ExportedFile> {
    yield* exportedFiles(this.#context.store.objects, resolveState(this.#context, ref), paths);
  }

  async lateSince(time: number): Promise<number[]> {
    return listLate(this.#db, time);
  }

  get failing(): FailingCaptures | null {
    const { store, capBytes } = this.#context;
    const full = fullSince(store, capBytes);
    if (full !== null) return { since: full, problem: "The store is full.", isFull: true };
    const failure = failingSince(store.db, {
      newest: headSeq(store.db),
      unrecorded: this.#context.unrecorded(),
    });
    return failure && { ...failure, isFull: false };
  }

  get paused(): Pause | null {
    return this.#context.pauses.current;
  }

  async pause(pause: Pause, scope: "workspace" | "all" = "workspace"): Promise<void> {
    await pauseCaptures(this.runner, pause, scope);
  }

  async resume(scope: "workspace" | "all" = "workspace"): Promise<void> {
    await resumeCaptures(this.runner, scope);
  }

  parseWith(open: OpenSyntax | undefined): void {
    this.#context.parsers.use(open);
  }

  interruptedBy(interrupt: Interrupt | undefined): void {
    this.#context.interrupt = interrupt;
  }

  tellProgress(tell: ((at: RestoreProgress) => void) | undefined): void {
    this.#context.progress = tell;
  }

  async close(): Promise<void> {
    this.runner.events.close();
    await this.#context.workingCopy.close();
    this.#context.store[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #context(): Context {
    return this.runner.context;
  }

  get #db(): Database {
    return this.runner.db;
  }

  #plan(describe: () => WayRequest): Promise<Plan> {
    return this.runner.plan(() => {
      const request = describe();
      const way = wayOf(request);
      return this.plans.keep(this.copyId, { ...planBack(this.#context, way), request }, way);
    });
  }

  #goBack(describe: () => WayBack, { bestEffort = false }: ApplyOptions): Promise<Outcome> {
    return this.runner.goBack(() => goBack(this.#context, describe(), { bestEffort }));
  }
}

/** Without a step there is nothing to undo or redo, and no plan. */
async function ofSteps(planned: Promise<Plan>): Promise<Plan | null> {
  const plan = await planned;
  return plan.steps.length === 0 ? null : plan;
}
