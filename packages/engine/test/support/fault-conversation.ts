/** An exchange with an agent, as something that faults are tried on: what was told to be recorded is there. */
import assert from "node:assert/strict";
import type { ThreadId, Workspace } from "../../src/index.ts";

type Step = (workspace: Workspace, thread: ThreadId, turn: string) => Promise<unknown>;

/** Each step has names of its turn's own, and leaves the files alone. */
const STEPS: Readonly<Record<string, Step>> = {
  prompt: (workspace, thread, turn) =>
    workspace.turns.prompt(thread, { content: "go on", messageId: `${turn} q` }),
  "tool begun": (workspace, thread, turn) =>
    workspace.turns.beginTool(thread, { tool: "Write", toolUseId: `${turn} t`, paths: ["out/named"] }),
  "tool ended": (workspace, thread, turn) => workspace.turns.endTool(thread, { toolUseId: `${turn} t` }),
  "agent begun": (workspace, thread, turn) =>
    workspace.turns.beginAgent(thread, { id: `${turn} a`, role: "helper" }),
  "agent ended": (workspace, thread, turn) => workspace.turns.endAgent(thread, { id: `${turn} a`, cost: 1 }),
  answer: (workspace, thread, turn) =>
    workspace.threads.addMessage(thread, { role: "assistant", content: "done", externalId: `${turn} r` }),
  end: (workspace, thread) => workspace.turns.end(thread),
};

/** One turn from prompt to stop; tells each step that is done. */
export async function converse(
  workspace: Workspace,
  turn: string,
  told: (step: string) => void,
): Promise<void> {
  const thread = (await workspace.threads.list())[0]!.id;
  for (const [name, step] of Object.entries(STEPS)) {
    await step(workspace, thread, turn);
    told(name);
  }
}

/** What was told is recorded, once and whole; and the conversation can go on. */
export async function expectTold(workspace: Workspace, turn: string, told: readonly string[]): Promise<void> {
  await expectRecorded(workspace, turn, told);
  const again: string[] = [];
  await converse(workspace, "again", (step) => again.push(step));
  await expectRecorded(workspace, "again", again);
  await expectRecorded(workspace, turn, told);
}

async function expectRecorded(workspace: Workspace, turn: string, told: readonly string[]): Promise<void> {
  const thread = (await workspace.threads.list())[0]!.id;
  const { messages } = await workspace.threads.history(thread);
  const checkpoints = await workspace.list({ limit: 1000 });
  const agents = (await workspace.turns.agents(thread)).filter(({ id }) => id === `${turn} a`);
  const called = (id: string) => messages.filter(({ externalId }) => externalId === id);
  const calls = (phase: string) =>
    checkpoints.filter((each) => each.toolUseId === `${turn} t` && each.phase === phase);
  const found: Readonly<Record<string, number>> = {
    prompt: called(`${turn} q`).length,
    "tool begun": calls("before").length,
    "tool ended": calls("after").length,
    "agent begun": agents.length,
    "agent ended": agents.filter(({ status, cost }) => status === "done" && cost === 1).length,
    answer: called(`${turn} r`).length,
  };
  for (const [step, count] of Object.entries(found))
    assert.ok(told.includes(step) ? count === 1 : count <= 1, `${step}: ${count}, told ${told.join(", ")}`);
  for (const { checkpoint } of called(`${turn} q`))
    assert.ok(
      checkpoints.some(({ id }) => id === checkpoint),
      "a prompt without its checkpoint",
    );
}
