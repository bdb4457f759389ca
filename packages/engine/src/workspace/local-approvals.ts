/** Approvals of a workspace in this process. */
import { listSessions, readOpenSession } from "../history/sessions.ts";
import { assertThread } from "../history/threads.ts";
import type { DiffDetail } from "../model/file-change.ts";
import type { ThreadId } from "../model/ids.ts";
import type { ApplyOptions, Plan } from "../model/plan.ts";
import type { Approval, ApproveOptions, ResetOutcome, Session, SessionStatus } from "../model/session.ts";
import { describeSession, resetRequest } from "../queries/describe-session.ts";
import {
  approvedState,
  approveThread,
  lookForPending,
  resetThread,
  type ResetRequest,
} from "../steps/approval.ts";
import type { Approvals } from "./approvals.ts";
import type { PlannedRequests } from "./planned-requests.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Approvals`, in terms of the layers below. */
export class LocalApprovals implements Approvals {
  readonly #runner: Runner;
  readonly #planned: PlannedRequests;

  constructor(runner: Runner, planned: PlannedRequests) {
    this.#runner = runner;
    this.#planned = planned;
  }

  async session(
    thread: ThreadId,
    options: { detail?: DiffDetail; content?: boolean } = {},
  ): Promise<SessionStatus> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    return this.#runner.look(() =>
      describeSession(context, lookForPending(context, resetRequest(thread)), options),
    );
  }

  async sessions(thread: ThreadId): Promise<Session[]> {
    const { db } = this.#runner;
    assertThread(db, thread);
    return listSessions(db, thread);
  }

  async approve(thread: ThreadId, { message }: ApproveOptions = {}): Promise<Approval> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    const { checkpoint, ...rest } = await this.#runner.run(() => approveThread(context, thread, message));
    return { approved: checkpoint.id, ...rest };
  }

  async planReset(thread: ThreadId, options: { includeShared?: boolean } = {}): Promise<Plan> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    const request = resetRequest(thread, options.includeShared);
    const { plan } = this.#runner.blame(() => lookForPending(context, request));
    return this.#planned.keep(plan, request);
  }

  async reset(
    thread: ThreadId,
    options: ApplyOptions & { includeShared?: boolean } = {},
  ): Promise<ResetOutcome> {
    assertThread(this.#runner.db, thread);
    const request = resetRequest(thread, options.includeShared);
    return this.#runner.goBack(() => this.carryOut(request, options));
  }

  /** Resets by a plan or without one; run it with `goBack`. */
  carryOut(request: ResetRequest, options: ApplyOptions, planned?: Plan): ResetOutcome {
    const { db, context } = this.#runner;
    const { thread } = request;
    const before = readOpenSession(db, thread).name;
    const resetTo = approvedState(context, thread)?.id ?? null;
    const bestEffort = options.bestEffort ?? false;
    const outcome = resetThread(context, request, { bestEffort, ...(planned && { planned }) });
    const { name } = readOpenSession(db, thread);
    return { ...outcome, resetTo, newSession: name === before ? null : name };
  }
}
