/** The conversations of a workspace in this process. */
import { withCapture } from "../capture/with-capture.ts";
import { endsOfBranches } from "../history/branches.ts";
import { listCheckpoints } from "../history/list-checkpoints.ts";
import { closeDeleted } from "../history/close-abandoned.ts";
import { markClosed, unmarkClosed } from "../history/closed-threads.ts";
import { appendEvent } from "../history/events.ts";
import { insertMessage, readHistory, resolveMessage } from "../history/messages.ts";
import { lastTurnOf } from "../history/step-rows.ts";
import {
  assertThread,
  findThread,
  hideThread,
  listThreads,
  noteAgent,
  openThread,
  setTitle,
} from "../history/threads.ts";
import { versionSeqs } from "../history/versions.ts";
import { insertUncaptured, listUncaptured } from "../history/uncaptured.ts";
import type { Thread } from "../model/checkpoint.ts";
import type {
  FileEdit,
  History,
  HistoryOptions,
  Message,
  MessageRequest,
  ThreadRequest,
  ThreadSummary,
  UncapturedRequest,
  UncapturedTurn,
} from "../model/conversation.ts";
import type { ThreadId } from "../model/ids.ts";
import type { ForgetWordsReport } from "../model/reports.ts";
import { listFileEdits } from "../queries/thread-file-edits.ts";
import { noteEnds } from "../steps/lost-ends.ts";
import { isTrigger, promptTurn } from "../steps/turns.ts";
import { storeBytes } from "../store/store.ts";
import { forgetMessage, forgetThread } from "../upkeep/forget-words.ts";
import { pruneCheckpoints } from "../upkeep/prune.ts";
import type { Runner } from "./runner.ts";
import type { Threads } from "./interface/threads.ts";

/** Up to this size a deleted thread's words are overwritten everywhere at once; beyond it `gc` does the rest. */
const SMALL_STORE_BYTES = 256 * 1024 * 1024;

/** Each method of `Threads`, in terms of the layers below. */
export class LocalThreads implements Threads {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async list(): Promise<ThreadSummary[]> {
    return listThreads(this.#runner.db);
  }

  async get(ref: string): Promise<ThreadSummary> {
    return findThread(this.#runner.db, ref);
  }

  async open(request: ThreadRequest): Promise<Thread> {
    return this.#open(request).thread;
  }

  async create(request: ThreadRequest): Promise<ThreadSummary> {
    const { context, db, events } = this.#runner;
    const { thread, isNew } = this.#open(request);
    if (isNew && isTrigger(context, "message"))
      await this.#runner.take(() =>
        withCapture(context, { deadline: request.deadline }, (capture) =>
          capture.record({
            request: { kind: "initial", thread: thread.id },
            description: `Initial snapshot before dialog: ${thread.title ?? thread.id.slice(0, 8)}`,
          }),
        ),
      );
    events.wake();
    return findThread(db, thread.id);
  }

  async update(thread: ThreadId, { title }: { title: string | null }): Promise<ThreadSummary> {
    const { db } = this.#runner;
    this.#write(thread, { title }, () => setTitle(db, thread, title));
    return findThread(db, thread);
  }

  async close(thread: ThreadId): Promise<ThreadSummary> {
    const { db, context } = this.#runner;
    this.#write(thread, { closed: true }, () => markClosed(db, thread, context.system.now()));
    return findThread(db, thread);
  }

  async delete(thread: ThreadId, options: { checkpoints?: boolean } = {}): Promise<void> {
    const { db, context } = this.#runner;
    const { store, system } = context;
    assertThread(db, thread);
    const packs = storeBytes(store) < SMALL_STORE_BYTES;
    const report = forgetThread(store, system, thread, { dryRun: false, packs });
    this.#write(thread, { deleted: true }, () => {
      closeDeleted(db, thread, system.now());
      hideThread(db, thread, system.now());
      unmarkClosed(db, thread);
      if (options.checkpoints !== true) return;
      // [R356] a version is on a branch, whichever thread it came from
      const kept = new Set([...endsOfBranches(db), ...versionSeqs(db)]);
      const own = listCheckpoints(db, { thread, branch: "all" });
      pruneCheckpoints(
        store,
        system,
        own.filter(({ seq }) => !kept.has(seq)),
      );
    });
    await this.#forgotten(report);
  }

  async addMessage(thread: ThreadId, request: MessageRequest): Promise<Message> {
    const { db, context, events } = this.#runner;
    assertThread(db, thread);
    if (request.role === "user") {
      const { content, externalId, artifacts } = request;
      const named = externalId === undefined ? {} : { messageId: externalId };
      const prompt = { content, ...named, ...(artifacts && { artifacts }) };
      return (await this.#runner.run(() => promptTurn(context, thread, prompt))).message;
    }
    const { newId, now } = context.system;
    const message = db.transaction(() => {
      const step = lastTurnOf(db, thread)?.id ?? null;
      const inserted = insertMessage(db, {
        ...request,
        id: newId(),
        thread,
        now: now(),
        checkpoint: null,
        step,
      });
      const { id, createdAt: at } = inserted;
      if (request.role === "assistant")
        appendEvent(db, { type: "assistant", thread, at, data: { message: id } });
      return inserted;
    });
    events.wake();
    return message;
  }

  async history(thread: ThreadId, options: HistoryOptions = {}): Promise<History> {
    const { db } = this.#runner;
    assertThread(db, thread);
    return readHistory(db, thread, options);
  }

  async fileEdits(thread: ThreadId, options: { limit?: number } = {}): Promise<FileEdit[]> {
    const { db, context } = this.#runner;
    assertThread(db, thread);
    return listFileEdits(context.store, thread, options.limit ?? 200);
  }

  async noteUncaptured(thread: ThreadId, turn: UncapturedRequest): Promise<void> {
    const { db, context } = this.#runner;
    const { events, problem, ends = [] } = turn;
    const id = context.system.newId();
    noteEnds(
      context,
      ends.map((end) => ({ ...end, thread })),
    );
    this.#write(thread, { uncaptured: { events, problem } }, () => {
      insertUncaptured(db, thread, { ...turn, id });
      const at = context.system.now();
      appendEvent(db, { type: "capture_failed", thread, at, data: { events, problem } });
    });
  }

  async uncaptured(thread?: ThreadId): Promise<UncapturedTurn[]> {
    return listUncaptured(this.#runner.db, thread);
  }

  async forget(ref: string, { dryRun = false }: { dryRun?: boolean } = {}): Promise<ForgetWordsReport> {
    const { store, system } = this.#runner.context;
    const { id } = findThread(store.db, ref);
    return this.#forgotten(forgetThread(store, system, id, { dryRun, packs: true }));
  }

  async forgetMessage(
    ref: string,
    { dryRun = false }: { dryRun?: boolean } = {},
  ): Promise<ForgetWordsReport> {
    const { store, system } = this.#runner.context;
    const message = resolveMessage(store.db, ref);
    return this.#forgotten(forgetMessage(store, system, message, { dryRun, packs: true }));
  }

  async #forgotten(report: ForgetWordsReport): Promise<ForgetWordsReport> {
    if (!report.dryRun) await this.#runner.events.forgotten(report.thread);
    return report;
  }

  #open(request: ThreadRequest): { thread: Thread; isNew: boolean } {
    const { db, context } = this.#runner;
    const { newId, now } = context.system;
    const id = newId();
    const { agent, externalId = id, title = null, client } = request;
    const brackets = request.brackets === true && isTrigger(context, "tool");
    const thread = db.transaction(() => {
      const opened = openThread(db, { agent, externalId, title }, { id, now: now() });
      noteAgent(db, opened.id, { client, brackets });
      return opened;
    });
    return { thread, isNew: thread.id === id };
  }

  /** One change of a conversation, with its row in the log. */
  #write(thread: ThreadId, detail: Record<string, unknown>, work: () => void): void {
    const { db, events } = this.#runner;
    db.transaction(() => {
      assertThread(db, thread);
      work();
      this.#runner.log("conversation", { thread, ...detail });
    });
    events.wake();
  }
}
