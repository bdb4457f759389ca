/**
 * `npm run test:agents [agent…] [-- --clients dir] [--calls n] [--turns n] [--keep]`: Belay with real coding agents, offline,
 * against a model stub on loopback. The clients come from npm into a cache directory (--clients). --keep leaves
 * the directories of failed scenarios; --calls is how many hooks are timed, --turns how many turns
 * are compared with and without hooks; none with 0. `cost` beside agents leaves out the scenarios.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Client } from "./client.ts";
import { claudeCode } from "./clients/claude-code.ts";
import { codex } from "./clients/codex.ts";
import { copilotCli } from "./clients/copilot-cli.ts";
import { geminiCli } from "./clients/gemini-cli.ts";
import { opencode } from "./clients/opencode.ts";
import { qwenCode } from "./clients/qwen-code.ts";
import { measureCost } from "./cost.ts";
import { installClient } from "./install-client.ts";
import { measureLatency } from "./latency.ts";
import { ModelStub } from "./model-stub.ts";
import { SCENARIOS } from "./scenarios.ts";
import { Stage } from "./stage.ts";
import { FILES } from "./task.ts";
import { workTogether } from "./together.ts";

const CACHE = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "belay/clients");
const CLIENTS: readonly Client[] = [claudeCode, codex, geminiCli, opencode, copilotCli, qwenCode];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: "string", default: CACHE },
    calls: { type: "string", default: "50" },
    turns: { type: "string", default: "4" },
    keep: { type: "boolean", default: false },
  },
});

const chosen = CLIENTS.filter(({ agent }) => positionals.length === 0 || positionals.includes(agent));
if (chosen.length === 0 && !positionals.some((name) => name === "latency" || name === "together")) {
  console.error(`Known clients: ${CLIENTS.map(({ agent }) => agent).join(", ")}, and latency, together.`);
  process.exit(2);
}
let failures = 0;
for (const client of chosen) failures += await tryClient(client);
if (positionals.length === 0 || positionals.includes("together")) failures += await tryTogether();
if (positionals.length === 0 || positionals.includes("latency"))
  for (const line of await measureLatency(Number(values.calls))) console.log(line);
process.exitCode = failures === 0 ? 0 : 1;

/** How many scenarios failed. */
async function tryClient(client: Client): Promise<number> {
  const modules = installClient(client, values.clients);
  let failed = 0;
  for (const [name, scenario] of positionals.includes("cost") ? [] : SCENARIOS) {
    await using model = new ModelStub();
    using stage = new Stage(FILES, { keep: values.keep });
    const started = performance.now();
    const title = `${client.agent} ${client.version}, ${name}`.padEnd(50);
    try {
      await scenario({ client, modules, model, modelUrl: await model.listen(), stage });
      console.log(`${title} ok  ${((performance.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.log(`${title} FAILED`);
      console.error(error);
    }
  }
  const turns = Number(values.turns);
  if (turns > 0) console.log(await measureCost(client, modules, turns));
  return failed;
}

/** The four that tell in a stream what they used. */
async function tryTogether(): Promise<number> {
  const players = [claudeCode, codex, geminiCli, opencode].map((client) => ({
    client,
    modules: installClient(client, values.clients),
  }));
  const started = performance.now();
  const title = `${players.map(({ client }) => client.agent).join(", ")} together`.padEnd(50);
  try {
    await workTogether(players, { keep: values.keep });
    console.log(`${title} ok  ${((performance.now() - started) / 1000).toFixed(1)} s`);
    return 0;
  } catch (error) {
    console.log(`${title} FAILED`);
    console.error(error);
    return 1;
  }
}
