/**
 * Runs the work of a workspace, for all its parts. Written here once: an interrupted restore is recovered
 * before anything else, captures wait for the watcher, readers of events are woken, damage is reported with the
 * checkpoints it affects, and warnings reach the caller of the next operation.
 */
import { captureWarnings, droppedWarnings } from "../capture/capture-warnings.ts";
import type { Context } from "../capture/context.ts";
import { namePaths } from "../capture/name-paths.ts";
import { appendEvent } from "../history/events.ts";
import { findThread } from "../history/threads.ts";
import { openCalls } from "../history/tool-calls.ts";
import { appendOperation, type OperationKind } from "../history/operations.ts";
import type { Recorded } from "../history/record.ts";
import { ParsersNeeded } from "../merge/parsers.ts";
import type { TakenCheckpoint, Thread } from "../model/checkpoint.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { GhostSettings } from "../model/ghost.ts";
import { isDamage, isEngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import type { Outcome } from "../model/plan.ts";
import type { RetentionPolicy } from "../model/retention.ts";
import { isAnythingLeft, recover } from "../restore/recover.ts";
import type { WorkspaceSettings } from "../settings/workspace-settings.ts";
import { assumeInterrupted } from "../steps/cut-off.ts";
import type { Database } from "../store/database.ts";
import { refreshWithheld } from "../store/withheld-names.ts";
import { findAffected } from "../upkeep/verify.ts";
import { LocalEvents } from "./local-events.ts";

/** A file may change between being named and being read: this often the whole look is repeated. */
const LOOKS_AGAIN = 5;

/** The outcomes that changed files. */
const TOUCHING: ReadonlySet<Outcome["outcome"]> = new Set(["applied", "partial", "displaced"]);

/** What the parts of a workspace share: its context, its events, and the ways to run work on it. */
export class Runner {
  readonly context: Context;
  readonly events: LocalEvents;
  readonly #settings: WorkspaceSettings;
  /** What was recovered, or could not be done, and no caller knows of yet. */
  readonly #recovered: string[] = [];

  constructor(context: Context, settings: WorkspaceSettings) {
    this.context = context;
    this.events = new LocalEvents(context);
    this.#settings = settings;
  }

  get db(): Database {
    return this.context.store.db;
  }

  get settings(): WorkspaceSettings {
    return this.#settings;
  }

  get retention(): RetentionPolicy {
    return this.#settings.retention;
  }

  get ghosts(): GhostSettings {
    return this.#settings.ghosts;
  }

  /** Runs work that captures: it may rely on what the watcher has reported, if there is one. */
  async run<Result>(work: () => Result): Promise<Result> {
    this.#begin();
    const result = await this.context.workingCopy.whileCaughtUp(work);
    this.events.wake();
    return result;
  }

  /** Runs work that compares the disk with the store, again when a file changed meanwhile. */
  async look<Result>(work: () => Result): Promise<Result> {
    for (let left = LOOKS_AGAIN; ; left -= 1) {
      try {
        return await this.run(() => this.read(work));
      } catch (error) {
        if (left === 0 || !isEngineError(error, "PLAN_STALE")) throw error;
      }
    }
  }

  /** Runs work that takes a checkpoint, and returns it as callers get to see it. */
  async take(work: () => Recorded): Promise<TakenCheckpoint>;
  async take(work: () => Recorded | undefined): Promise<TakenCheckpoint | null>;
  async take(work: () => Recorded | undefined): Promise<TakenCheckpoint | null> {
    const started = this.context.system.elapsed();
    const taken = await this.run(work);
    if (taken === undefined) return null;
    const { checkpoint } = taken;
    return {
      id: checkpoint.id,
      checkpoint,
      unchanged: taken.unchanged,
      gaps: taken.gaps,
      doubts: taken.doubts,
      stored: taken.stored ?? { objects: 0, bytes: 0 },
      warnings: [...captureWarnings(taken), ...this.notices()],
      durationMs: this.context.system.elapsed() - started,
    };
  }

  /** The threads with a tool under way. */
  threadsAtWork(): Thread[] {
    const ids = new Set(openCalls(this.db).map(({ thread }) => thread));
    return [...ids].map((id) => findThread(this.db, id));
  }

  /** Runs work that brings files back, then what the host does after it. */
  async goBack<Kind extends Outcome>(work: () => Kind): Promise<Kind> {
    this.#begin();
    const outcome = await this.plan(work);
    if (outcome.outcome === "conflicts") this.#tellConflicts(outcome);
    this.events.wake();
    const notices = [...(outcome.notices ?? []), ...this.notices()];
    if (TOUCHING.has(outcome.outcome))
      notices.push(...(await this.events.restored(outcome.plan.edits.map(({ path }) => path))));
    return notices.length === 0 ? outcome : { ...outcome, notices };
  }

  /** Runs work that plans; again where it merged texts whose parsers were not loaded. */
  async plan<Result>(work: () => Result): Promise<Result> {
    const threads = this.threadsAtWork();
    if (threads.length > 0) assumeInterrupted(this.context, await this.events.interruptions(threads));
    for (;;)
      try {
        return this.read(work);
      } catch (error) {
        if (!(error instanceof ParsersNeeded)) throw error;
        await this.context.parsers.load(error.paths);
      }
  }

  /** Runs work that reads the store: damage found on the way is reported with the checkpoints it affects. */
  read<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (isDamage(error) && error.facts.checkpoints.length === 0)
        error.facts.checkpoints.push(...findAffected(this.context.store, error.facts.object));
      throw error;
    }
  }

  /** Captures these paths from now on, whatever the ignore files say: a tool writes them on purpose. */
  name(paths: readonly BytePath[]): void {
    namePaths(this.context, paths);
  }

  /** Appends to the log of operations; call it inside the transaction that makes it true. */
  log(kind: OperationKind, detail: Record<string, unknown>): void {
    const { newId, now } = this.context.system;
    appendOperation(this.db, { id: newId() as OperationId, kind, at: now(), detail });
  }

  /** Says something to the caller of the next operation. */
  tell(notice: string): void {
    this.#recovered.push(notice);
  }

  /** [R160] What was recovered, and what was dropped to make room, since the last call of this. */
  notices(): string[] {
    return [...this.#recovered.splice(0), ...droppedWarnings(this.context.dropped.splice(0))];
  }

  /** [R10, R190] Another process may have been killed in the middle of a restore since, or closed what one replaced. */
  #begin(): void {
    this.#settings.beginTask();
    refreshWithheld(this.db);
    if (this.db.readOnly || !isAnythingLeft(this.context)) return;
    try {
      this.#recovered.push(...recover(this.context));
    } catch (error) {
      // the files stay as they are and are saved; the next look finds nothing left to recover
      if (!isEngineError(error, "RECOVERY_BLOCKED")) throw error;
      this.#recovered.push(error.message);
    }
  }

  /** An event is the only trace that conflicts leave in the store. */
  #tellConflicts({ plan, conflicts }: Outcome): void {
    const { id: operation, kind, description, thread } = plan;
    const data = { operation, kind, description, files: conflicts.length };
    const at = this.context.system.now();
    this.db.transaction(() => appendEvent(this.db, { type: "restore_conflicts", thread, at, data }));
  }
}
