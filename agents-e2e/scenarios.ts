/** What must hold with every client: a turn is taken back and done again exactly, and a broken store blocks no client. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, Command, Step } from "./client.ts";
import { ANSWER, type ModelStub, type ToolCall } from "./model-stub.ts";
import type { Stage } from "./stage.ts";
import {
  LONG_PROMPT,
  LONG_STEPS,
  OTHER_PROMPT,
  OTHER_STEPS,
  PROMPT,
  RESULT,
  SECOND_PROMPT,
  SECOND_STEPS,
  STALLED_PROMPT,
  STALLED_STEPS,
  STEPS,
} from "./task.ts";

export interface Scene {
  readonly client: Client;
  readonly modules: string;
  readonly model: ModelStub;
  readonly modelUrl: string;
  readonly stage: Stage;
}

type Scenario = (scene: Scene) => Promise<void>;

export const SCENARIOS: readonly (readonly [name: string, Scenario])[] = [
  ["alone", (scene) => turnAndBack(scene)],
  ["with the resident process", withResident],
  ["killed", killed],
  ["killed, then another conversation", killedThenAnother],
  ["left open, then another conversation", leftOpenThenAnother],
  ["damaged store", damagedStore],
];

async function turnAndBack(scene: Scene, hasResident = false): Promise<void> {
  const { stage, model } = scene;
  protect(scene);
  if (hasResident) stage.json("start");
  const before = stage.tree();
  const { output, calls } = await turn(scene, PROMPT, STEPS);
  checkResult(stage);
  assert.equal(stage.residentWasAsked(), hasResident, "who carried out the hooks");
  assert.doesNotMatch(output, HOOK_TROUBLE, "the client shows trouble with hooks");
  const after = stage.tree();
  checkConversation(scene, [[PROMPT, calls]]);
  undo(stage, before);
  assert.equal(stage.json("redo", "--yes").outcome, "applied");
  assert.deepEqual(stage.tree(), after, "done again, the project is what the turn made of it");
  undo(stage, before);
  const second = await turn(scene, SECOND_PROMPT, SECOND_STEPS);
  assert.ok(model.hasHeard("the user took back some of your earlier work"), "the model was told");
  checkConversation(scene, [
    [PROMPT, calls],
    [SECOND_PROMPT, second.calls],
  ]);
  undo(stage, before);
  assert.equal(existsSync(stage.troubleLog) && readFileSync(stage.troubleLog, "utf8"), false, "trouble.log");
  assert.equal(stage.json("verify", "--full").ok, true);
}

async function withResident(scene: Scene): Promise<void> {
  await turnAndBack(scene, true);
  const { resident } = scene.stage.json("status");
  assert.deepEqual([resident.running, resident.watching], [true, true], "the resident process watched");
}

/** The client says nothing more: what its tool did until then is taken back all the same. */
async function killed(scene: Scene): Promise<void> {
  const { stage } = scene;
  protect(scene);
  const before = stage.tree();
  await stage.run(command(scene, LONG_PROMPT, LONG_STEPS), "started.txt");
  const after = stage.tree();
  undo(stage, before);
  stage.json("redo", "--yes");
  assert.deepEqual(stage.tree(), after, "done again, the project is what the turn made of it");
}

/** What another conversation and the user do after a client was killed is theirs. */
async function killedThenAnother(scene: Scene): Promise<void> {
  const { stage } = scene;
  protect(scene);
  const before = stage.tree();
  await stage.run(command(scene, LONG_PROMPT, LONG_STEPS), "started.txt");
  const killedThere = stage.tree();
  await turn(scene, OTHER_PROMPT, OTHER_STEPS);
  writeFileSync(join(stage.project, "mine.txt"), "mine\n");
  undo(stage, withMine(stage, killedThere));
  undo(stage, withMine(stage, before));
}

/** Esc, and the window stays open: the client lives and says nothing more. */
async function leftOpenThenAnother(scene: Scene): Promise<void> {
  const { stage, model } = scene;
  protect(scene);
  const before = stage.tree();
  const stalled = command(scene, STALLED_PROMPT, STALLED_STEPS, { stalls: true });
  using _ = await stage.leaveOpen(stalled, () => model.isStalled);
  const leftThere = stage.tree();
  writeFileSync(join(stage.project, "mine.txt"), "mine\n");
  await turn(scene, OTHER_PROMPT, OTHER_STEPS);
  undo(stage, withMine(stage, leftThere));
  undo(stage, withMine(stage, before));
}

function withMine(stage: Stage, tree: readonly string[]): string[] {
  const mine = stage.tree().filter((line) => line.startsWith("/mine.txt"));
  assert.equal(mine.length, 1, "the user's own file is there");
  return [...tree, ...mine].toSorted();
}

async function damagedStore(scene: Scene): Promise<void> {
  const { client, stage } = scene;
  protect(scene);
  const stores = join(stage.home, "workspaces");
  writeFileSync(join(stores, readdirSync(stores)[0]!, "store.db"), "this is not a database");
  const { output } = await turn(scene, PROMPT, STEPS);
  assert.ok(output.includes(ANSWER), "the client went on to the model's answer");
  checkResult(stage);
  if (client.showsTrouble) assert.match(output, HOOK_TROUBLE, "the client shows that something is wrong");
  const doctor = stage.belay("doctor");
  assert.equal(doctor.status, 1, "doctor sees a problem");
  assert.match(doctor.output, /hook errors: .*damaged/s);
}

/** What clients write when a hook fails, does not answer or blocks; and what Belay has them show. */
const HOOK_TROUBLE =
  /hooks?\b[^"\n]{0,60}\b(?:errors?|failed|failure|timed out|cancelled|blocked)|may not be captured|"exit_code":[1-9]/i;

/** Settings and hooks, as the user has them. */
export function protect({ client, stage, modelUrl }: Scene): void {
  client.prepare?.(stage, modelUrl);
  const { agents } = stage.json("init", "--agent", client.agent, "--yes");
  assert.equal(agents.length, 1, "hooks were installed");
}

async function turn(scene: Scene, prompt: string, steps: readonly Step[]) {
  const { client, stage } = scene;
  const { status, output } = await stage.run(command(scene, prompt, steps));
  assert.equal(status, 0, `${client.agent} ended with ${status}: ${output.slice(-2000)}`);
  return { output, calls: callsFor(scene, steps) };
}

export function command(scene: Scene, prompt: string, steps: readonly Step[], how = {}): Command {
  const { client, modules, model, modelUrl } = scene;
  model.expect(prompt, callsFor(scene, steps), how);
  return client.turn({ modules, prompt, modelUrl, continues: prompt === SECOND_PROMPT });
}

function callsFor({ client, stage }: Scene, steps: readonly Step[]): ToolCall[] {
  return steps.flatMap((step) => client.toolCall(step, stage.project) ?? []);
}

function undo(stage: Stage, before: readonly string[]): void {
  const { outcome, steps } = stage.json("undo", "--yes");
  assert.deepEqual(stage.tree().toSorted(), before.toSorted(), "undone, the project is what it was");
  assert.deepEqual([outcome, steps.length], ["applied", 1]);
}

function checkResult(stage: Stage): void {
  const found = Object.keys(RESULT).map((path) => {
    const place = join(stage.project, path);
    return [path, existsSync(place) ? readFileSync(place, "utf8") : null];
  });
  assert.deepEqual(Object.fromEntries(found), RESULT, "the turn did what the model asked for");
}

/** One thread has the prompts and the answers, and a checkpoint before and after each call that may change files. */
function checkConversation(
  { client, stage }: Scene,
  turns: readonly (readonly [prompt: string, calls: readonly ToolCall[]])[],
): void {
  const { threads } = stage.json("threads");
  assert.equal(threads.length, 1, "one conversation");
  const { thread, messages } = stage.json("thread", threads[0].id);
  assert.equal(thread.agent, client.agent);
  assert.deepEqual(
    messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
    turns.flatMap(([prompt]) => [
      ["user", prompt],
      ...(client.isMute === true ? [] : [["assistant", ANSWER]]),
    ]),
  );
  const { checkpoints } = stage.json("list", "--thread", thread.id, "--kind", "tool", "--all");
  const seen = checkpoints.map(({ tool, phase }: { tool: string; phase: string }) => `${phase} ${tool}`);
  const expected = turns
    .flatMap(([, calls]) => calls)
    .filter(({ name }) => !/^(?:read|read_file|view)$/i.test(name))
    .flatMap(({ name, hookName = name }) => [`before ${hookName}`, `after ${hookName}`]);
  assert.deepEqual(seen.reverse(), expected, "a checkpoint before and after each tool");
}
