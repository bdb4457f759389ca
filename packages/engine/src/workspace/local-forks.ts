/** The forks of a workspace in this process. */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { placeFork, takeBack, type PlacedFork } from "../fork/make-fork.ts";
import { describeFork, forkEnvironment, isForkThere, type Forking } from "../fork/forking.ts";
import { recoverForks } from "../fork/recover-forks.ts";
import {
  captureForRemoval,
  clearAway,
  deleteTrashed,
  forgetGone,
  isOutsideTrash,
  moveBack,
  moveToTrash,
  appendForkEvent,
  refuseBusy,
} from "../fork/remove-fork.ts";
import { makeScratch, type Scratch, type ScratchState } from "../fork/scratch.ts";
import { describeBranch } from "../history/branches.ts";
import { listForks, listSpareForks, setForkGone, setForkReady, type ForkRow } from "../history/forks.ts";
import { appendOperation } from "../history/operations.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { Fork, ForkRequest, MadeFork, RemovedFork, RemoveForkOptions } from "../model/fork.ts";
import type { OperationId, WorkspaceId } from "../model/ids.ts";
import { copyIdOf } from "./copy-id.ts";
import type { LocalWorkspaceParts, WorkingCopies } from "./create-context.ts";
import type { Forks } from "./interface/forks.ts";
import type { Workspace } from "./interface/workspace.ts";
import type { Runner } from "./runner.ts";

const HOUR_MS = 60 * 60 * 1000;

/** Each method of `Forks`, in terms of the layers below. */
export class LocalForks implements Forks<Workspace> {
  readonly #runner: Runner;
  readonly #id: WorkspaceId;
  readonly #copies: WorkingCopies | undefined;

  constructor(runner: Runner, { id, copies }: Pick<LocalWorkspaceParts, "id" | "copies">) {
    this.#runner = runner;
    this.#id = id;
    this.#copies = copies;
  }

  /** Finishes what a killed process left of forks. */
  recover(): string[] {
    return this.#copies === undefined ? [] : recoverForks(this.#context, () => this.#forking);
  }

  async forks({ removed = false }: { removed?: boolean } = {}): Promise<Fork[]> {
    return this.#rows()
      .filter(({ state }) => removed || state !== "removing")
      .map((row) => describeFork(row, this.#forking));
  }

  async findFork(ref: string): Promise<Fork> {
    return describeFork(this.#find(ref), this.#forking);
  }

  async fork(name?: string, request: ForkRequest = {}): Promise<MadeFork> {
    const forking = this.#forking;
    this.recover();
    await this.#emptyTrash({ all: false });
    const placed = await this.#place(name, request);
    try {
      await this.#makeReady(placed, request);
    } catch (error) {
      takeBack(this.#context, forking, placed.row.workingCopy);
      throw error;
    }
    this.#runner.events.wake();
    const row = this.#at(placed.row.workingCopy);
    return { ...describeFork(row, forking), warnings: [...placed.warnings, ...this.#runner.notices()] };
  }

  async openFork(ref: string): Promise<Workspace> {
    const row = this.#find(ref);
    if (row.state === "removing" || !isForkThere(row)) throw notThere(row);
    return this.#opened(row);
  }

  async forkEnvironment(ref: string): Promise<Record<string, string>> {
    return forkEnvironment(this.#context, this.#forking, this.#find(ref));
  }

  async removeFork(
    ref: string,
    { now = false, despiteGaps = false }: RemoveForkOptions = {},
  ): Promise<RemovedFork> {
    this.recover();
    const row = this.#find(ref);
    if (row.state === "making") throw unfinished(row);
    const warnings = row.state === "ready" ? await this.#putInTrash(row, despiteGaps) : [];
    if (now && !(await this.#delete(row.workingCopy)))
      warnings.push(`A process is at work in the trash: ${row.name} stays there until it has ended.`);
    await this.#emptyTrash({ all: false });
    this.#runner.events.wake();
    return this.#removed(row, warnings);
  }

  async restoreFork(ref: string): Promise<Fork> {
    this.recover();
    const row = this.#find(ref);
    if (row.state === "ready" && isForkThere(row)) return describeFork(row, this.#forking);
    if (row.state !== "removing" || !(isForkThere(row) || isOutsideTrash(row))) throw notThere(row);
    moveBack(this.#context, this.#forking, row);
    this.#runner.events.wake();
    return describeFork(this.#at(row.workingCopy), this.#forking);
  }

  /** Writes a state into a scratch copy, which the caller closes. */
  scratch(state: ScratchState): Promise<Scratch> {
    return makeScratch(this.#context, this.#forking, state);
  }

  get #context(): Context {
    return this.#runner.context;
  }

  get #forking(): Forking {
    const copies = this.#copies;
    if (copies === undefined)
      throw new EngineError("WORKSPACE_REFUSED", "A store in memory has no forks. Nothing was changed.", {
        path: displayAbsolute(this.#context.workingCopy.root),
        reason: "its store is in memory",
      });
    return {
      id: this.#id,
      home: copies.home,
      settings: this.#runner.settings.forks,
      copyId: (workingCopy) => copyIdOf(this.#id, workingCopy),
      inCopy: async (copy, work) => {
        await using opened = copies.open(copy);
        return await work(opened.runner.context);
      },
    };
  }

  #opened(row: ForkRow): Workspace & { readonly runner: Runner } {
    return this.#copies!.open(row);
  }

  #rows(): ForkRow[] {
    return listForks(this.#runner.db);
  }

  #find(ref: string): ForkRow {
    const { copyId } = this.#forking;
    const named = this.#rows().filter(
      (row) =>
        row.name === ref ||
        copyId(row.workingCopy) === ref ||
        displayAbsolute(row.root) === ref.replace(/\/$/, ""),
    );
    const found = named.find(({ state }) => state !== "removing") ?? named[0];
    if (found !== undefined) return found;
    throw new EngineError("FORK_NOT_FOUND", `There is no fork "${ref}". Nothing was changed.`, { fork: ref });
  }

  /** On a full disk, or when forks take too much, the trash goes first: all of it is captured. */
  async #place(name: string | undefined, request: ForkRequest): Promise<PlacedFork> {
    const place = () => this.#runner.run(() => placeFork(this.#context, this.#forking, { name, request }));
    try {
      return await place();
    } catch (error) {
      const isFull =
        isEngineError(error, "DISK_FULL") ||
        (isEngineError(error, "FORK_LIMIT") && error.facts.limit !== "forks.limit");
      if (!isFull || !(await this.#emptyTrash({ all: true }))) throw error;
      return place();
    }
  }

  /** [R90] What the set-up writes is in the checkpoint that the fork's work is compared with. */
  async #makeReady({ row }: PlacedFork, { setup, run }: ForkRequest): Promise<void> {
    await using opened = this.#opened(row);
    const environment = forkEnvironment(this.#context, this.#forking, row);
    await setup?.(
      describeFork(row, this.#forking),
      run === undefined ? environment : { ...environment, BELAY_RUN: run },
    );
    const { context } = opened.runner;
    await opened.runner.run(() =>
      withCapture(context, {}, (capture) => {
        const { checkpoint } = capture.record({ request: { kind: "fork" }, description: "Fork ready" });
        const { db } = context.store;
        setForkReady(db, { workingCopy: row.workingCopy, base: checkpoint.seq });
        const { now, newId } = context.system;
        const detail = { created: row.name, checkpoint: checkpoint.id };
        appendOperation(db, { id: newId() as OperationId, kind: "fork", at: now(), detail });
        const fork = this.#forking.copyId(row.workingCopy);
        appendForkEvent(context, {
          type: "fork_created",
          fork,
          name: row.name,
          path: displayAbsolute(row.root),
        });
      }),
    );
  }

  async #putInTrash(row: ForkRow, despiteGaps: boolean): Promise<string[]> {
    const forking = this.#forking;
    const path = displayAbsolute(row.root);
    if (!isForkThere(row)) {
      forgetGone(this.#context, forking, row);
      return [`Nothing was at ${path}: only the branch is left.`];
    }
    await forking.inCopy(row, async (inFork) => {
      refuseBusy(inFork, row);
      captureForRemoval(inFork, row, { despiteGaps });
    });
    moveToTrash(this.#context, forking, this.#at(row.workingCopy));
    const event = {
      type: "fork_removed" as const,
      fork: forking.copyId(row.workingCopy),
      name: row.name,
      path,
    };
    this.#runner.db.transaction(() => appendForkEvent(this.#context, event));
    return [];
  }

  #at(workingCopy: number): ForkRow {
    return listForks(this.#runner.db, { gone: true }).find((row) => row.workingCopy === workingCopy)!;
  }

  async #delete(workingCopy: number, { spare = false } = {}): Promise<boolean> {
    const row = this.#at(workingCopy);
    if (row.state !== "removing") return true;
    return deleteTrashed(this.#context, this.#forking, { row, spare });
  }

  /** Deletes what was in the trash for its grace time, but for a spare fork; with `all` the spare one too. Says whether anything was deleted. */
  async #emptyTrash({ all }: { all: boolean }): Promise<boolean> {
    const until = this.#context.system.now() - this.#forking.settings.graceHours * HOUR_MS;
    const old = this.#rows().filter(
      ({ state, removedAt }) => state === "removing" && (all || (removedAt ?? 0) <= until),
    );
    const { db } = this.#runner;
    const spare = listSpareForks(db).slice(all ? 0 : this.#forking.settings.spare);
    if (spare.length > 0)
      db.transaction(() => spare.forEach(({ workingCopy }) => setForkGone(db, workingCopy)));
    for (const row of listForks(db, { gone: true }))
      if (row.state === "gone" && row.root !== "") clearAway(this.#context, row);
    let isAny = spare.length > 0;
    for (const { workingCopy } of old) {
      const isKept = !all && listSpareForks(db).length < this.#forking.settings.spare;
      isAny = (await this.#delete(workingCopy, { spare: isKept })) || isAny;
    }
    return isAny;
  }

  #removed({ workingCopy, root }: ForkRow, warnings: string[]): RemovedFork {
    const now = this.#at(workingCopy);
    // one that is gone is named by where it was
    const row = now.state === "gone" ? { ...now, root } : now;
    const branch = describeBranch(this.#runner.db, row.branch);
    const { graceHours } = this.#forking.settings;
    const isKept = row.state === "removing" && row.removedAt !== null;
    return {
      fork: describeFork(row, this.#forking),
      branch,
      checkpoint: row.head,
      until: isKept ? row.removedAt + graceHours * HOUR_MS : null,
      warnings: [...warnings, ...this.#runner.notices()],
    };
  }
}

function notThere({ name, root }: ForkRow): EngineError<"FORK_NOT_FOUND"> {
  const message = `The fork "${name}" is no longer at ${displayAbsolute(root)}; its branch is still there. Nothing was changed.`;
  return new EngineError("FORK_NOT_FOUND", message, { fork: name });
}

function unfinished({ name }: ForkRow): EngineError<"FORK_NOT_FOUND"> {
  return new EngineError("FORK_NOT_FOUND", `The fork "${name}" is still being made. Nothing was changed.`, {
    fork: name,
  });
}
