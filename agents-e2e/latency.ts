/** How long an agent waits for a hook: process start included, the resident process running. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stage } from "./stage.ts";

const FIXTURES = join(import.meta.dirname, "../packages/agents/test/fixtures/claude-code");
const FILES = 1000;

/** One line with the figures; the time of an empty Node process tells how busy the machine was. */
export function measureLatency(calls: number): string {
  const names = Array.from({ length: FILES }, (_, at) => [`src/${at % 20}/${at}.txt`, `${at}\n`] as const);
  using stage = new Stage(Object.fromEntries(names), { keep: false });
  stage.json("init", "--no-agents");
  stage.json("init", "--agent", "claude-code", "--yes");
  stage.json("start");
  send(stage, "UserPromptSubmit", "prompt");
  assert.ok(stage.residentWasAsked(), "the resident process carries out the hooks");
  const hooks = Array.from({ length: calls }, (_, at) => {
    const took = time(() => send(stage, "PreToolUse.Bash", `call-${at}`));
    writeFileSync(join(stage.project, `src/${at % 20}/${at}.txt`), `changed ${at}\n`);
    send(stage, "PostToolUse.Bash", `call-${at}`);
    return took;
  });
  const starts = Array.from({ length: calls }, () => time(() => spawnSync(process.execPath, ["-e", "0"])));
  const { resident } = stage.json("status");
  assert.equal(resident.watching, true, "the resident process watched all along");
  const checkpoints = stage.json("list", "--kind", "tool", "--all").checkpoints.length;
  assert.equal(checkpoints, calls * 2, "every call was captured");
  return `PreToolUse, ${calls} calls, ${FILES} files: ${figures(hooks)}; an empty Node process: ${figures(starts)}`;
}

function send(stage: Stage, event: string, id: string): void {
  const recorded = JSON.parse(readFileSync(join(FIXTURES, `${event}.json`), "utf8")) as object;
  const { status, stdout } = spawnSync(join(stage.home, "bin/belay-hook"), ["claude-code"], {
    cwd: stage.project,
    env: stage.environment,
    input: JSON.stringify({ ...recorded, cwd: stage.project, session_id: "latency", tool_use_id: id }),
    encoding: "utf8",
  });
  assert.deepEqual([status, JSON.parse(stdout)], [0, {}]);
}

function time(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function figures(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => `${sorted[Math.ceil(share * sorted.length) - 1]!.toFixed(0)} ms`;
  return `p50 ${at(0.5)}, p95 ${at(0.95)}`;
}
