/**
 * What hooks cost: the same turn of ten tool calls with the resident process and its hooks, and without any. The model
 * times each call, so what a client does at its start and end does not count, nor what Belay does while a model thinks.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, Step } from "./client.ts";
import { ModelStub } from "./model-stub.ts";
import { command, protect, type Scene } from "./scenarios.ts";
import { Stage } from "./stage.ts";

const CALLS = 10;
/** Less than any model takes. */
const THINKING_MS = 100;
const PROMPT = "Please count.";
const STEPS = Array.from({ length: CALLS }, (_, at): Step => ({
  does: "shell",
  command: `echo ${at} > count.txt`,
}));

/**
 * The same project three times: without hooks; with hooks, but as if nothing were protected, where they read their event and
 * end: what is left is what the agent itself takes to start them; and protected.
 */
type Kind = "without" | "idle" | "hooks";
const KINDS: readonly Kind[] = ["without", "idle", "hooks"];

/** One line for people, from as many turns of each kind; more turns tell a smaller difference from noise. */
export async function measureCost(client: Client, modules: string, turns: number): Promise<string> {
  await using model = new ModelStub({ thinkingMs: THINKING_MS });
  const modelUrl = await model.listen();
  using stages = new DisposableStack();
  const scenes = KINDS.map((kind): [Kind, Scene] => {
    const stage = stages.use(new Stage({ "count.txt": "none\n" }, { keep: false }));
    const scene = { client, modules, model, modelUrl, stage };
    prepareFor(kind, scene);
    return [kind, scene];
  });
  const times: Record<Kind, number[]> = { without: [], idle: [], hooks: [] };
  // in turns: what else the machine does slows all of them down
  for (let turn = 0; turn <= turns; turn += 1)
    for (const [kind, scene] of scenes) {
      const callTimes = await playTurn(scene);
      // the first one makes caches
      if (turn > 0) times[kind].push(...callTimes);
    }
  const events = scenes[2]![1].stage.json("list", "--kind", "tool", "--all").checkpoints.length;
  assert.equal(events, CALLS * 2 * (turns + 1), "every call was captured");
  const [without, idle, hooks] = KINDS.map((kind) => middle(times[kind]));
  return (
    `${client.agent}: a call costs ${(hooks! - without!).toFixed(0)} ms more with hooks ` +
    `(${(idle! - without!).toFixed(0)} ms with hooks that have nothing to do); it takes ${without!.toFixed(0)} ms without`
  );
}

function prepareFor(kind: Kind, scene: Scene): void {
  const { client, stage, modelUrl } = scene;
  if (kind === "without") return client.prepare?.(stage, modelUrl);
  protect(scene);
  if (kind === "hooks") stage.json("start");
  else writeFileSync(join(stage.home, "roots"), "");
}

/** How long each call of a turn took. */
async function playTurn(scene: Scene): Promise<number[]> {
  const { status, output } = await scene.stage.run(command(scene, PROMPT, STEPS));
  assert.equal(status, 0, output.slice(-2000));
  const { callTimes } = scene.model;
  assert.equal(callTimes.length, CALLS, "the client made every call");
  return callTimes;
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
}
