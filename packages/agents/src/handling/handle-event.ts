/**
 * What is done about an agent's event: the one place where prompts, tool calls, subagents and stops become calls of the
 * host. Events may come twice, out of order, or not at all: an interrupted agent sends none, so the next event closes what
 * is still open.
 */
import { join } from "node:path";
import type { AgentHost, Deadline } from "./agent-host.ts";
import type { AgentRun, ToolStatus, TurnStatus } from "../events/agent-event.ts";
import { isNamed, type AgentEvent, type EventKind, type Reply, type ToolUse } from "../events/agent-event.ts";
import type { AgentAdapter } from "../adapters/adapter.ts";
import {
  describePrompt,
  describeRun,
  describeSubagent,
  describeTool,
  shorten,
  summarise,
  summarisePrompt,
} from "../events/describe.ts";
import { dropOldNotes, openHookNotes, type HookNotes, type OpenCall } from "../state/hook-notes.ts";
import { DEADLINES } from "../events/event-journey.ts";
import { formatClient, type ClientProcess } from "../hooks/client-process.ts";
import { newsFor } from "./rollback-notice.ts";
import { digest, textOf } from "../events/payload.ts";

const NESTING_LIMIT = 8;

/** What an event is carried out with. */
export interface Scene<Thread> {
  readonly host: AgentHost<Thread>;
  readonly adapter: AgentAdapter;
  /** `$BELAY_HOME`: the notes between hooks are kept there. */
  readonly home: string;
  /** Used when the event does not say where the agent works. */
  readonly cwd: string;
  readonly now: () => number;
  /** When the agent sent the event. */
  readonly arrivedAt: number;
  /** The agent's own process, where it is known. */
  readonly client?: ClientProcess | undefined;
  /** Until when the agent waits for the answer. */
  readonly deadline?: Deadline | undefined;
}

/** One event on its thread, with what earlier ones left behind. */
interface Act<Thread, Event extends AgentEvent = AgentEvent> {
  readonly host: AgentHost<Thread>;
  readonly adapter: AgentAdapter;
  readonly thread: Thread;
  readonly notes: HookNotes;
  readonly event: Event;
}

type Of<Kind extends EventKind> = Extract<AgentEvent, { kind: Kind }>;

/** Carries out an event. What it throws is the host's trouble; the caller keeps it from the agent. */
export async function handleEvent<Thread>(scene: Scene<Thread>, sent: AgentEvent): Promise<Reply> {
  if (sent.kind === "ignored") return {};
  if (sent.kind === "command") return runCommand(scene, sent);
  const { session, event } = belongsTo(scene, sent);
  if (!matters(event)) {
    if (event.kind === "tool-after" && event.use.paths.length > 0)
      scene.host.filesRead?.({ cwd: event.cwd ?? scene.cwd, paths: event.use.paths });
    return {};
  }
  const cwd = event.cwd ?? scene.cwd;
  const { deadline, adapter } = scene;
  const notes = openHookNotes(scene.home, adapter.id, session);
  const client = lastingClient(scene, notes);
  const thread = await scene.host.openThread({
    agent: adapter.id,
    externalId: session,
    cwd,
    brackets: adapter.announcesTools,
    ...(event.run && { subagent: describeSubagent(event.run, cwd) }),
    ...(client && { client }),
    ...(deadline && { deadline }),
  });
  if (thread === null) return {};
  if (client === undefined) noteClient(scene, notes);
  const named = isNamed(event);
  const claim = notes.claims.claim(`${event.kind}:${event.key}`, named ? undefined : scene.arrivedAt);
  if (claim === null) return {};
  notes.placeOfTranscript(event, cwd);
  // [R156] equal events without an id differ by their time
  const own = named ? event : { ...event, key: digest(event.key, claim.arrivedAt) };
  let isDone = false;
  try {
    const reply = await carryOutAndTell(scene, { host: scene.host, adapter, thread, notes, event: own });
    isDone = true;
    return reply;
  } finally {
    claim.close(isDone);
  }
}

async function carryOutAndTell<Thread>(scene: Scene<Thread>, act: Act<Thread>): Promise<Reply> {
  const { notes, event } = act;
  if (event.kind === "session-start") dropOldNotes(scene.home, scene.now());
  const context = await carryOut(act);
  await noticeRewind(scene, act);
  if (event.kind === "turn-end") notes.claims.dropOld(scene.now());
  return tell(scene, { notes, event, context });
}

/** [R197] The agent's own process outlives its hooks; after a single event that is not known yet. */
function lastingClient<Thread>(
  { adapter, client }: Scene<Thread>,
  notes: HookNotes,
): ClientProcess | undefined {
  if (!adapter.startsItself || client === undefined) return undefined;
  const known = textOf(notes.recall("client") ?? {}, "process");
  return known === formatClient(client) ? client : undefined;
}

function noteClient<Thread>({ client }: Scene<Thread>, notes: HookNotes): void {
  if (client !== undefined) notes.remember("client", { process: formatClient(client) });
}

/** False for events that change no file and say nothing new: not worth looking for a workspace. */
function matters(event: AgentEvent): boolean {
  if (event.kind === "tool-before" || event.kind === "tool-after") return event.use.mutates;
  // A subagent's own prompt and stop are framed by the events about that subagent.
  if (event.kind === "prompt" || event.kind === "turn-end") return event.run === null;
  return true;
}

async function carryOut<Thread>(act: Act<Thread>): Promise<string | undefined> {
  const { event } = act;
  switch (event.kind) {
    case "prompt":
      return prompt({ ...act, event });
    case "wake-up":
      return wakeUp({ ...act, event });
    case "tool-before":
      return toolBefore({ ...act, event });
    case "tool-after":
      return toolAfter({ ...act, event });
    case "agent-start":
      return act.host.agentStart(activity({ ...act, event })).then(() => undefined);
    case "agent-end":
      await closeCalls(act, event.run.id);
      return act.host
        .agentEnd({ ...activity({ ...act, event }), status: event.status })
        .then(() => undefined);
    case "turn-end":
      return turnEnd({ ...act, event });
    case "session-end":
      await closeTurn(act, "interrupted");
      return act.host.sessionEnd?.(act.thread).then(() => undefined);
    default:
      return undefined;
  }
}

async function prompt<Thread>(act: Act<Thread, Of<"prompt">>): Promise<string | undefined> {
  const { host, thread, notes, event } = act;
  await closeTurn(act, "interrupted");
  const messageId = event.messageId ?? `message-${digest(event.session, event.key)}`;
  const { notices } = await host.message({
    thread,
    messageId,
    text: event.text,
    description: describePrompt(event.text),
    summary: summarisePrompt(event.text),
  });
  notes.beginTurn({ messageId, turnId: event.turnId });
  return newsFor(notices);
}

/** The agent continues the turn that started what now ended in the background. */
function wakeUp<Thread>({ notes, event }: Act<Thread, Of<"wake-up">>): undefined {
  const messageId = notes.lastMessage();
  if (messageId !== null) notes.beginTurn({ messageId, turnId: event.turnId });
}

async function toolBefore<Thread>(act: Act<Thread, Of<"tool-before">>): Promise<string | undefined> {
  const { host, thread, notes, event } = act;
  const { use, run } = event;
  await noticeUnannouncedTurn(act);
  const toolUseId = use.toolUseId ?? `${use.match}-${digest(event.key)}`;
  // Out of order: what it would show as the state before is already the state after.
  const isOver = () => use.toolUseId !== null && notes.claims.wasClaimed(`tool-after:${event.key}`);
  if (isOver()) return undefined;
  const subject = shownSubject(use, host.rootOf?.(thread));
  const told = await host.toolBefore({
    thread,
    messageId: notes.lastMessage(),
    tool: use.tool,
    toolUseId,
    paths: use.paths,
    nature: natureOf(act, use),
    background: use.background,
    summary: summarise(subject),
    description: describeTool("Before", { ...use, subject }),
    run,
  });
  if (!isOver()) notes.beginCall({ ...use, toolUseId, run });
  return told?.notices[0];
}

/** Files by their names in the project, as people know them; a command stays as the agent typed it. */
function shownSubject({ subject, paths }: ToolUse, root: string | undefined): string {
  return root === undefined || paths.length === 0 ? subject : subject.replaceAll(join(root, "/"), "");
}

async function toolAfter<Thread>(act: Act<Thread, Of<"tool-after">>): Promise<undefined> {
  const { use, run, status } = act.event;
  const begun = act.notes.openCalls().find((call) => call.match === use.match);
  const toolUseId = begun?.toolUseId ?? use.toolUseId ?? use.match;
  await endCall(act, { ...use, toolUseId, run: begun?.run ?? run }, { status, background: use.background });
}

async function turnEnd<Thread>(act: Act<Thread, Of<"turn-end">>): Promise<undefined> {
  const { host, thread, notes, event } = act;
  await closeCalls(act, null);
  const { status, answer, background } = event;
  await host.turnEnd({ thread, messageId: notes.lastMessage(), status, answer, background });
  notes.endTurn();
}

/** A tool call of a turn whose prompt was not announced: the turn before it ended without an event. */
async function noticeUnannouncedTurn<Thread>(act: Act<Thread>): Promise<void> {
  const { notes, event } = act;
  const open = notes.openTurn();
  if (open === null || event.run !== null || event.turnId === null || open.turnId === null) return;
  if (event.turnId === open.turnId) return;
  await closeTurn(act, "interrupted");
  notes.beginTurn({ messageId: event.turnId, turnId: event.turnId });
}

/** Ends a turn that ended without an event. What its last tool did is captured now. */
async function closeTurn<Thread>(act: Act<Thread>, status: TurnStatus): Promise<void> {
  const { host, thread, notes } = act;
  const open = notes.openTurn();
  await noticeInterrupt(act);
  await closeCalls(act, null);
  if (open === null) return;
  await host.turnEnd({ thread, messageId: open.messageId, status, answer: null, background: [] });
  notes.endTurn();
}

/** Where the transcript says when the agent was interrupted, later changes are not attributed to it. */
async function noticeInterrupt<Thread>({ adapter, host, thread, notes, event }: Act<Thread>): Promise<void> {
  if (event.transcript === null || notes.openCalls().length === 0) return;
  const at = await adapter.conversations.interruptedAt?.(event.transcript);
  if (typeof at === "number") await host.interrupted({ thread, at });
}

/** Calls that never reported their end: interrupted, or not allowed to run. `runId` null = of the agent itself. */
async function closeCalls<Thread>(act: Act<Thread>, runId: string | null): Promise<void> {
  for (const call of act.notes.openCalls()) {
    if ((call.run?.id ?? null) === runId)
      await endCall(act, call, { status: "unfinished", background: false });
  }
}

/** A command can be found only where the agent's own process starts it. */
function natureOf<Thread>({ adapter }: Act<Thread>, { nature }: Pick<ToolUse, "nature">): ToolUse["nature"] {
  return nature === "command" && !adapter.startsItself ? null : nature;
}

async function endCall<Thread>(
  act: Act<Thread>,
  call: OpenCall,
  end: { status: ToolStatus; background: boolean },
): Promise<void> {
  const { host, thread, notes } = act;
  const { tool, toolUseId, paths, subject, run } = call;
  await host.toolAfter({
    thread,
    messageId: notes.lastMessage(),
    tool,
    toolUseId,
    paths,
    summary: summarise(subject),
    nature: null,
    description: describeTool("After", call),
    run,
    ...end,
  });
  notes.endCall(toolUseId);
}

function activity<Thread>(act: Act<Thread, Of<"agent-start" | "agent-end">>) {
  const { thread, notes, event } = act;
  const phase = event.kind === "agent-start" ? "Before" : "After";
  return {
    thread,
    messageId: notes.lastMessage(),
    run: event.run,
    description: describeRun(phase, event.run),
  };
}

/** An event, and the conversation whose part it is. */
export interface Belonging {
  readonly session: string;
  readonly event: AgentEvent;
}

/**
 * Some agents give their subagents conversations of their own. Such an event belongs to the conversation that started the
 * first of them, and happened in a subagent. The events that name a parent leave a note of it.
 */
export function belongsTo(scene: Pick<Scene<never>, "home" | "adapter">, event: AgentEvent): Belonging {
  const notesOf = (session: string) => openHookNotes(scene.home, scene.adapter.id, session);
  if (event.parentSession !== null && event.parentSession !== event.session) {
    notesOf(event.session).remember("parent", { session: event.parentSession, role: event.run?.role });
  }
  if (event.kind === "agent-start" && event.run.id !== event.session) {
    notesOf(event.run.id).remember("parent", { session: event.session, role: event.run.role });
  }
  let session = event.session;
  for (let depth = 0; depth < NESTING_LIMIT; depth += 1) {
    const parent = textOf(notesOf(session).recall("parent") ?? {}, "session");
    if (parent === null || parent === session) break;
    session = parent;
  }
  if (session === event.session || event.run !== null) return { session, event };
  const role = textOf(notesOf(event.session).recall("parent") ?? {}, "role") ?? "subagent";
  return { session, event: inSubagent(event, { id: event.session, role }) };
}

/** The end of such a conversation's turn is the end of the subagent. */
function inSubagent(event: AgentEvent, run: AgentRun): AgentEvent {
  if (event.kind !== "turn-end") return { ...event, run };
  return { ...event, kind: "agent-end", run };
}

/** The event is captured by now: failing to look for a rewind does not undo that. */
async function noticeRewind<Thread>(scene: Scene<Thread>, act: Act<Thread>): Promise<void> {
  const { notes, event, host, thread } = act;
  try {
    const rewind = await scene.adapter.conversations.noticeRewind?.(event, notes);
    if (rewind !== undefined) await host.conversationRewound({ thread, messageId: rewind.messageId });
  } catch (error) {
    const problem = shorten(`looking for a rewind: ${(error as Error).message}`, 300);
    await host.trouble({ agent: scene.adapter.id, event: event.kind, problem });
  }
}

interface Telling {
  readonly notes: HookNotes;
  readonly event: AgentEvent;
  readonly context: string | undefined;
}

/** Hands news to the model at the first event whose answer the agent passes on to it. */
function tell<Thread>(scene: Scene<Thread>, { notes, event, context }: Telling): Reply {
  const waiting = textOf(notes.recall("news") ?? {}, "text");
  const news = context ?? waiting ?? undefined;
  if (news === undefined) return {};
  const isHeard = scene.now() < (scene.deadline?.at ?? Infinity) - DEADLINES.ANSWER_MS;
  const canTell = isHeard && scene.adapter.tellsModelAt.includes(event.kind) && event.run === null;
  notes.remember("news", canTell ? null : { text: news });
  return canTell ? { context: news } : {};
}

async function runCommand<Thread>({ host, cwd }: Scene<Thread>, event: Of<"command">): Promise<Reply> {
  if (host.command === undefined) return {};
  const { name, args } = event;
  return { output: await host.command({ name, args, cwd: event.cwd ?? cwd }) };
}
