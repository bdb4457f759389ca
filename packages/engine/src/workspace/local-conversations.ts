/** Conversations of a workspace in this process: each method of `Conversations`, in terms of the layers below. */
import { checkpointAt, newestCheckpoint } from "../history/checkpoints.ts";
import { appendEvent, type EventRow } from "../history/events.ts";
import { insertMessage, readHistory } from "../history/messages.ts";
import { appendOperation } from "../history/operations.ts";
import { lastTurnOf } from "../history/steps.ts";
import {
  assertThread,
  findThread,
  listThreads,
  noteAgent,
  openThread,
  setTitle,
} from "../history/threads.ts";
import { givenUpCommands, listAgents, openCalls } from "../history/tool-calls.ts";
import { insertUncaptured, listUncaptured } from "../history/uncaptured.ts";
import type { Thread } from "../model/checkpoint.ts";
import type { Bounded } from "../model/deadline.ts";
import type {
  AgentRequest,
  AgentResult,
  AgentRun,
  EditRequest,
  FileEdit,
  History,
  HistoryOptions,
  Message,
  MessageRequest,
  OpenEdit,
  PromptRequest,
  Prompted,
  ThreadRequest,
  ThreadSummary,
  ToolRequest,
  ToolResult,
  UncapturedRequest,
  UncapturedTurn,
} from "../model/conversation.ts";
import type { OperationId, ThreadId } from "../model/ids.ts";
import type { Pause } from "../model/pause.ts";
import type { Outcome } from "../model/plan.ts";
import { isEngineError } from "../model/errors.ts";
import { captureWarnings, droppedWarnings } from "../capture/capture-warnings.ts";
import type { Conversations } from "./conversations.ts";
import { listFileEdits } from "../queries/file-edits.ts";
import { below, displayAbsolute } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import type { Database } from "../store/database.ts";
import type { BytePath } from "../model/byte-path.ts";
import { parsePath, pathInside } from "../model/workspace-path.ts";
import type { TakenCheckpoint } from "./workspace.ts";
import { isAnythingLeft, recover } from "../restore/recover.ts";
import type { Context } from "../capture/context.ts";
import { abortEdit, finalizeEdit, startEdit } from "../steps/edits.ts";
import { namePaths, takeCheckpoint, type Taken } from "../capture/take-checkpoint.ts";
import { CutOffWatch, endInterrupted } from "../steps/cut-off.ts";
import { beginAgent, beginTool, endAgent, endTool } from "../steps/tools.ts";
import { isTrigger, promptTurn, stopTurn } from "../steps/turns.ts";

const LOOKS_AGAIN = 5;

/** All of it but forgetting, which is upkeep. */
export class LocalConversations implements Omit<Conversations, "deleteThread" | "afterForget"> {
  protected readonly context: Context;
  readonly #recovered: string[] = [];
  readonly #cutOff = new CutOffWatch();

  constructor(context: Context) {
    this.context = context;
  }

  protected get db(): Database {
    return this.context.store.db;
  }

  async threads(): Promise<ThreadSummary[]> {
    return listThreads(this.db);
  }

  async thread(ref: string): Promise<ThreadSummary> {
    return findThread(this.db, ref);
  }

  async openThread(request: ThreadRequest): Promise<Thread> {
    return this.#open(request).thread;
  }

  async createThread(request: ThreadRequest): Promise<ThreadSummary> {
    const { thread, isNew } = this.#open(request);
    if (isNew && isTrigger(this.context, "message"))
      await this.take(() =>
        takeCheckpoint(this.context, {
          request: { kind: "initial", thread: thread.id },
          description: `Initial snapshot before dialog: ${thread.title ?? thread.id.slice(0, 8)}`,
          deadline: request.deadline,
        }),
      );
    this.changed();
    return findThread(this.db, thread.id);
  }

  async updateThread(thread: ThreadId, { title }: { title: string | null }): Promise<ThreadSummary> {
    this.write(thread, { title }, () => setTitle(this.db, thread, title));
    return findThread(this.db, thread);
  }

  async prompt(thread: ThreadId, request: PromptRequest): Promise<Prompted> {
    assertThread(this.db, thread);
    const prompted = await this.caughtUp(() => promptTurn(this.context, thread, request));
    this.changed();
    return prompted;
  }

  async addMessage(thread: ThreadId, request: MessageRequest): Promise<Message> {
    assertThread(this.db, thread);
    if (request.role === "user") {
      const { content, externalId, artifacts } = request;
      const named = externalId === undefined ? {} : { messageId: externalId };
      return (await this.prompt(thread, { content, ...named, ...(artifacts && { artifacts }) })).message;
    }
    const { newId, now } = this.context.system;
    const message = this.db.transaction(() => {
      const step = lastTurnOf(this.db, thread)?.id ?? null;
      const inserted = insertMessage(this.db, {
        ...request,
        id: newId(),
        thread,
        now: now(),
        checkpoint: null,
        step,
      });
      const { id, createdAt: at } = inserted;
      if (request.role === "assistant")
        appendEvent(this.db, { type: "assistant", thread, at, data: { message: id } });
      return inserted;
    });
    this.changed();
    return message;
  }

  async history(thread: ThreadId, options: HistoryOptions = {}): Promise<History> {
    assertThread(this.db, thread);
    return readHistory(this.db, thread, options);
  }

  async noteUncaptured(thread: ThreadId, turn: UncapturedRequest): Promise<void> {
    const { events, problem } = turn;
    const id = this.context.system.newId();
    this.write(thread, { uncaptured: { events, problem } }, () =>
      insertUncaptured(this.db, thread, { ...turn, id }),
    );
  }

  async uncaptured(thread?: ThreadId): Promise<UncapturedTurn[]> {
    return listUncaptured(this.db, thread);
  }

  async endTurn(thread: ThreadId, options: Bounded = {}): Promise<TakenCheckpoint | null> {
    return this.#taking(thread, () => stopTurn(this.context, thread, options));
  }

  async beginTool(thread: ThreadId, request: ToolRequest): Promise<TakenCheckpoint | null> {
    const root = displayAbsolute(this.context.worktree.root);
    const named = (request.paths ?? []).map((text) => ({ text, path: pathInside(root, text) }));
    const paths = named.flatMap(({ path }) => (path === undefined ? [] : [path]));
    this.#name(paths);
    const taken = await this.#taking(thread, () => beginTool(this.context, thread, { ...request, paths }));
    // [N1] what is named and cannot be captured is said
    const outside = named.filter(({ path }) => path === undefined).map(({ text }) => outsideWarning(text));
    return taken === null ? null : { ...taken, warnings: [...taken.warnings, ...outside] };
  }

  async endTool(thread: ThreadId, call: ToolResult): Promise<TakenCheckpoint | null> {
    return this.#taking(thread, () => endTool(this.context, thread, call));
  }

  async noticeCutOff(): Promise<TakenCheckpoint | null> {
    const isIdle = openCalls(this.db).length === 0 && givenUpCommands(this.db).length === 0;
    return isIdle ? null : this.take(() => this.#cutOff.capture(this.context));
  }

  async interrupted(thread: ThreadId, at: number): Promise<TakenCheckpoint | null> {
    return this.#taking(thread, () => endInterrupted(this.context, thread, at));
  }

  assumeInterrupted(thread: ThreadId, at: number): void {
    this.context.interrupted.push({ thread, at });
  }

  async threadsAtWork(): Promise<Thread[]> {
    const ids = new Set(openCalls(this.db).map(({ thread }) => thread));
    return [...ids].map((id) => findThread(this.db, id));
  }

  async beginAgent(thread: ThreadId, request: AgentRequest): Promise<AgentRun> {
    assertThread(this.db, thread);
    const run = await this.caughtUp(() => beginAgent(this.context, thread, request));
    this.changed();
    return run;
  }

  async endAgent(thread: ThreadId, result: AgentResult): Promise<AgentRun> {
    assertThread(this.db, thread);
    const run = await this.caughtUp(() => endAgent(this.context, thread, result));
    this.changed();
    return run;
  }

  async agents(thread: ThreadId): Promise<AgentRun[]> {
    return listAgents(this.db, thread);
  }

  async fileEdits(thread: ThreadId, options: { limit?: number } = {}): Promise<FileEdit[]> {
    assertThread(this.db, thread);
    return listFileEdits(this.context.store, thread, options.limit ?? 200);
  }

  async startEdit(thread: ThreadId, request: EditRequest): Promise<OpenEdit> {
    assertThread(this.db, thread);
    const paths = this.namePaths(request.paths);
    const { tool = "edit", within = null } = request;
    const id = await this.caughtUp(() => startEdit(this.context, thread, { paths, tool, within }));
    this.changed();
    return { id, thread, paths: request.paths };
  }

  async finalizeEdit(edit: string): Promise<TakenCheckpoint | null> {
    return this.#taking(undefined, () => finalizeEdit(this.context, edit));
  }

  async abortEdit(edit: string): Promise<Outcome> {
    const outcome = abortEdit(this.context, edit);
    this.changed();
    return outcome;
  }

  get paused(): Pause | null {
    return this.context.pauses.current;
  }

  async pause(pause: Pause, scope: "workspace" | "all" = "workspace"): Promise<void> {
    const { since, until } = pause;
    // a pause that is made longer has nothing new to capture; that of all may have reached this workspace already
    if (this.paused === null || this.paused.since === since) await this.#captureAround("Before the pause");
    this.context.pauses.set(pause, scope);
    this.#note("pause", { since, until, scope }, { type: "capture_paused", data: { until } });
  }

  async resume(scope: "workspace" | "all" = "workspace"): Promise<void> {
    // first of all: whatever goes wrong after it, captures are made again
    this.context.pauses.set(null, scope);
    this.#note("resume", { scope }, { type: "capture_resumed", data: {} });
    if (this.paused === null) await this.#captureAround("After the pause");
  }

  async #captureAround(description: string): Promise<void> {
    await this.take(() => takeCheckpoint(this.context, { request: { kind: "safety" }, description }));
  }

  #note(
    kind: "pause" | "resume",
    detail: Record<string, unknown>,
    event: Pick<EventRow, "type" | "data">,
  ): void {
    const { newId, now } = this.context.system;
    const at = now();
    this.db.transaction(() => {
      appendOperation(this.db, { id: newId() as OperationId, kind, at, detail });
      appendEvent(this.db, { ...event, thread: null, at });
    });
    this.changed();
  }

  /** Captures within `work` may rely on what the watcher has reported, if there is one. */
  protected caughtUp<Result>(work: () => Result): Promise<Result> {
    this.recoverLeft();
    return this.context.worktree.whileCaughtUp(work);
  }

  /** Looks at the disk and tells of it. A file may change between being named and being read: then once more. */
  protected async looking<Result>(work: () => Result): Promise<Result> {
    for (let left = LOOKS_AGAIN; ; left -= 1) {
      try {
        return await this.caughtUp(work);
      } catch (error) {
        if (left === 0 || !isEngineError(error, "PLAN_STALE")) throw error;
      }
    }
  }

  /** [R10, R190] Another process may have been killed in the middle of a restore since, or closed what one replaced. */
  protected recoverLeft(): void {
    if (this.db.readOnly || !isAnythingLeft(this.context)) return;
    try {
      this.#recovered.push(...recover(this.context));
    } catch (error) {
      // the tree is kept and saved, and what comes next finds nothing left to recover
      if (!isEngineError(error, "RECOVERY_BLOCKED")) throw error;
      this.#recovered.push(error.message);
    }
  }

  /** [R160] What room was made of, and what was recovered, since the user was last told. */
  protected droppedNotices(): string[] {
    return [...this.#recovered.splice(0), ...droppedWarnings(this.context.dropped.splice(0))];
  }

  /** Wakes whoever waits for events. */
  protected changed(): void {}

  /** Paths that are written on purpose are captured from now on. */
  protected namePaths(texts: readonly string[]): BytePath[] {
    const paths = texts.map(parsePath);
    this.#name(paths);
    return paths;
  }

  #name(paths: readonly BytePath[]): void {
    const { root } = this.context.worktree;
    if (paths.length > 0) namePaths(this.context, paths, (path) => statNode(below(root, path)) !== undefined);
  }

  /** A capture as callers get to see it. */
  protected async take(work: () => Taken | undefined): Promise<TakenCheckpoint | null> {
    const started = this.context.system.elapsed();
    const before = newestCheckpoint(this.db);
    const taken = await this.caughtUp(work);
    this.changed();
    if (taken === undefined) return null;
    const checkpoint = checkpointAt(this.db, taken.checkpoint.seq) ?? taken.checkpoint;
    return {
      id: checkpoint.id,
      checkpoint,
      unchanged: taken.unchanged,
      gaps: taken.present.gaps,
      doubts: taken.present.doubts,
      warnings: [...captureWarnings(before, taken), ...this.droppedNotices()],
      durationMs: this.context.system.elapsed() - started,
    };
  }

  async #taking(
    thread: ThreadId | undefined,
    work: () => Taken | undefined,
  ): Promise<TakenCheckpoint | null> {
    if (thread !== undefined) assertThread(this.db, thread);
    return this.take(work);
  }

  #open(request: ThreadRequest): { thread: Thread; isNew: boolean } {
    const { newId, now } = this.context.system;
    const id = newId();
    const { agent, externalId = id, title = null, client } = request;
    const brackets = request.brackets === true && isTrigger(this.context, "tool");
    const thread = this.db.transaction(() => {
      const opened = openThread(this.db, { agent, externalId, title }, { id, now: now() });
      noteAgent(this.db, opened.id, { client, brackets });
      return opened;
    });
    return { thread, isNew: thread.id === id };
  }

  /** One change of a conversation, with its row in the log. */
  protected write(thread: ThreadId, detail: Record<string, unknown>, work: () => void): void {
    const { newId, now } = this.context.system;
    this.db.transaction(() => {
      assertThread(this.db, thread);
      work();
      const about = { id: newId() as OperationId, kind: "conversation" as const, at: now() };
      appendOperation(this.db, { ...about, detail: { thread, ...detail } });
    });
    this.changed();
  }
}

function outsideWarning(path: string): string {
  return `${path} is outside the workspace: what happens to it is not captured.`;
}
