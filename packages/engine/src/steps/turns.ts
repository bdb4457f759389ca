/**
 * Turns: a checkpoint before, work, a checkpoint after; what changed in between is one step. A turn of this
 * process has an owner and ends with the process. One driven from outside ends with its stop event, with the
 * thread's next prompt, or with the undo that closes it.
 */
import { checkpointAt, setMessageIndex } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { headSeq } from "../history/line.ts";
import { resolveCheckpoint } from "../history/references.ts";
import { findMessage, insertMessage } from "../history/messages.ts";
import type { Recorded } from "../history/record.ts";
import { rolledBackSince } from "../history/rolled-back.ts";
import { closeStep, lastTurnOf, openStep, openSteps, openTurnOf } from "../history/step-rows.ts";
import { nameThread, openThread } from "../history/threads.ts";
import { closeCallsOf, stopBracketing } from "../history/tool-calls.ts";
import type { Message, Prompted, PromptRequest, RolledBack } from "../model/conversation.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Bounded } from "../model/deadline.ts";
import type { ThreadId } from "../model/ids.ts";
import type { CheckpointTrigger } from "../model/policy.ts";
import type { Context } from "../capture/context.ts";
import { withCapture, type Capture } from "../capture/with-capture.ts";
import { endingWith } from "./lost-ends.ts";

/** What is known of a turn when it begins. */
export interface TurnFacts {
  readonly thread: ThreadId;
  readonly description: string;
  readonly prompt: string | null;
}

/** A turn that has begun. */
export interface OpenTurn {
  readonly id: string;
  readonly before: Recorded;
}

/** Whether the policy takes checkpoints at this kind of event. */
export function isTrigger({ policy }: Context, trigger: CheckpointTrigger): boolean {
  return policy.triggers.includes(trigger);
}

/** The thread a turn belongs to: the given one, or a new one for this turn alone. */
export function threadForTurn(
  { store, system }: Context,
  thread: ThreadId | undefined,
  facts: { agent: string; title: string },
): ThreadId {
  if (thread !== undefined) return thread;
  return store.db.transaction(() => {
    const id = system.newId();
    return openThread(
      store.db,
      { agent: facts.agent, externalId: id, title: facts.title },
      { id, now: system.now() },
    ).id;
  });
}

/** Begins a turn. A turn of the same thread that was never ended is over now: this capture is its last. */
export function beginTurn(context: Context, { thread, description, prompt }: TurnFacts): OpenTurn {
  const { store, system } = context;
  const id = system.newId();
  const record = (capture: Capture) => {
    const before = capture.record({
      request: { kind: "turn", phase: "before", thread },
      description: `Before: ${description}`,
    });
    const { seq } = before.checkpoint;
    closeTurns(context, thread, seq);
    const now = system.now();
    openStep(store.db, {
      id,
      kind: "turn",
      thread,
      description,
      prompt,
      owner: system.owner,
      before: seq,
      now,
    });
    return { id, before };
  };
  // it ends the turn before it, captured or not
  const end = { thread, of: { kind: "turn" } } as const;
  return endingWith(context, end, () => withCapture(context, {}, record));
}

/** Ends the thread's open turn; an undo in the meantime may have replaced the one that was begun. */
export function endTurn(
  context: Context,
  { thread, description, deadline }: Omit<TurnFacts, "prompt"> & Bounded,
): Recorded {
  const record = (capture: Capture) => {
    const recorded = capture.record({
      request: { kind: "turn", phase: "after", thread },
      description: `After: ${description}`,
      operation: "turn",
      moment: { heard: thread },
    });
    const { id, seq, createdAt: at } = recorded.checkpoint;
    closeTurns(context, thread, seq);
    appendEvent(context.store.db, { type: "done", thread, at, data: { checkpoint: id } });
    return recorded;
  };
  const end = { thread, of: { kind: "turn" }, deadline } as const;
  return endingWith(context, end, () => withCapture(context, { deadline }, record));
}

/** The tools of the thread itself are over too; agents that it started may still be at work. */
export function closeTurns({ store, system }: Context, thread: ThreadId, after: number): void {
  for (const step of openSteps(store.db)) {
    if (step.thread === thread) closeStep(store.db, step.id, { after, now: system.now() });
  }
  closeCallsOf(store.db, thread, null, system.now());
}

/** Where nothing is captured, a turn ends with its last capture. */
function closeTurnsUncaptured(context: Context, thread: ThreadId): void {
  closeTurns(context, thread, headSeq(context.store.db));
}

/** Ends a turn that is driven from outside; undefined when none is open, or nothing is captured. */
export function stopTurn(context: Context, thread: ThreadId, { deadline }: Bounded): Recorded | undefined {
  const turn = openTurnOf(context.store.db, thread);
  if (turn === undefined) return undefined;
  if (isTrigger(context, "turn"))
    return endTurn(context, { thread, description: turn.description, deadline });
  context.store.db.transaction(() => closeTurnsUncaptured(context, thread));
  return undefined;
}

const SHOWN_CHARACTERS = 50;

/** A user message: the checkpoint before it, the message and its turn, all or none. */
export function promptTurn(context: Context, thread: ThreadId, request: PromptRequest): Prompted {
  const { store, system } = context;
  const { db } = store;
  const known = request.messageId === undefined ? undefined : findMessage(db, thread, request.messageId);
  if (known !== undefined) return { message: known, checkpoint: null, turn: null, rolledBack: [] };
  const rolledBack = goneSince(context, thread);
  const summary = beginningOf(request.summary ?? request.content);
  const facts = { id: system.newId(), turn: system.newId() };
  if (!isTrigger(context, "message")) {
    const message = db.transaction(() => {
      closeTurnsUncaptured(context, thread);
      return addPrompt(context, thread, { ...facts, turn: null, request, seq: null });
    });
    return { message, checkpoint: null, turn: null, rolledBack };
  }
  const { deadline } = request;
  // [R2300] a prompt that names no checkpoint of this store is refused here, and ends nothing
  const named = request.checkpoint === undefined ? undefined : resolveCheckpoint(db, request.checkpoint);
  const record = (capture: Capture): Prompted => {
    const taken = named && takenAlready(context, thread, { named, capture });
    const recorded =
      taken === undefined
        ? capture.record({
            request: { kind: "message", phase: "before", thread, messageId: request.messageId ?? facts.id },
            description: `Before user message: ${summary}`,
          })
        : { checkpoint: taken };
    const { seq } = recorded.checkpoint;
    closeTurns(context, thread, seq);
    if (!isTrigger(context, "tool")) stopBracketing(db, thread);
    openPromptedTurn(context, { id: facts.turn, thread, prompt: request.content, summary, before: seq });
    const message = addPrompt(context, thread, { ...facts, request, seq });
    setMessageIndex(db, seq, message.index);
    const { stored } = recorded as Pick<Recorded, "stored">;
    return {
      message,
      checkpoint: checkpointAt(db, seq)!,
      turn: facts.turn,
      ...(stored && { stored }),
      rolledBack,
    };
  };
  const end = { thread, of: { kind: "turn" }, deadline } as const;
  return endingWith(context, end, () => withCapture(context, { deadline }, record));
}

/** The checkpoint that the caller took for this message, unless another one followed it or the files changed since. */
function takenAlready(
  { store: { db } }: Context,
  thread: ThreadId,
  { named, capture }: { named: Checkpoint; capture: Capture },
): Checkpoint | undefined {
  if (named.thread !== thread || named.seq !== headSeq(db) || named.snapshot !== capture.present.snapshot)
    return undefined;
  capture.store();
  return named;
}

/** A turn without an owning process: it lives as long as its conversation. */
export function openPromptedTurn(
  { store, system }: Context,
  turn: { id: string; thread: ThreadId; prompt: string; summary?: string; before: number },
): void {
  openStep(store.db, {
    id: turn.id,
    kind: "turn",
    thread: turn.thread,
    description: turn.summary ?? beginningOf(turn.prompt),
    prompt: turn.prompt,
    owner: null,
    before: turn.before,
    now: system.now(),
  });
}

function addPrompt(
  { store, system }: Context,
  thread: ThreadId,
  facts: { id: string; turn: string | null; request: PromptRequest; seq: number | null },
): Message {
  const { content, messageId, artifacts, summary = content } = facts.request;
  nameThread(store.db, thread, beginningOf(summary));
  const message = insertMessage(store.db, {
    id: facts.id,
    thread,
    role: "user",
    content,
    ...(messageId === undefined ? {} : { externalId: messageId }),
    ...(artifacts === undefined ? {} : { artifacts }),
    now: system.now(),
    checkpoint: facts.seq,
    step: facts.turn,
  });
  appendEvent(store.db, { type: "user", thread, at: message.createdAt, data: { message: message.id } });
  return message;
}

/** The first characters of a text, as descriptions show it. */
export function beginningOf(text: string): string {
  const characters = Array.from(text);
  return characters.length <= SHOWN_CHARACTERS ? text : `${characters.slice(0, SHOWN_CHARACTERS).join("")}…`;
}

/** What was taken back since the thread's last turn began: its agent still believes it is there. */
function goneSince({ store }: Context, thread: ThreadId): RolledBack[] {
  const last = lastTurnOf(store.db, thread);
  return last === undefined ? [] : rolledBackSince(store.db, thread, last.before ?? 0);
}
