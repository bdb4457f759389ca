/** A plan of many files is carried out by another process, while this one goes on serving. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

const MANY = 4000;
/** As few as another process is started for. */
const FEW = 500;
const LIMIT_MS = 180_000;

/** A checkpoint, then thousands of changed files; returns the plan of going back. */
async function largePlan(project: ServedProject, files = MANY): Promise<{ id: string; filesTotal: number }> {
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

test(
  "[R238] its progress is told while it runs, and other requests are answered meanwhile",
  { timeout: LIMIT_MS },
  served(async (project) => {
    const plan = await largePlan(project);
    expect(plan.filesTotal).toBe(MANY);
    const state = { isDone: false };
    const told: string[] = [];
    const reading = project.events("/api/events", 4).then((events) => {
      told.push(...events.map(({ data }) => `${data.type} ${state.isDone ? "after" : "during"}`));
    });
    await pause(300);
    const applying = project
      .ok("POST", `/api/plans/${plan.id}/apply`, {})
      .finally(() => (state.isDone = true));
    await expect.poll(() => children(project).length, { timeout: 30_000 }).toBeGreaterThan(0);
    const { checkpoints } = await project.ok("GET", "/api/checkpoints");
    expect([checkpoints.length > 0, state.isDone]).toEqual([true, false]);
    await reading;
    expect(told).toContain("restore_started during");
    // a fast machine has put everything in place before the first report is due
    if (told.some((event) => event.startsWith("restore_progress")))
      expect(told).toContain("restore_progress during");
    expect(await applying).toMatchObject({ outcome: "applied", deleted: MANY, created: 0 });
    expect(count(project)).toBe(1);
    const again = await project.call("POST", `/api/plans/${plan.id}/apply`, {});
    expect(again).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
    const { plan: undo } = await project.ok("POST", "/api/plans", { kind: "undo" });
    await project.ok("POST", `/api/plans/${undo.id}/apply`, {});
    expect(count(project)).toBe(MANY + 1);
    expect(project.belay("verify").status).toBe(0);
  }),
);

test(
  "[R238] [R10] [N0] if that process is killed, all files are as before or as planned, and nothing is lost",
  { timeout: LIMIT_MS },
  served(async (project) => {
    const plan = await largePlan(project);
    const applying = project.call("POST", `/api/plans/${plan.id}/apply`, {});
    await expect.poll(() => count(project), { timeout: 60_000, interval: 5 }).toBeLessThan(MANY + 1);
    for (const pid of children(project)) process.kill(pid, "SIGKILL");
    const answer = await applying;
    // it may have been done before it could be killed
    if (answer.status !== 200)
      expect(answer).toMatchObject({ status: 409, body: { error: { code: "INTERRUPTED" } } });
    expect([1, MANY + 1]).toContain(count(project));
    expect(project.belay("verify").status).toBe(0);
    if (count(project) === 1) expect(project.belay("undo", "--yes").status).toBe(0);
    expect(count(project)).toBe(MANY + 1);
  }),
);

test(
  "[R42] [R238] it is refused where the files moved on since it was shown",
  { timeout: LIMIT_MS },
  served(async (project) => {
    const plan = await largePlan(project, FEW);
    project.write("a.txt", "another\n");
    const stale = await project.call("POST", `/api/plans/${plan.id}/apply`, {});
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
    expect(count(project)).toBe(FEW + 1);
  }),
);
