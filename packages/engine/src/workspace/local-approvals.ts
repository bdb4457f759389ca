/** Approvals of a workspace in this process, and the events that tell of everything that happens in it. */
import { newestEvent, readEvents, type EventRow } from "../history/events.ts";
import { listSessions, readOpenSession } from "../history/sessions.ts";
import { assertThread } from "../history/threads.ts";
import type { DiffDetail } from "../model/file-change.ts";
import type { EventOptions, WorkspaceEvent } from "../model/event.ts";
import type { OperationId, ThreadId } from "../model/ids.ts";
import type { AfterRestore, Interrupt, ApplyOptions, Outcome, Plan } from "../model/plan.ts";
import type { Approval, ApproveOptions, ResetOutcome, Session, SessionStatus } from "../model/session.ts";
import type { Approvals } from "./approvals.ts";
import { describeSession, resetRequest } from "../queries/describe-session.ts";
import { describeEvent } from "../queries/describe-event.ts";
import { LocalConversations } from "./local-conversations.ts";
import {
  approvedState,
  approveThread,
  lookForPending,
  resetThread,
  type ResetRequest,
} from "../steps/approval.ts";
import type { RestoreRequest } from "../restore/restore.ts";
import type { StepRequest } from "../steps/select-steps.ts";

/** How often other processes' events are looked for. */
const POLL_MS = 250;
/** How long an event that was made for one reader is kept for the others. */
const SHARED_MS = 100;
const KEPT_PLANS = 1000;

export class LocalApprovals extends LocalConversations implements Approvals {
  /** The requests behind plans made here, for carrying them out later. */
  protected readonly planned = new Map<OperationId, RestoreRequest | StepRequest | ResetRequest>();
  readonly #waiting = new Set<() => void>();
  readonly #described = new Map<number, WorkspaceEvent>();
  #isClosed = false;
  #afterRestore: AfterRestore | undefined;

  async session(
    thread: ThreadId,
    options: { detail?: DiffDetail; content?: boolean } = {},
  ): Promise<SessionStatus> {
    assertThread(this.db, thread);
    return this.looking(() =>
      describeSession(this.context, lookForPending(this.context, resetRequest(thread)), options),
    );
  }

  async sessions(thread: ThreadId): Promise<Session[]> {
    assertThread(this.db, thread);
    return listSessions(this.db, thread);
  }

  async approve(thread: ThreadId, { message }: ApproveOptions = {}): Promise<Approval> {
    assertThread(this.db, thread);
    const { checkpoint, ...rest } = await this.caughtUp(() => approveThread(this.context, thread, message));
    this.changed();
    return { approved: checkpoint.id, ...rest };
  }

  async planReset(thread: ThreadId, options: { includeShared?: boolean } = {}): Promise<Plan> {
    assertThread(this.db, thread);
    const request = resetRequest(thread, options.includeShared);
    return this.keepPlan(lookForPending(this.context, request).plan, request);
  }

  async reset(
    thread: ThreadId,
    options: ApplyOptions & { includeShared?: boolean } = {},
  ): Promise<ResetOutcome> {
    assertThread(this.db, thread);
    return this.settled(this.resetAs(resetRequest(thread, options.includeShared), options));
  }

  afterRestore(work: AfterRestore): void {
    this.#afterRestore = work;
  }

  interruptedBy(interrupt: Interrupt | undefined): void {
    this.context.interrupt = interrupt;
  }

  /** What somebody does because files went back belongs to going back. */
  protected async settled<Kind extends Outcome>(outcome: Kind): Promise<Kind> {
    const { outcome: how, plan } = outcome;
    const notices = [...(outcome.notices ?? []), ...this.droppedNotices()];
    if (this.#afterRestore !== undefined && TOUCHING.has(how))
      notices.push(...(await this.#afterRestore(plan.edits.map(({ path }) => path))));
    return notices.length === 0 ? outcome : { ...outcome, notices };
  }

  protected resetAs(request: ResetRequest, options: ApplyOptions, planned?: Plan): ResetOutcome {
    this.recoverLeft();
    const { thread } = request;
    const before = readOpenSession(this.db, thread).name;
    const resetTo = approvedState(this.context, thread)?.id ?? null;
    const bestEffort = options.bestEffort ?? false;
    const outcome = resetThread(this.context, request, { bestEffort, ...(planned && { planned }) });
    this.changed();
    const { name } = readOpenSession(this.db, thread);
    return { ...outcome, resetTo, newSession: name === before ? null : name };
  }

  /** From the moment of the call, not of the first reading. */
  events(options: EventOptions = {}): AsyncGenerator<WorkspaceEvent> {
    return this.#follow(options.after ?? newestEvent(this.db), options);
  }

  async *#follow(start: number, { thread, signal }: EventOptions): AsyncGenerator<WorkspaceEvent> {
    let after = start;
    while (signal?.aborted !== true && !this.#isClosed) {
      const rows = readEvents(this.db, after, thread);
      for (const row of rows) {
        yield this.#describe(row);
        after = row.seq;
      }
      if (rows.length === 0) await this.#somethingNew(signal);
    }
  }

  /** All readers come for an event at the same moment: it is made once for them, and forgotten before it can be out of date. */
  #describe(row: EventRow): WorkspaceEvent {
    const known = this.#described.get(row.seq);
    if (known !== undefined) return known;
    if (this.#described.size === 0) setTimeout(() => this.#described.clear(), SHARED_MS).unref();
    const event = describeEvent(this.context, row);
    this.#described.set(row.seq, event);
    return event;
  }

  /** Readers of events come to their end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.changed();
    await this.context.worktree.close();
    this.context.store[Symbol.dispose]();
  }

  /** Only the latest plans can be carried out: whoever looks at thousands needs none of the old ones. */
  protected keepPlan(plan: Plan, request: RestoreRequest | StepRequest | ResetRequest): Plan {
    this.planned.set(plan.id, request);
    const [oldest] = this.planned.keys();
    if (this.planned.size > KEPT_PLANS && oldest !== undefined) this.planned.delete(oldest);
    return plan;
  }

  protected override changed(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Own events wake at once; those of other processes are found by looking again. */
  async #somethingNew(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, POLL_MS);
      this.#waiting.add(done);
      signal?.addEventListener("abort", done);
    });
  }
}

/** The outcomes that changed files. */
const TOUCHING: ReadonlySet<Outcome["outcome"]> = new Set(["applied", "partial", "displaced"]);
