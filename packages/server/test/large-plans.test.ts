/** A plan of many files is carried out by another process, while this one goes on serving. */
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { isStandingStill, standsStillAt } from "../../engine/test/support/standing-still.ts";
import { served, type ServedProject } from "./support/served-project.ts";

/** As few as another process is started for. */
const FEW = 500;
const LIMIT_MS = 180_000;

/** A checkpoint, then thousands of changed files; returns the plan of going back. */
async function largePlan(project: ServedProject, files = FEW): Promise<{ id: string; filesTotal: number }> {
  const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
  for (let at = 0; at < files; at += 1) project.write(`many/${at % 50}/${at}.txt`, `now ${at}\n`);
  const { plan } = await project.ok("POST", "/api/plans", { kind: "restore", target: checkpoint.id });
  return plan;
}

const count = (project: ServedProject) =>
  readdirSync(project.project, { recursive: true }).filter((name) => String(name).endsWith(".txt")).length;

/** Processes that the server started. */
function children(project: ServedProject): number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(project.pid)], { encoding: "utf8" });
  return stdout
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Serves the project again: a process that restores it stands still in the middle, until it is told to go on. */
async function standStill(project: ServedProject): Promise<(pid?: number) => void> {
  const flag = join(project.base, "stand-still");
  writeFileSync(flag, "");
  await project.kill();
  project.variables = { NODE_OPTIONS: standsStillAt("250.txt", { flag }) };
  await project.serve();
  return (pid) => {
    rmSync(flag);
    if (pid !== undefined) process.kill(pid, "SIGCONT");
  };
}

/** The process that restores, standing still. */
async function restoring(project: ServedProject): Promise<number> {
  await expect.poll(() => children(project).filter(isStandingStill)).toHaveLength(1);
  return children(project).find(isStandingStill)!;
}

test(
  "[R238] its progress is told while it runs, and other requests are answered meanwhile",
  { timeout: LIMIT_MS },
  served(async (project) => {
    const goOn = await standStill(project);
    const plan = await largePlan(project);
    expect(plan.filesTotal).toBe(FEW);
    const { told } = await project.listen("/api/events", 4);
    const state = { isDone: false };
    const applying = project
      .ok("POST", `/api/plans/${plan.id}/apply`, {})
      .finally(() => (state.isDone = true));
    const pid = await restoring(project);
    const { checkpoints } = await project.ok("GET", "/api/checkpoints");
    expect([checkpoints.length > 0, state.isDone]).toEqual([true, false]);
    // long enough for a report to be due
    await pause(1000);
    goOn(pid);
    const types = (await told).map(({ data }) => data.type);
    expect(types).toContain("restore_started");
    expect(types).toContain("restore_progress");
    expect(await applying).toMatchObject({ outcome: "applied", deleted: FEW, created: 0 });
    expect(count(project)).toBe(1);
    const again = await project.call("POST", `/api/plans/${plan.id}/apply`, {});
    expect(again).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
    const { plan: undo } = await project.ok("POST", "/api/plans", { kind: "undo" });
    await project.ok("POST", `/api/plans/${undo.id}/apply`, {});
    expect(count(project)).toBe(FEW + 1);
    expect(project.belay("verify").status).toBe(0);
  }),
);

test(
  "[R238] [R10] [N0] if that process is killed, all files are as before or as planned, and nothing is lost",
  { timeout: LIMIT_MS },
  served(async (project) => {
    const goOn = await standStill(project);
    const plan = await largePlan(project);
    const applying = project.call("POST", `/api/plans/${plan.id}/apply`, {});
    const pid = await restoring(project);
    expect(count(project)).toBeLessThan(FEW + 1);
    expect(count(project)).toBeGreaterThan(1);
    process.kill(pid, "SIGKILL");
    goOn();
    expect(await applying).toMatchObject({ status: 409, body: { error: { code: "INTERRUPTED" } } });
    expect([1, FEW + 1]).toContain(count(project));
    expect(project.belay("verify").status).toBe(0);
    if (count(project) === 1) expect(project.belay("undo", "--yes").status).toBe(0);
    expect(count(project)).toBe(FEW + 1);
  }),
);

test(
  "[R42] [R238] it is refused where the files moved on since it was shown",
  { timeout: LIMIT_MS },
  served(async (project) => {
    const plan = await largePlan(project);
    project.write("a.txt", "another\n");
    const stale = await project.call("POST", `/api/plans/${plan.id}/apply`, {});
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
    expect(count(project)).toBe(FEW + 1);
  }),
);
