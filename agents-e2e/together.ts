/**
 * Several real agents at once: each in a fork of its own against its own model, then merged as one step that one undo
 * takes out. What they report of tokens is what the models sent.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./client.ts";
import { ModelStub } from "./model-stub.ts";
import { Stage } from "./stage.ts";
import { FILES } from "./task.ts";

/** Clients that take part, with the directories npm installed them into. */
export type Players = readonly { readonly client: Client; readonly modules: string }[];

/** Words that each client needs so that Belay can read its stream. */
const STREAM: Readonly<Record<string, readonly string[]>> = { codex: ["--json"] };

/** Runs them; throws where something does not hold. */
export async function workTogether(players: Players, { keep }: { keep: boolean }): Promise<void> {
  using stage = new Stage(FILES, { keep });
  await using models = new AsyncDisposableStack();
  const agents: Record<string, object> = {};
  const tasks = [];
  for (const { client, modules } of players) {
    const model = models.use(new ModelStub());
    const modelUrl = await model.listen();
    client.prepare?.(stage, modelUrl);
    const prompt = `make-${client.agent}`;
    const { program, args, environment = {} } = client.turn({ modules, prompt, modelUrl, continues: false });
    const command = [program, ...args.map((word) => word.replaceAll(prompt, "{prompt}"))];
    agents[client.agent] = { command, args: STREAM[client.agent] ?? [], env: environment };
    // a shell command names no place: the model does not know the fork
    const file = `from-${client.agent}.txt`;
    const calls = client.toolCall(
      { does: "shell", command: `echo ${client.agent} > ${file}` },
      stage.project,
    );
    model.expect(prompt, [calls ?? []].flat());
    tasks.push({ agent: client.agent, role: client.agent, prompt, name: `by-${client.agent}` });
  }
  mkdirSync(stage.home, { recursive: true });
  const settings = { agents, runs: { timeoutMinutes: 5 } };
  stage.json("init", "--yes", "--agent", players.map(({ client }) => client.agent).join(","));
  writeFileSync(join(stage.home, "config.json"), JSON.stringify(settings));
  writeFileSync(join(stage.base, "tasks.json"), JSON.stringify(tasks));
  const before = stage.tree();

  const belay = await stage.run({
    program: process.execPath,
    args: [
      join(import.meta.dirname, "../packages/cli/bin/belay.js"),
      "-C",
      stage.project,
      "--json",
      "agents",
      "run",
      "--yes",
      "--jobs",
      String(players.length),
      "--tasks",
      join(stage.base, "tasks.json"),
    ],
  });
  const { runs } = stage.json("agents", "list") as { runs: Run[] };
  assert.equal(belay.status, 0, `${belay.output.slice(-3000)}\n${JSON.stringify(runs, undefined, 1)}`);
  assert.deepEqual(
    runs.map(({ status }) => status),
    players.map(() => "done"),
  );
  for (const run of runs) {
    assert.ok(run.before !== null && run.after !== null, "a checkpoint before and after");
    assert.ok(run.session !== null, `${run.agent}: its conversation is known`);
    assert.ok((run.tokens?.total ?? 0) > 0, `${run.agent}: tokens as the model sent them`);
  }
  assert.deepEqual(stage.tree(), before, "nothing is in the project before it is merged");

  const merged = stage.json("merge", "--yes");
  assert.equal(merged.outcome, "applied");
  for (const { client } of players) {
    const path = join(stage.project, `from-${client.agent}.txt`);
    assert.equal(existsSync(path) && readFileSync(path, "utf8").trim(), client.agent, "its work came in");
  }
  const { outcome, steps } = stage.json("undo", "--yes");
  assert.deepEqual([outcome, steps.length], ["applied", 1]);
  assert.deepEqual(stage.tree().toSorted(), before.toSorted(), "one undo takes all of it out");
  assert.equal(stage.json("verify", "--full").ok, true);
}

interface Run {
  readonly agent: string;
  readonly status: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly session: string | null;
  readonly tokens: { readonly total: number | null } | null;
}
