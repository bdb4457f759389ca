/** Agents at work at the same time, each with one tool call after the other, as their hooks tell Belay. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSocketTransport, RunDirectory } from "../packages/server/src/resident.ts";
import { Stage } from "./stage.ts";

const FIXTURES = join(import.meta.dirname, "../packages/agents/test/fixtures/claude-code");
/** How many files the project has that they work on. */
export const FILES = 1000;
/** How many agents work at once. */
export const AGENTS = 8;

/** Sends one event of an agent and waits for its answer. */
export type Send = (event: string, ids: Ids) => Promise<void>;

/** Which call of which agent it is, and where the agent works. */
interface Ids {
  readonly session_id: string;
  readonly tool_use_id: string;
  readonly cwd: string;
}

/** A protected project of `FILES` files with the hooks of an agent, and a resident process. */
export function stageWithHooks(): Stage {
  const names = Array.from({ length: FILES }, (_, at) => [`src/${at % 20}/${at}.txt`, `${at}\n`] as const);
  const stage = new Stage(Object.fromEntries(names), { keep: false });
  stage.json("init", "--no-agents");
  stage.json("init", "--agent", "claude-code", "--yes");
  stage.json("start");
  return stage;
}

/** Makes a fork for each agent; the first event of each opens it. */
export async function makeForks(stage: Stage, send: Send): Promise<string[]> {
  const forks = Array.from(
    { length: AGENTS },
    (_, at) => stage.json("fork", `run-${at}`).fork.path as string,
  );
  for (const cwd of forks) await send("UserPromptSubmit", { session_id: cwd, tool_use_id: "0", cwd });
  return forks;
}

/** How long the resident process was on a processor so far, in milliseconds. */
export function residentCpu(stage: Stage): number {
  const { pid } = stage.json("status").resident as { pid: number };
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const TICK_MS = 10;

/** Agents that work at the same time, each one call after the other; how long each beginning of a call took. */
export async function timeAgents({
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

/** Sends events as an agent does: each by a hook of its own. */
export function hookOf(stage: Stage): Send {
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
export function requestOf(stage: Stage): Send {
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

/** How long an empty Node process takes, which tells how busy the machine is. */
export async function timeStarts(calls: number): Promise<number[]> {
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

/** Three points of a distribution. */
export function figures(times: readonly number[]): string {
  const at = (share: number) => `${percentile(times, share).toFixed(0)} ms`;
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}`;
}

/** The time that a share of all stays below. */
export function percentile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1]!;
}
