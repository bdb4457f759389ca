/** What hooks cost: the same turn of ten tool calls, with the resident process and its hooks, and without any. */
import assert from "node:assert/strict";
import type { Client, Step } from "./client.ts";
import { ModelStub } from "./model-stub.ts";
import { command, protect, type Scene } from "./scenarios.ts";
import { Stage } from "./stage.ts";

const CALLS = 10;
/** The quickest of so many counts: what else the machine does only makes it slower. */
const TURNS = 4;
const PROMPT = "Please count.";
const STEPS = Array.from({ length: CALLS }, (_, at): Step => ({
  does: "shell",
  command: `echo ${at} > count.txt`,
}));

/** One line for people. */
export async function measureCost(client: Client, modules: string): Promise<string> {
  await using model = new ModelStub();
  using stage = new Stage({ "count.txt": "none\n" }, { keep: false });
  const scene: Scene = { client, modules, model, modelUrl: await model.listen(), stage };
  client.prepare?.(stage, scene.modelUrl);
  const without = await quickestTurn(scene);
  protect({ ...scene, client: withoutPreparation(client) });
  stage.json("start");
  const withHooks = await quickestTurn(scene);
  const events = stage.json("list", "--kind", "tool", "--all").checkpoints.length;
  assert.equal(events, CALLS * 2 * (TURNS + 1), "every call was captured");
  const cost = (withHooks - without) / CALLS;
  return (
    `${client.agent}: a call costs ${cost.toFixed(0)} ms more with hooks; a turn of ${CALLS} calls takes ` +
    `${(withHooks / 1000).toFixed(2)} s with, ${(without / 1000).toFixed(2)} s without`
  );
}

async function quickestTurn(scene: Scene): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn <= TURNS; turn += 1) {
    const started = performance.now();
    const { status, output } = await scene.stage.run(command(scene, PROMPT, STEPS));
    assert.equal(status, 0, output.slice(-2000));
    // the first one makes caches
    if (turn > 0) times.push(performance.now() - started);
  }
  return Math.min(...times);
}

/** Its settings are there already. */
function withoutPreparation(client: Client): Client {
  const { prepare: _, ...rest } = client;
  return rest;
}
