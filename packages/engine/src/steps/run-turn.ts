/**
 * A run around an agent's program: a checkpoint before it, which stays whatever happens [M41], one turn with its
 * prompt, and a checkpoint after it. The turn belongs to the program's process, so a process of Belay that dies in
 * between ends nothing.
 */
import { asSeen, type Context } from "../capture/context.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { withCapture, type Capture } from "../capture/with-capture.ts";
import { countChanges } from "../diff/count-changes.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { insertMessage } from "../history/messages.ts";
import { appendOperation } from "../history/operations.ts";
import { resolveState } from "../history/references.ts";
import { findRun, setRunBegun, setRunEnded } from "../history/run-rows.ts";
import { openStep } from "../history/step-rows.ts";
import { openThread } from "../history/threads.ts";
import { closeAgent, openAgent } from "../history/tool-calls.ts";
import type { AgentFacts } from "../model/checkpoint.ts";
import type { ChangeCounts } from "../model/file-change.ts";
import type { OperationId } from "../model/ids.ts";
import type { Run, RunLog, RunResult } from "../model/run.ts";
import { endingWith } from "./lost-ends.ts";
import { beginningOf, closeTurns } from "./turns.ts";

/** [M04, M38] Takes the checkpoint before an agent, then opens its thread and turn; its program may start after this. */
export function beginRun(context: Context, run: Run, log: Omit<RunLog, "truncated">): Run {
  const { store, system } = context;
  const { db } = store;
  const { id, agent, role, prompt } = run;
  const now = system.now();
  withCapture(context, {}, (capture) => {
    const thread =
      run.thread ??
      openThread(db, { agent, externalId: id, title: beginningOf(prompt) }, { id: system.newId(), now }).id;
    const facts: AgentFacts = { id, role, status: "running", cost: null, tokens: null };
    const { seq } = capture.record({
      request: { kind: "agent", phase: "before", thread, agent: facts },
      description: `Before agent: ${role}`,
      operation: "run",
    }).checkpoint;
    closeTurns(context, thread, seq);
    const step = system.newId();
    const description = beginningOf(prompt);
    openStep(db, {
      id: step,
      kind: "turn",
      thread,
      description,
      prompt,
      owner: system.owner,
      before: seq,
      now,
    });
    insertMessage(db, {
      id: system.newId(),
      thread,
      role: "user",
      content: prompt,
      now,
      checkpoint: seq,
      step,
    });
    openAgent(db, { id, thread, role, parent: null, step, checkpoint: seq, now });
    setRunBegun(db, id, { thread, step, before: seq, log, now });
    appendEvent(db, { type: "agent_started", thread, at: now, data: { run: id } });
  });
  return findRun(db, id);
}

/** Captures what the agent left, and closes its turn. */
export function endRun(context: Context, run: Run, result: RunResult): Run {
  const { store } = context;
  const { db } = store;
  const { thread, role } = run;
  if (thread === null) return closeRun(context, run, { ...result, after: null, changes: null });
  const record = (capture: Capture) => {
    const { checkpoint } = capture.record({
      request: { kind: "agent", phase: "after", thread, agent: factsOf(run, result) },
      description: `After agent: ${role}`,
      operation: "run",
      moment: { heard: thread },
    });
    closeTurns(context, thread, checkpoint.seq);
    closeRun(context, run, {
      ...result,
      after: checkpoint.seq,
      changes: changesSince(context, run, checkpoint.seq),
    });
  };
  endingWith(context, { thread, of: { kind: "turn" } }, () => withCapture(context, {}, record));
  return findRun(db, run.id);
}

/** Records the end of a run without a capture: it never began, or its directory is gone. */
export function closeRun(
  context: Context,
  run: Run,
  result: RunResult & { after: number | null; changes: ChangeCounts | null },
): Run {
  const { store, system } = context;
  const { db } = store;
  const now = system.now();
  db.transaction(() => {
    if (run.thread !== null) closeAgent(db, run.thread, { ...factsOf(run, result), now });
    setRunEnded(db, run.id, { ...result, now });
    const detail = { run: run.id, agent: run.agent, status: result.status };
    appendOperation(db, { id: system.newId() as OperationId, kind: "run", at: now, detail });
    const data = { run: run.id, status: result.status };
    appendEvent(db, { type: "agent_finished", thread: run.thread, at: now, data });
  });
  return findRun(db, run.id);
}

function factsOf({ id, role }: Run, { status, cost, tokens }: RunResult): AgentFacts {
  return { id, role, status, cost, tokens: tokens?.total ?? null };
}

function changesSince(context: Context, run: Run, after: number): ChangeCounts | null {
  const { store } = context;
  const last = checkpointAt(store.db, after);
  if (run.before === null || last === undefined) return null;
  const first = resolveState(context, run.before);
  return countChanges(provenChanges(store.objects, asSeen(context, first), asSeen(context, last)));
}
