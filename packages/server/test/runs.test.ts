/** Runs and fixes over HTTP. Programs are started only where the user's settings allow it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES, type RouteName } from "@belay/protocol";
import { expect, test } from "vitest";
import { BackgroundWork } from "../src/hosting/background-work.ts";
import { served, type ServedProject } from "./support/served-project.ts";
import { undeclared } from "./support/undeclared-fields.ts";

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
  "[R168] a log is told without secrets, also those that lie where two pieces meet",
  served(async (project) => {
    const piece = 256 * 1024;
    const filler = (bytes: number) => `${"x".repeat(bytes - 1)}\n`;
    const label = (edge: string) => `-----${edge} RSA PRIVATE KEY-----`;
    const key = [label("BEGIN"), ...Array<string>(20).fill("aB3+".repeat(16)), label("END")].join("\n");
    const printed = [filler(piece - 12), "PASSWORD=hunter2-and-more\n", filler(piece - 300), key, "\nend"];
    writeFileSync(join(project.base, "printed"), printed.join(""));
    configure(project, { agents: { stub: { command: ["cat", join(project.base, "printed")] } } });
    run(project, "print");
    const [{ id }] = (await project.ok("GET", "/api/runs")).runs;
    let text = "";
    for (let [at, next] = [-1, 0]; at !== next;) {
      at = next;
      const told = await project.ok("GET", `/api/runs/${id}/log?after=${at}`);
      text += told.text;
      next = told.next;
    }
    const shown = [printed[0], "PASSWORD=[redacted]\n", printed[2], "[redacted]", "\nend"].join("");
    expect(text === shown, text.replaceAll(/x{9,}/g, "…")).toBe(true);
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
    // [M56] looking decides nothing
    const { diff, fix: waiting } = await project.ok("POST", `/api/fixes/${fix.id}/answer`, { choice: "v" });
    expect([diff.files, waiting.state]).toEqual([[], "escalated"]);
    const answered = await project.ok("POST", `/api/fixes/${fix.id}/answer`, { choice: "a" });
    expect(answered.fix).toMatchObject({ state: "accepted", result: { success: true } });
  }),
);

test(
  "[R1950] what is told about runs, loops of fixes and a merger's work has the fields of the table of routes, and no others",
  { timeout: 100_000 },
  served(async (project) => {
    const fails = [process.execPath, "-e", 'console.log("a.txt:1:1: error: no"); process.exit(1)'];
    configure(project, {
      runs: { http: true },
      reviews: { always: { command: fails } },
      agents: {
        stub: { command: STUB },
        more: { command: [...STUB, "append a.txt more"] },
        silent: { command: [...STUB, "say no answer"] },
        roles: { merger: "silent" },
      },
      "agentOrchestration.autoFix": { maxRetries: { medium: 1 } },
    });
    const check = async (name: RouteName, path: string, body?: unknown) => {
      const route = ROUTES[name];
      if (!("response" in route)) throw new Error(name);
      const answer = await project.ok(name.split(" ")[0]!, path, body);
      expect(route.response.safeParse(answer).error, name).toBeUndefined();
      expect(undeclared(route.response, answer), name).toEqual([]);
      return answer;
    };
    const ended = async (id: string) => {
      const endOf = async () => (await project.ok("GET", `/api/runs/${id}`)).run.endedAt;
      await expect.poll(endOf, { timeout: 60_000 }).not.toBeNull();
    };
    const prompt = "say hello\nwrite b.txt 1\ncost 0.5 7";
    const { run: started } = await check("POST /api/runs", "/api/runs", { agent: "stub", prompt });
    const at = `/api/runs/${started.id}`;
    await ended(started.id);
    const { run: done } = await check("GET /api/runs/:id", at);
    expect(done).toMatchObject({ status: "done", cost: 0.5, tokens: { total: 7 }, changes: { added: 1 } });
    await check("GET /api/runs/:id/log", `${at}/log`);
    const again = { prompt: "leave alive.txt\nhang" };
    const { run: resumed } = await check("POST /api/runs/:id/resume", `${at}/resume`, again);
    const stopped = await check("POST /api/runs/:id/stop", `/api/runs/${resumed.id}/stop`, {});
    expect(stopped.run.status).toBe("stopped");
    await check("GET /api/runs", "/api/runs");
    const asked = { review: "always", agent: "more" };
    const { fix } = await check("POST /api/fixes", "/api/fixes", asked);
    const loop = `/api/fixes/${fix.id}`;
    await expect
      .poll(async () => (await project.ok("GET", loop)).fix.state, { timeout: 60_000 })
      .toBe("escalated");
    expect(await check("GET /api/fixes/:id", loop)).toMatchObject({
      fix: { attempts: [{ number: 1, severity: "medium", issuesAfter: [{ file: "a.txt", line: 1 }] }] },
    });
    await check("GET /api/fixes", "/api/fixes");
    const viewed = await check("POST /api/fixes/:id/answer", `${loop}/answer`, { choice: "v" });
    expect(viewed.diff.files).toMatchObject([{ path: "a.txt", linesAdded: 1 }]);
    await check("POST /api/fixes/:id/answer", `${loop}/answer`, { choice: "r" });
    project.belay("branch", "f");
    project.belay("switch", "f", "--yes");
    project.write("a.txt", "theirs\n");
    project.belay("switch", "main", "--yes");
    project.write("a.txt", "ours\n");
    const planned = await project.ok("POST", "/api/merges", { sources: ["f"] });
    const merge = `/api/merges/${planned.merge.id}`;
    await project.ok("POST", `${merge}/apply`, { planId: planned.plan.id });
    const tried = await check("POST /api/merges/:id/agent", `${merge}/agent`, {});
    expect(tried.merge.conflicts).toMatchObject([{ state: "open" }]);
  }),
);
