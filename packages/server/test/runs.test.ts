/** Runs and fixes over HTTP. Programs are started only where the user's settings allow it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BackgroundWork } from "../src/hosting/background-work.ts";
import { served, type ServedProject } from "./support/served-project.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];

function configure({ home }: ServedProject, settings: object): void {
  writeFileSync(
    join(home, "config.json"),
    JSON.stringify({ agents: { stub: { command: STUB } }, ...settings }),
  );
}

function run(project: ServedProject, words: string): void {
  project.belay("agents", "run", "--in-place", "--yes", "--agent", "stub", "-p", words);
}

test(
  "lists, shows and reads the log of runs",
  served(async (project) => {
    configure(project, {});
    run(project, "say hello\nwrite b.txt 1");
    const { runs } = await project.ok("GET", "/api/runs");
    expect(runs).toMatchObject([{ agent: "stub", status: "done", cost: null, changes: { added: 1 } }]);
    const { id } = runs[0];
    expect((await project.ok("GET", `/api/runs/${id}`)).run.id).toBe(id);
    expect(await project.ok("GET", `/api/runs/${id}/log`)).toMatchObject({
      text: "hello\n",
      next: 6,
      ended: true,
    });
    expect((await project.ok("GET", `/api/runs/${id}/log?after=2`)).text).toBe("llo\n");
    expect((await project.call("GET", "/api/runs/nothing")).status).toBe(404);
  }),
);

test(
  "[R100] starts nothing unless `runs.http` is on",
  served(async (project) => {
    configure(project, {});
    run(project, "say hello");
    const [{ id }] = (await project.ok("GET", "/api/runs")).runs;
    for (const [route, body] of [
      ["/api/runs", { agent: "stub", prompt: "write owned 1" }],
      [`/api/runs/${id}/resume`, {}],
      ["/api/fixes", { review: "tests" }],
      ["/api/fixes/none/answer", { choice: "c" }],
      ["/api/merges/none/agent", {}],
    ] as const) {
      const { status, body: answer } = await project.call("POST", route, body);
      expect([status, answer.error.code]).toEqual([403, "PROGRAMS_REFUSED"]);
    }
  }),
);

test(
  "[R100] with `runs.http` on: agents of the settings, and no command",
  served(async (project) => {
    configure(project, { runs: { http: true } });
    const refused = await project.call("POST", "/api/runs", { agent: "touch", prompt: "owned" });
    expect([refused.status, refused.body.error.code]).toEqual([404, "AGENT_NOT_FOUND"]);
    const review = await project.call("POST", "/api/fixes", { review: "touch owned", agent: "stub" });
    expect([review.status, review.body.error.code]).toEqual([400, "CONFIG_INVALID"]);
    project.belay("agents", "run", "--in-place", "--yes", "-p", "say once", "--", ...STUB);
    const [{ id }] = (await project.ok("GET", "/api/runs")).runs;
    const resumed = await project.call("POST", `/api/runs/${id}/resume`, { prompt: "write owned 1" });
    expect([resumed.status, resumed.body.error.code]).toEqual([404, "AGENT_NOT_FOUND"]);
  }),
);

test("work with an input is done as often as it is asked for, and other work once", async () => {
  const done: (string | undefined)[] = [];
  const work = new BackgroundWork(
    async (_, __, { input }) => {
      done.push(input && Buffer.from(input).toString());
      return {};
    },
    () => 0,
  );
  const words = ["agents", "run"];
  await Promise.all([
    ...["one", "two", "two"].map((text) => work.run("/p", words, Buffer.from(text))),
    work.run("/p", ["gc"]),
    work.run("/p", ["gc"]),
  ]);
  expect(done).toEqual(["one", "two", "two", undefined]);
});

test(
  "answers that start nothing are taken without `runs.http`",
  served(async (project) => {
    const fails = [process.execPath, "-e", 'console.log("a.txt:1:1: error: no"); process.exit(1)'];
    configure(project, {
      reviews: { always: { command: fails } },
      "agentOrchestration.autoFix": { maxRetries: { medium: 0 } },
    });
    project.belay("fix", "--review", "always", "--agent", "stub", "--yes");
    const [fix] = (await project.ok("GET", "/api/fixes")).fixes;
    expect(fix).toMatchObject({ state: "escalated", options: ["a", "r", "v", "m", "c"] });
    const answered = await project.ok("POST", `/api/fixes/${fix.id}/answer`, { choice: "a" });
    expect(answered.fix).toMatchObject({ state: "accepted", result: { success: true } });
  }),
);
