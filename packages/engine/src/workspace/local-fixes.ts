/** The records of loops of fixes of a workspace in this process. */
import { findFix, listFixes, setAttemptEnded } from "../history/fix-rows.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Fix, FixRequest, FixUpdate } from "../model/fix.ts";
import { beginAttempt, beginFix, noticeKilledFixes, updateFix } from "../steps/fixes.ts";
import type { Fixes } from "./interface/fixes.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Fixes`, in terms of the layers below. */
export class LocalFixes implements Fixes {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async list({ limit = 100 }: { limit?: number } = {}): Promise<Fix[]> {
    return listFixes(this.#runner.db, this.#runner.context.system.isAlive, limit);
  }

  async find(ref: string): Promise<Fix> {
    return findFix(this.#runner.db, ref, this.#runner.context.system.isAlive);
  }

  async begin(request: FixRequest): Promise<Fix> {
    return this.#runner.run(() => beginFix(this.#runner.context, request));
  }

  async beginAttempt(fix: string, attempt: Parameters<Fixes["beginAttempt"]>[1]): Promise<Checkpoint> {
    return this.#runner.run(() => beginAttempt(this.#runner.context, fix, attempt));
  }

  async endAttempt(fix: string, number: number, ended: Parameters<Fixes["endAttempt"]>[2]): Promise<void> {
    const { db } = this.#runner;
    db.transaction(() => setAttemptEnded(db, { fix, number }, ended));
  }

  async noticeKilled(): Promise<void> {
    if (noticeKilledFixes(this.#runner.context)) this.#runner.events.wake();
  }

  async update(fix: string, update: FixUpdate): Promise<Fix> {
    const updated = updateFix(this.#runner.context, fix, update);
    this.#runner.events.wake();
    return updated;
  }
}
