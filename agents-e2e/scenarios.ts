/** What must hold with every client: a turn is taken back and done again exactly, and a broken store stops nobody. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./client.ts";
import { ANSWER, type ModelStub, type ToolCall } from "./model-stub.ts";
import type { Ran, Stage } from "./stage.ts";
import { PROMPT, RESULT, STEPS } from "./task.ts";

export interface Scene {
  readonly client: Client;
  readonly modules: string;
  readonly model: ModelStub;
  readonly modelUrl: string;
  readonly stage: Stage;
}

type Scenario = (scene: Scene) => Promise<void>;

export const SCENARIOS: readonly (readonly [name: string, Scenario])[] = [
  ["alone", turnAndBack],
  ["with the resident process", withResident],
  ["damaged store", damagedStore],
];

async function turnAndBack(scene: Scene): Promise<void> {
  const { client, stage } = scene;
  const calls = prepare(scene);
  const before = stage.tree();
  const ran = await turn(scene);
  assert.equal(ran.status, 0, `${client.agent} ended with ${ran.status}: ${ran.output.slice(-2000)}`);
  checkResult(stage);
  assert.doesNotMatch(ran.output, HOOK_TROUBLE, "the client shows trouble with hooks");
  const after = stage.tree();
  checkConversation(scene, calls);
  const undone = stage.json("undo", "--yes");
  assert.deepEqual(stage.tree(), before, "undone, the project is what it was");
  assert.deepEqual([undone.outcome, undone.steps.length], ["applied", 1]);
  assert.equal(stage.json("redo", "--yes").outcome, "applied");
  assert.deepEqual(stage.tree(), after, "done again, the project is what the turn made of it");
  assert.equal(existsSync(stage.troubleLog) && readFileSync(stage.troubleLog, "utf8"), false, "trouble.log");
  assert.equal(stage.json("verify", "--full").ok, true);
}

async function withResident(scene: Scene): Promise<void> {
  prepare(scene);
  scene.stage.json("start");
  await turnAndBack(scene);
  const { resident } = scene.stage.json("status");
  assert.deepEqual([resident.running, resident.watching], [true, true], "the resident process watched");
}

async function damagedStore(scene: Scene): Promise<void> {
  const { client, stage } = scene;
  prepare(scene);
  const stores = join(stage.home, "workspaces");
  writeFileSync(join(stores, readdirSync(stores)[0]!, "store.db"), "this is no database");
  const ran = await turn(scene);
  assert.equal(ran.status, 0, `${client.agent} ended with ${ran.status}: ${ran.output.slice(-2000)}`);
  assert.ok(ran.output.includes(ANSWER), "the client went on to the model's answer");
  checkResult(stage);
  const doctor = stage.belay("doctor");
  assert.equal(doctor.status, 1, "doctor sees a problem");
  assert.match(doctor.output, /trouble in hooks: .*damaged/s);
}

/** What clients write when a hook fails, does not answer or blocks; and what Belay has them show. */
const HOOK_TROUBLE =
  /hooks?\b[^"\n]{0,60}\b(?:errors?|failed|failure|timed out|cancelled|blocked)|may not be captured|"exit_code":[1-9]/i;

/** Settings and hooks, as the user has them; done twice it changes nothing. */
function prepare({ client, stage, modelUrl, model }: Scene): ToolCall[] {
  const calls = STEPS.flatMap((step) => client.toolCall(step, stage.project) ?? []);
  model.expect(PROMPT, calls);
  if (!existsSync(stage.home)) {
    client.prepare?.(stage, modelUrl);
    const { agents } = stage.json("init", "--agent", client.agent, "--yes");
    assert.deepEqual(agents.length, 1, "hooks were installed");
  }
  return calls;
}

function turn({ client, modules, modelUrl, stage }: Scene): Promise<Ran> {
  return stage.run(client.turn({ modules, prompt: PROMPT, modelUrl, stage }));
}

function checkResult(stage: Stage): void {
  const found = Object.keys(RESULT).map((path) => {
    const place = join(stage.project, path);
    return [path, existsSync(place) ? readFileSync(place, "utf8") : null];
  });
  assert.deepEqual(Object.fromEntries(found), RESULT, "the turn did what the model asked for");
}

/** The thread has the prompt and the answer, and a checkpoint before and after each call that may change files. */
function checkConversation({ client, stage }: Scene, calls: readonly ToolCall[]): void {
  const { threads } = stage.json("threads");
  assert.deepEqual(
    threads.map((thread: { agent: string }) => thread.agent),
    [client.agent],
  );
  const { thread, messages } = stage.json("thread", threads[0].id);
  assert.equal(thread.agent, client.agent);
  assert.deepEqual(
    messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
    [["user", PROMPT], ...(client.tellsAnswer ? [["assistant", ANSWER]] : [])],
  );
  const { checkpoints } = stage.json("list", "--thread", thread.id, "--kind", "tool", "--all");
  const seen = checkpoints.map(({ tool, phase }: { tool: string; phase: string }) => `${phase} ${tool}`);
  const expected = calls
    .filter(({ name }) => !/^read$/i.test(name))
    .flatMap(({ name, hookName = name }) => [`before ${hookName}`, `after ${hookName}`]);
  assert.deepEqual(seen.reverse(), expected, "a checkpoint before and after each tool");
}
