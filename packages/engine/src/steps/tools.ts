/** Tool calls and agent runs as they begin and end: captures around them show who changed what. */
import { appendEvent } from "../history/events.ts";
import { headSeq } from "../history/line.ts";
import { overlapsOf, type Overlap } from "../history/overlaps.ts";
import type { Recorded } from "../history/record.ts";
import { runStepOf } from "../history/run-rows.ts";
import { continueStep, lastTurnOf, openTurnOf } from "../history/step-rows.ts";
import {
  closeAgent,
  closeCall,
  closeCallsOf,
  findAgent,
  findGivenUpCall,
  findOpenCall,
  openAgent,
  openCall,
  keepInBackground,
  setBrackets,
  reopenCall,
} from "../history/tool-calls.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { AgentFacts } from "../model/checkpoint.ts";
import type { AgentRequest, AgentResult, AgentRun, ToolRequest, ToolResult } from "../model/conversation.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Context } from "../capture/context.ts";
import { withCapture, type Capture } from "../capture/with-capture.ts";
import { endingWith } from "./lost-ends.ts";
import { isTrigger, openPromptedTurn } from "./turns.ts";

/** What is known of a tool call when it begins. */
export type ToolFacts = Omit<ToolRequest, "paths"> & {
  readonly paths: readonly BytePath[];
  /** Told of paths that other agents here changed since the turn began. */
  readonly overlapping?: (overlaps: readonly Overlap[]) => void;
};

/** Call before a tool runs; undefined when the policy takes no checkpoint. */
export function beginTool(context: Context, thread: ThreadId, call: ToolFacts): Recorded | undefined {
  if (!isTrigger(context, "tool")) return undefined;
  const { store, system } = context;
  const { tool, toolUseId, paths, agentId, summary } = call;
  const agent = agentId === undefined ? undefined : findAgent(store.db, thread, agentId);
  return withCapture(context, { deadline: call.deadline }, (capture) => {
    const recorded = capture.record({
      request: {
        kind: "tool",
        phase: "before",
        thread,
        tool,
        toolUseId,
        ...(agent === undefined ? {} : { agent: factsOf(agent.run) }),
      },
      description: summary === undefined ? `Before ${tool}` : `Before ${tool}: ${summary}`,
      moment: { bracketing: thread, heard: thread },
    });
    setBrackets(store.db, thread, true);
    // the event came twice: the call is open already
    if (findOpenCall(store.db, toolUseId) !== undefined) return recorded;
    const { seq } = recorded.checkpoint;
    const step = agent?.step ?? turnFor(context, thread, { prompt: tool, before: seq });
    tellOverlaps(context, thread, { ...call, step });
    openCall(store.db, {
      id: toolUseId,
      thread,
      step,
      agent: agentId ?? null,
      tool,
      paths,
      captured: true,
      within: null,
      nature: call.nature ?? null,
      background: false,
      since: seq,
      openedAt: system.now(),
    });
    return recorded;
  });
}

/** [R797] It never blocks and never locks: agents in one directory are told, and go on. */
function tellOverlaps(
  { store: { db }, system }: Context,
  thread: ThreadId,
  { paths, step, overlapping }: Pick<ToolFacts, "paths" | "overlapping"> & { step: string },
): void {
  const overlaps = overlapsOf(db, { thread, step, paths });
  for (const { path, threads } of overlaps) {
    const data = { path: displayPath(path), threads };
    appendEvent(db, { type: "agents_overlap", thread, at: system.now(), data });
  }
  if (overlaps.length > 0) overlapping?.(overlaps);
}

/** The open turn. A tool without one continues the last turn, or begins the first. */
function turnFor(context: Context, thread: ThreadId, turn: { prompt: string; before: number }): string {
  const { store, system } = context;
  // an agent that Belay started: its hooks tell of the work of its run
  const run = runStepOf(store.db, thread);
  if (run !== undefined) return run;
  const open = openTurnOf(store.db, thread);
  if (open !== undefined) return open.id;
  const id = system.newId();
  const last = lastTurnOf(store.db, thread);
  if (last === undefined) openPromptedTurn(context, { id, thread, ...turn });
  else continueStep(store.db, { ...last, owner: null }, { id, before: turn.before, now: system.now() });
  return id;
}

/** Call after a tool ran or failed; undefined when the policy takes no checkpoint. */
export function endTool(
  context: Context,
  thread: ThreadId,
  { toolUseId, tool, deadline, unfinished = false, background = false }: ToolResult,
): Recorded | undefined {
  const { store, system } = context;
  const given = unfinished ? undefined : findGivenUpCall(store.db, toolUseId);
  if (given !== undefined) store.db.transaction(() => reopenCall(store.db, given));
  const call = findOpenCall(store.db, toolUseId);
  const close = () => {
    if (call === undefined) return;
    if (background) keepInBackground(store.db, call);
    else closeCall(store.db, call, system.now());
  };
  if (!isTrigger(context, "tool")) {
    // it began when tools were captured: left open, later changes would be attributed to it
    if (call !== undefined) store.db.transaction(close);
    return undefined;
  }
  const name = call?.tool ?? tool ?? "a tool";
  const record = (capture: Capture) => {
    const recorded = capture.record({
      request: { kind: "tool", phase: "after", thread, tool: name, toolUseId },
      description: `After ${name}`,
      moment: { ended: { id: toolUseId, unfinished }, ...(unfinished ? {} : { heard: thread }) },
    });
    close();
    return recorded;
  };
  const capture = () => withCapture(context, { deadline }, record);
  // an end that no event reported may be long ago, and a program in the background goes on
  if (unfinished || background) return capture();
  return endingWith(context, { thread, of: { kind: "call", id: toolUseId }, deadline }, capture);
}

/** Captures before an agent inside a thread starts. */
export function beginAgent(context: Context, thread: ThreadId, request: AgentRequest): AgentRun {
  const { id, role, parent, deadline } = request;
  const { store, system } = context;
  const { db } = store;
  const open = (checkpoint: number | null) => {
    const step =
      openTurnOf(db, thread)?.id ??
      (parent === undefined ? undefined : findAgent(db, thread, parent)?.step) ??
      lastTurnOf(db, thread)?.id ??
      null;
    openAgent(db, { id, thread, role, parent: parent ?? null, step, checkpoint, now: system.now() });
  };
  if (isTrigger(context, "agent")) {
    const agent: AgentFacts = { id, role, status: "running", cost: null, tokens: null };
    withCapture(context, { deadline }, (capture) => {
      const { checkpoint } = capture.record({
        request: { kind: "agent", phase: "before", thread, agent },
        description: `Before agent ${role}`,
        moment: { heard: thread },
      });
      open(checkpoint.seq);
    });
  } else {
    db.transaction(() => open(headSeq(db)));
  }
  return findAgent(db, thread, id)!.run;
}

/** After an agent ended; one whose start was not reported is recorded now. */
export function endAgent(context: Context, thread: ThreadId, result: AgentResult): AgentRun {
  const { store, system } = context;
  const { db } = store;
  if (findAgent(db, thread, result.id) === undefined)
    beginAgent(context, thread, { id: result.id, role: "agent", deadline: result.deadline });
  const { run } = findAgent(db, thread, result.id)!;
  const { id, status = "done", cost = run.cost, tokens = run.tokens } = result;
  const close = () => {
    closeCallsOf(db, thread, id, system.now());
    closeAgent(db, thread, { id, status, cost, tokens, now: system.now() });
  };
  const { deadline } = result;
  const record = (capture: Capture) => {
    capture.record({
      request: {
        kind: "agent",
        phase: "after",
        thread,
        agent: { id, role: run.role, status, cost, tokens },
      },
      description: `After agent ${run.role}`,
      moment: { heard: thread },
    });
    close();
  };
  const end = { thread, of: { kind: "agent", id }, deadline } as const;
  if (isTrigger(context, "agent")) endingWith(context, end, () => withCapture(context, { deadline }, record));
  else db.transaction(close);
  return findAgent(db, thread, id)!.run;
}

function factsOf({ id, role, status, cost, tokens }: AgentRun): AgentFacts {
  return { id, role, status, cost, tokens };
}
