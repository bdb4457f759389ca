/** Approvals of a workspace in this process. */
import { listSessions } from "../history/sessions.ts";
import { assertThread } from "../history/threads.ts";
import type { DiffDetail } from "../model/file-change.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Plan } from "../model/plan.ts";
import type { Approval, ApproveOptions, ResetOutcome, Session, SessionStatus } from "../model/session.ts";
import { describeSession } from "../queries/describe-session.ts";
import { goBack, planBack, type WayBack } from "../restore/go-back.ts";
import { approveThread } from "../steps/approve.ts";
import { lookForPending } from "../steps/pending.ts";
import { resetWay } from "../steps/reset-way.ts";
import type { Approvals } from "./interface/approvals.ts";
import type { KeptPreview } from "./plan-book.ts";
import type { Runner } from "./runner.ts";

/** Remembers a plan until it is carried out. */
type KeepPlan = (preview: KeptPreview, way: WayBack) => Plan;

/** Each method of `Approvals`, in terms of the layers below. */
export class LocalApprovals implements Approvals {
  readonly #runner: Runner;
  readonly #keep: KeepPlan;

  constructor(runner: Runner, keep: KeepPlan) {
    this.#runner = runner;
    this.#keep = keep;
  }

  async session(
    thread: ThreadId,
    options: { detail?: DiffDetail; content?: boolean } = {},
  ): Promise<SessionStatus> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    return this.#runner.look(() =>
      describeSession(context, lookForPending(context, { thread, includeShared: false }), options),
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

  async planReset(
    thread: ThreadId,
    { includeShared = false, decisions, mergeAnyway = false }: Parameters<Approvals["planReset"]>[1] = {},
  ): Promise<Plan> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    const request = { thread, includeShared, decisions, mergeAnyway };
    const way = resetWay(request);
    const preview = await this.#runner.plan(() => planBack(context, way));
    return this.#keep({ ...preview, request: { way: "reset", request } }, way);
  }

  async reset(
    thread: ThreadId,
    { includeShared = false, mergeAnyway = false, ...options }: Parameters<Approvals["reset"]>[1] = {},
  ): Promise<ResetOutcome> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    const way = resetWay({ thread, includeShared, mergeAnyway });
    return this.#runner.goBack(() => goBack(context, way, options));
  }
}
