/**
 * What hooks cost: the same turn of tool calls with the resident process and its hooks, and without any. The model times each
 * call, so what a client does at its start and end does not count, nor what Belay does while a model thinks. A call of one kind
 * is compared with the same call of the same round of another, and rounds go through the kinds in alternating order: what else
 * the machine does, and what a longer conversation costs, slows both down.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, Step } from "./client.ts";
import { ModelStub } from "./model-stub.ts";
import { command, protect, type Scene } from "./scenarios.ts";
import { Stage } from "./stage.ts";

const CALLS = 20;
/** Less than any model takes. */
const THINKING_MS = 100;
const PROMPT = "Please count.";
const STEPS = Array.from({ length: CALLS }, (_, at): Step => ({
  does: "shell",
  command: `echo ${at} > count.txt`,
}));

/**
 * The same project four times: without hooks; with hooks, but as if nothing were protected, where they read their event and
 * end: what is left is what the agent itself takes to start them; paused, where the resident process answers and captures
 * nothing; and protected.
 */
const KINDS = ["without", "idle", "paused", "hooks"] as const;
type Kind = (typeof KINDS)[number];

/** One line for people, from as many rounds; more rounds tell a smaller difference from noise. */
export async function measureCost(client: Client, modules: string, rounds: number): Promise<string> {
  await using model = new ModelStub({ thinkingMs: THINKING_MS });
  const modelUrl = await model.listen();
  using stages = new DisposableStack();
  const scenes = KINDS.map((kind): [Kind, Scene] => {
    const stage = stages.use(new Stage({ "count.txt": "none\n" }, { keep: false }));
    const scene = { client, modules, model, modelUrl, stage };
    prepareFor(kind, scene);
    return [kind, scene];
  });
  const times: Record<Kind, number[]> = { without: [], idle: [], paused: [], hooks: [] };
  for (let round = 0; round <= rounds; round += 1)
    for (const [kind, scene] of round % 2 === 0 ? scenes : scenes.toReversed()) {
      const callTimes = await playTurn(scene);
      // the first round makes caches
      if (round > 0) times[kind].push(...callTimes);
    }
  const events = scenes[3]![1].stage.json("list", "--kind", "tool", "--all").checkpoints.length;
  assert.equal(events, CALLS * 2 * (rounds + 1), "every call was captured");
  const between = (kind: Kind, than: Kind) => difference(times[kind], times[than]);
  return [
    `${client.agent}: a call takes ${quantile(times.without, 0.5).toFixed(0)} ms without hooks`,
    `with them ${between("hooks", "without")} more, ${times.hooks.length} pairs`,
    `of that to start hooks ${between("idle", "without")}, to be answered ${between("paused", "idle")}, to capture ${between("hooks", "paused")}`,
  ].join("; ");
}

function prepareFor(kind: Kind, scene: Scene): void {
  const { client, stage, modelUrl } = scene;
  if (kind === "without") return client.prepare?.(stage, modelUrl);
  protect(scene);
  if (kind === "idle") return writeFileSync(join(stage.home, "roots"), "");
  stage.json("start");
  if (kind === "paused") stage.json("pause", "8h");
}

/** How long each call of a turn took. */
async function playTurn(scene: Scene): Promise<number[]> {
  const { status, output } = await scene.stage.run(command(scene, PROMPT, STEPS));
  assert.equal(status, 0, output.slice(-2000));
  const { callTimes } = scene.model;
  assert.equal(callTimes.length, CALLS, "the client made every call");
  return callTimes;
}

/** "12.3 ms (11.0 to 13.1)": the median of the differences pair by pair, and where it lies in 95 of 100 such series. */
function difference(times: readonly number[], others: readonly number[]): string {
  const pairs = times.map((time, at) => time - others[at]!);
  const spread = 0.98 / Math.sqrt(pairs.length);
  const [low, middle, high] = [0.5 - spread, 0.5, 0.5 + spread].map((share) =>
    quantile(pairs, share).toFixed(1),
  );
  return `${middle} ms (${low} to ${high})`;
}

function quantile(values: readonly number[], share: number): number {
  const at = Math.min(Math.max(Math.floor(share * values.length), 0), values.length - 1);
  return values.toSorted((a, b) => a - b)[at]!;
}
