/** The turns of a workspace in this process. */
import type { Context } from "../capture/context.ts";
import type { Recorded } from "../history/record.ts";
import { withNamedOutside, type NamedOutside } from "../capture/save-outside.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { readOutside } from "../history/outside-files.ts";
import { assertThread } from "../history/threads.ts";
import { findOpenCall, givenUpCommands, listAgents, openCalls } from "../history/tool-calls.ts";
import type { TakenCheckpoint, Thread } from "../model/checkpoint.ts";
import type {
  AgentRequest,
  AgentResult,
  AgentRun,
  EditRequest,
  OpenEdit,
  PromptRequest,
  Prompted,
  ToolRequest,
  ToolResult,
} from "../model/conversation.ts";
import { displayPath } from "../model/byte-path.ts";
import type { Bounded } from "../model/deadline.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Outcome } from "../model/plan.ts";
import { parsePath, pathInside } from "../model/workspace-path.ts";
import { CutOffWatch, endInterrupted } from "../steps/cut-off.ts";
import type { Overlap } from "../history/overlaps.ts";
import { noteEscaped } from "../history/run-rows.ts";
import { goBack } from "../restore/go-back.ts";
import { abortWay } from "../steps/abort-way.ts";
import { finalizeEdit, findEdit, startEdit } from "../steps/edits.ts";
import { beginAgent, beginTool, endAgent, endTool } from "../steps/tools.ts";
import { beginTurn, endTurn, promptTurn, stopTurn, threadForTurn } from "../steps/turns.ts";
import { ghostOfMessage } from "./local-ghosts.ts";
import type { Runner } from "./runner.ts";
import type { Turn, TurnRequest, TurnResult, Turns } from "./interface/turns.ts";

/** Each method of `Turns`, in terms of the layers below. */
export class LocalTurns implements Turns {
  readonly #runner: Runner;
  readonly #cutOff = new CutOffWatch();

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async run<Result>(
    request: TurnRequest,
    work: (turn: Turn) => Promise<Result>,
  ): Promise<TurnResult<Result>> {
    const runner = this.#runner;
    const description = request.description ?? request.prompt ?? "A turn";
    const thread = threadForTurn(this.#context, request.thread, {
      agent: request.agent ?? "belay",
      title: description,
    });
    const facts = { thread, description, prompt: request.prompt ?? null };
    const { id, before } = await runner.run(() => beginTurn(this.#context, facts));
    const turn: Turn = {
      id,
      thread,
      before: before.checkpoint,
      name: async (paths) => runner.name(paths.map(parsePath)),
    };
    let result: Result;
    try {
      result = await work(turn);
    } catch (error) {
      await runner.run(() => endTurn(this.#context, facts));
      throw error;
    }
    const after = await runner.run(() => endTurn(this.#context, facts));
    return {
      result,
      before: before.checkpoint,
      after: after.checkpoint,
      changed: before.checkpoint.snapshot !== after.checkpoint.snapshot,
      warnings: runner.notices(),
    };
  }

  async prompt(thread: ThreadId, request: PromptRequest): Promise<Prompted> {
    const prompted = await this.#in(thread, () => promptTurn(this.#context, thread, request));
    if (prompted.checkpoint !== null) ghostOfMessage(this.#runner, prompted.checkpoint);
    return prompted;
  }

  async end(thread: ThreadId, options: Bounded = {}): Promise<TakenCheckpoint | null> {
    return this.#take(thread, () => stopTurn(this.#context, thread, options));
  }

  async beginTool(thread: ThreadId, request: ToolRequest): Promise<TakenCheckpoint | null> {
    const root = displayAbsolute(this.#context.workingCopy.root);
    const named = (request.paths ?? []).map((text) => ({ text, path: pathInside(root, text) }));
    const paths = named.flatMap(({ path }) => (path === undefined ? [] : [path]));
    this.#runner.name(paths);
    const outside = named.filter(({ path }) => path === undefined).map(({ text }) => text);
    if (outside.length > 0) this.#noteEscaped(outside);
    let overlaps: TakenCheckpoint["overlaps"];
    const overlapping = (found: readonly Overlap[]) => {
      overlaps = found.map((each) => ({ ...each, path: displayPath(each.path) }));
    };
    const taken = await this.#takeWith(thread, { paths: outside, deadline: request.deadline }, () =>
      beginTool(this.#context, thread, { ...request, paths, overlapping }),
    );
    return taken === null || overlaps === undefined ? taken : { ...taken, overlaps };
  }

  /** [R798] A run in a fork whose tools name paths elsewhere has left its fork. */
  #noteEscaped(paths: readonly string[]): void {
    const { db } = this.#runner;
    if (db.readOnly) return;
    db.transaction(() => noteEscaped(db, paths));
  }

  async endTool(thread: ThreadId, call: ToolResult): Promise<TakenCheckpoint | null> {
    const { db } = this.#runner;
    const begun = findOpenCall(db, call.toolUseId);
    const outside = begun === undefined ? [] : readOutside(db, begun.since).map(({ path }) => path);
    const named = { paths: outside, deadline: call.deadline };
    return this.#takeWith(thread, named, () => endTool(this.#context, thread, call));
  }

  async beginAgent(thread: ThreadId, request: AgentRequest): Promise<AgentRun> {
    return this.#in(thread, () => beginAgent(this.#context, thread, request));
  }

  async endAgent(thread: ThreadId, result: AgentResult): Promise<AgentRun> {
    return this.#in(thread, () => endAgent(this.#context, thread, result));
  }

  async agents(thread: ThreadId): Promise<AgentRun[]> {
    return listAgents(this.#runner.db, thread);
  }

  async startEdit(thread: ThreadId, request: EditRequest): Promise<OpenEdit> {
    assertThread(this.#runner.db, thread);
    const paths = request.paths.map(parsePath);
    this.#runner.name(paths);
    const { tool = "edit", within = null } = request;
    const id = await this.#runner.run(() => startEdit(this.#context, thread, { paths, tool, within }));
    return { id, thread, paths: request.paths };
  }

  async finalizeEdit(edit: string): Promise<TakenCheckpoint | null> {
    return this.#runner.take(() => finalizeEdit(this.#context, edit));
  }

  async abortEdit(edit: string): Promise<Outcome> {
    return this.#runner.goBack(() => goBack(this.#context, abortWay(findEdit(this.#context, edit))));
  }

  async threadsAtWork(): Promise<Thread[]> {
    return this.#runner.threadsAtWork();
  }

  async noticeCutOff(): Promise<TakenCheckpoint | null> {
    const { db } = this.#runner;
    const isIdle = openCalls(db).length === 0 && givenUpCommands(db).length === 0;
    return isIdle ? null : this.#runner.take(() => this.#cutOff.capture(this.#context));
  }

  async interrupted(thread: ThreadId, at: number): Promise<TakenCheckpoint | null> {
    return this.#take(thread, () => endInterrupted(this.#context, { thread, at }));
  }

  get #context(): Context {
    return this.#runner.context;
  }

  async #in<Result>(thread: ThreadId, work: () => Result): Promise<Result> {
    assertThread(this.#runner.db, thread);
    return this.#runner.run(work);
  }

  /** [N1] With the files outside that were named; one that cannot be captured is reported. */
  async #takeWith(
    thread: ThreadId,
    outside: NamedOutside,
    work: () => Recorded | undefined,
  ): Promise<TakenCheckpoint | null> {
    let warnings: readonly string[] = [];
    const taken = await this.#take(thread, () =>
      withNamedOutside(this.#context, outside, (saved) => {
        const recorded = work();
        if (recorded !== undefined) saved.record(recorded.checkpoint.seq);
        warnings = saved.warnings;
        return recorded;
      }),
    );
    return taken === null ? null : { ...taken, warnings: [...taken.warnings, ...warnings] };
  }

  async #take(thread: ThreadId, work: () => Recorded | undefined): Promise<TakenCheckpoint | null> {
    assertThread(this.#runner.db, thread);
    return this.#runner.take(work);
  }
}
