/** The records of runs of a workspace in this process. */
import { below, displayAbsolute } from "../fs/absolute-path.ts";
import { processIdentity } from "../fs/system.ts";
import { seqOf } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import {
  findRun,
  insertRun,
  listRuns,
  setRunProcess,
  setRunProgress,
  setRunReason,
  setRunWatcher,
  type RunFilter,
} from "../history/run-rows.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Run, RunLog, RunProgress, RunRequest, RunResult } from "../model/run.ts";
import { escapedSince } from "../steps/escaped.ts";
import { beginRun, closeRun, endRun } from "../steps/run-turn.ts";
import type { LocalWorkspaceParts } from "./create-context.ts";
import type { Runs } from "./interface/runs.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Runs`, in terms of the layers below. */
export class LocalRuns implements Runs {
  readonly directory: string | null;
  readonly #runner: Runner;

  constructor(runner: Runner, { id, copies }: Pick<LocalWorkspaceParts, "id" | "copies">) {
    this.#runner = runner;
    this.directory = copies === undefined ? null : displayAbsolute(below(copies.home, `runs/${id}`));
  }

  identify(pid: number): ProcessIdentity {
    return processIdentity(pid);
  }

  isAlive(program: ProcessIdentity): boolean {
    return this.#runner.context.system.isAlive(program);
  }

  async list(options: RunFilter = {}): Promise<Run[]> {
    return listRuns(this.#runner.db, options);
  }

  async find(ref: string): Promise<Run> {
    return findRun(this.#runner.db, ref);
  }

  async add(request: RunRequest): Promise<Run> {
    const { db, context } = this.#runner;
    const { system } = context;
    const id = system.newId();
    const batch = request.batch ?? id;
    db.transaction(() => insertRun(db, { ...request, id, batch, now: system.now(), watcher: system.owner }));
    return findRun(db, id);
  }

  async begin(id: string, log: Omit<RunLog, "truncated">): Promise<Run> {
    const { db, context } = this.#runner;
    return this.#runner.run(() => beginRun(context, findRun(db, id), log));
  }

  async started(id: string, program: ProcessIdentity): Promise<void> {
    const { db } = this.#runner;
    db.transaction(() => setRunProcess(db, id, program));
  }

  async progress(id: string, progress: RunProgress): Promise<void> {
    const { db, context } = this.#runner;
    const { cost = null, tokens = null, lines } = progress;
    db.transaction(() => {
      setRunProgress(db, id, progress);
      const { thread } = findRun(db, id);
      const data = { run: id, cost, tokens: tokens?.total ?? null, lines };
      appendEvent(db, { type: "agent_progress", thread, at: context.system.now(), data });
    });
    this.#runner.events.wake();
  }

  async ending(id: string, reason: string): Promise<void> {
    const { db } = this.#runner;
    db.transaction(() => setRunReason(db, id, reason));
  }

  async takeOver(id: string): Promise<boolean> {
    const { db, context } = this.#runner;
    const { system } = context;
    return db.transaction(() => {
      const { watcher, endedAt } = findRun(db, id);
      if (endedAt !== null) return false;
      if (watcher !== null && watcher.pid !== system.owner.pid && system.isAlive(watcher)) return false;
      setRunWatcher(db, id, system.owner);
      return true;
    });
  }

  async escapedDuring(id: string): Promise<string[]> {
    const { db, context } = this.#runner;
    const { before } = findRun(db, id);
    // numbers are given to all branches in turn: later ones came later
    const since = before === null ? undefined : seqOf(db, before);
    return since === undefined ? [] : this.#runner.run(() => escapedSince(context, since));
  }

  async end(id: string, result: RunResult): Promise<Run> {
    const { db, context } = this.#runner;
    const run = findRun(db, id);
    if (run.endedAt !== null) return run;
    const ended =
      result.status === "lost"
        ? closeRun(context, run, { ...result, after: null, changes: null })
        : await this.#runner.run(() => endRun(context, run, result));
    this.#runner.events.wake();
    return ended;
  }
}
