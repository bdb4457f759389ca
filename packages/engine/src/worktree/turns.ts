/** Turns: a checkpoint before, work, a checkpoint after; what changed in between is one step. */
import { openThread } from "../history/threads.ts";
import { closeStep, openStep, openSteps } from "../history/steps.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Context } from "./context.ts";
import { takeCheckpoint, type Taken } from "./take-checkpoint.ts";

export interface TurnFacts {
  readonly thread: ThreadId;
  readonly description: string;
  readonly prompt: string | null;
}

export interface OpenTurn {
  readonly id: string;
  readonly before: Taken;
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

/** Begins a turn. A turn of the same thread that nobody ended is over now: this capture is its last. */
export function beginTurn(
  context: Context,
  { thread, description, prompt }: TurnFacts,
  settled: boolean,
): OpenTurn {
  const { store, system } = context;
  const id = system.newId();
  const before = takeCheckpoint(context, {
    request: { kind: "turn", phase: "before", thread },
    description: `Before: ${description}`,
    look: { settled },
    within({ checkpoint, operationSeq }) {
      for (const step of openSteps(store.db)) {
        if (step.thread === thread)
          closeStep(store.db, step.id, { after: checkpoint.seq, now: system.now(), position: operationSeq });
      }
      openStep(store.db, {
        id,
        kind: "turn",
        thread,
        description,
        prompt,
        owner: system.owner,
        before: checkpoint.seq,
        now: system.now(),
      });
    },
  });
  return { id, before };
}

/** Ends the thread's open turn; an undo in the meantime may have replaced the one that was begun. */
export function endTurn(context: Context, { thread, description }: TurnFacts, settled: boolean): Taken {
  const { store, system } = context;
  return takeCheckpoint(context, {
    request: { kind: "turn", phase: "after", thread },
    description: `After: ${description}`,
    look: { settled },
    operation: "turn",
    within({ checkpoint, operationSeq }) {
      for (const step of openSteps(store.db)) {
        if (step.thread === thread)
          closeStep(store.db, step.id, { after: checkpoint.seq, now: system.now(), position: operationSeq });
      }
    },
  });
}
