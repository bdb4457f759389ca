/**
 * How long an agent waits for a hook, the resident process running: alone, with seven others at work in the same
 * directory, and with seven others in forks of their own. Process start is included; the requests that the hooks make are
 * timed without it as well.
 */
import assert from "node:assert/strict";
import {
  AGENTS,
  figures,
  FILES,
  hookOf,
  makeForks,
  requestOf,
  stageWithHooks,
  timeAgents,
  timeStarts,
} from "./hook-load.ts";

/** One line each with the figures; the time of an empty Node process tells how busy the machine was. */
export async function measureLatency(calls: number): Promise<string[]> {
  using stage = stageWithHooks();
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
  const forks = await makeForks(stage, request);
  const inForks = await timeAgents({ send: hook, places: forks, calls, name: "forks" });
  const forkRequests = await timeAgents({ send: request, places: forks, calls, name: "fork-requests" });
  return [
    `PreToolUse, ${calls} calls, ${FILES} files: ${figures(alone)}; an empty Node process: ${figures(starts)}`,
    `${AGENTS} agents at once, ${calls} calls each: ${figures(together)}; without process starts: ${figures(requests)}`,
    `${AGENTS} runs in forks at once, ${calls} calls each: ${figures(inForks)}; without process starts: ${figures(forkRequests)}`,
  ];
}
