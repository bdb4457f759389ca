/**
 * How long an agent waits for a hook, the resident process running: alone, with seven others at work in the same
 * directory, and with seven others in forks of their own. Process start is included; the requests that the hooks make are
 * timed without it as well.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSocketTransport, RunDirectory } from "../packages/server/src/resident.ts";
import { Stage } from "./stage.ts";

const FIXTURES = join(import.meta.dirname, "../packages/agents/test/fixtures/claude-code");
const FILES = 1000;
const AGENTS = 8;

/** Sends one event of an agent and waits for its answer. */
type Send = (event: string, ids: Ids) => Promise<void>;

/** Which call of which agent it is, and where the agent works. */
interface Ids {
  readonly session_id: string;
  readonly tool_use_id: string;
  readonly cwd: string;
}

/** One line each with the figures; the time of an empty Node process tells how busy the machine was. */
export async function measureLatency(calls: number): Promise<string[]> {
  const names = Array.from({ length: FILES }, (_, at) => [`src/${at % 20}/${at}.txt`, `${at}\n`] as const);
  using stage = new Stage(Object.fromEntries(names), { keep: false });
  stage.json("init", "--no-agents");
  stage.json("init", "--agent", "claude-code", "--yes");
  stage.json("start");
  const [hook, request] = [hookOf(stage), requestOf(stage)];
  const cwd = stage.project;
  await hook("UserPromptSubmit", { session_id: "first", tool_use_id: "prompt", cwd });
  assert.ok(stage.residentWasAsked(), "the resident process carries out the hooks");
  const here = Array.from({ length: AGENTS }, () => cwd);
  const alone = await timeAgents({ send: hook, places: [cwd], calls, name: "alone" });
  const starts = await timeStarts(calls);
  const together = await timeAgents({ send: hook, places: here, calls, name: "together" });
  const requests = await timeAgents({ send: request, places: here, calls, name: "requests" });
  assert.equal(stage.json("status").resident.watching, true, "the resident process watched all along");
  const checkpoints = stage.json("list", "--kind", "tool", "--all").checkpoints.length;
  assert.equal(checkpoints, calls * 2 * (1 + AGENTS + AGENTS), "every call was captured");
  const forks = here.map((_, at) => stage.json("fork", `run-${at}`).fork.path as string);
  // the first event of each opens the fork
  for (const fork of forks)
    await request("UserPromptSubmit", { session_id: fork, tool_use_id: "0", cwd: fork });
  const inForks = await timeAgents({ send: hook, places: forks, calls, name: "forks" });
  const forkRequests = await timeAgents({ send: request, places: forks, calls, name: "fork-requests" });
  return [
    `PreToolUse, ${calls} calls, ${FILES} files: ${figures(alone)}; an empty Node process: ${figures(starts)}`,
    `${AGENTS} agents at once, ${calls} calls each: ${figures(together)}; without process starts: ${figures(requests)}`,
    `${AGENTS} runs in forks at once, ${calls} calls each: ${figures(inForks)}; without process starts: ${figures(forkRequests)}`,
  ];
}

/** Agents that work at the same time, each one call after the other; how long each beginning of a call took. */
async function timeAgents({
  send,
  places,
  calls,
  name,
}: {
  send: Send;
  places: readonly string[];
  calls: number;
  name: string;
}): Promise<number[]> {
  const times: number[] = [];
  const work = async (cwd: string, agent: number) => {
    for (let at = 0; at < calls; at += 1) {
      const ids = { session_id: `${name}-${agent}`, tool_use_id: `${name}-${agent}-${at}`, cwd };
      times.push(await time(() => send("PreToolUse.Bash", ids)));
      const number = (at * AGENTS + agent) % FILES;
      writeFileSync(join(cwd, `src/${number % 20}/${number}.txt`), `${ids.tool_use_id}\n`);
      await send("PostToolUse.Bash", ids);
    }
  };
  await Promise.all(places.map(work));
  return times;
}

function hookOf(stage: Stage): Send {
  return async (event, ids) => {
    const child = spawn(join(stage.home, "bin/belay-hook"), ["claude-code"], {
      cwd: ids.cwd,
      env: stage.environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    let answer = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (answer += text));
    child.stdin.end(payload(event, ids));
    const [status] = (await once(child, "close")) as [number];
    assert.deepEqual([status, JSON.parse(answer)], [0, {}]);
  };
}

/** What a hook asks of the resident process. */
function requestOf(stage: Stage): Send {
  const ask = createSocketTransport(new RunDirectory(stage.home).socket, 10_000);
  return async (event, ids) => {
    const body = { input: payload(event, ids), cwd: ids.cwd, environment: {} };
    const said = await ask({ method: "POST", path: "/api/hooks/claude-code", body: JSON.stringify(body) });
    assert.deepEqual([said.status, JSON.parse(said.body)], [200, { answer: "{}" }]);
  };
}

function payload(event: string, ids: Ids): string {
  const recorded = JSON.parse(readFileSync(join(FIXTURES, `${event}.json`), "utf8")) as object;
  return JSON.stringify({ ...recorded, ...ids });
}

async function timeStarts(calls: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < calls; at += 1)
    times.push(await time(() => once(spawn(process.execPath, ["-e", "0"]), "close")));
  return times;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function figures(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => `${sorted[Math.ceil(share * sorted.length) - 1]!.toFixed(0)} ms`;
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}`;
}
