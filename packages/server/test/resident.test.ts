/** The resident process as a process: one at a time, started by the first process that needs it, and nothing is lost when it dies. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startResident } from "../src/index.ts";
import { served, ServedProject } from "./support/served-project.ts";

const LAUNCHER = join(import.meta.dirname, "../../cli/bin/belay.js");

describe("the resident process", () => {
  test(
    "starts once, tells where it is, ends on request; commands work with and without it",
    served(async (project) => {
      await project.kill("SIGTERM");
      const start = JSON.parse(project.belay("start", "--json").stdout);
      expect(start).toMatchObject({
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        pid: expect.any(Number),
      });
      expect(JSON.parse(project.belay("start", "--json").stdout).pid).toBe(start.pid);
      expect(JSON.parse(project.belay("status", "--json").stdout).resident).toMatchObject({
        running: true,
        pid: start.pid,
      });
      project.write("a.txt", "two\n");
      const taken = JSON.parse(project.belay("checkpoint", "--json").stdout);
      expect(taken).toMatchObject({ unchanged: false, checkpoint: { changes: { modified: 1 } } });
      expect(JSON.parse(project.belay("stop", "--json").stdout)).toEqual({ running: false, stopped: true });
      // the lock is let go first, the process ends a moment later
      await expect.poll(() => existsSync(`/proc/${start.pid}`)).toBe(false);
      expect(JSON.parse(project.belay("status", "--json").stdout).resident.running).toBe(false);
      expect(JSON.parse(project.belay("stop", "--json").stdout)).toEqual({ running: false, stopped: false });
    }),
  );

  test(
    "many starts at once leave one process",
    served(async (project) => {
      await project.kill("SIGTERM");
      const starts = Array.from({ length: 6 }, async () => {
        const child = spawn(process.execPath, [LAUNCHER, "--home", project.home, "start", "--json"], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const [text] = (await once(child.stdout, "data")) as [Buffer];
        return JSON.parse(text.toString()).pid as number;
      });
      expect(new Set(await Promise.all(starts)).size).toBe(1);
      project.belay("stop");
    }),
  );

  test(
    "its socket, files and directory are the user's alone",
    served(async (project) => {
      const run = join(project.home, "run");
      expect(statSync(run).mode & 0o777).toBe(0o700);
      for (const name of ["resident.sock", "resident.json", "resident.log"])
        expect(statSync(join(run, name)).mode & 0o077, name).toBe(0);
    }),
  );

  test(
    "[R41] [N1] killed at any moment: everything acknowledged is there, and the next one goes on",
    served(async (project) => {
      const acknowledged: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const until = performance.now() + 500 + Math.random() * 500;
        const killing = new Promise<void>((done) => {
          setTimeout(() => void project.kill("SIGKILL").then(done), until - performance.now());
        });
        for (let index = 0; performance.now() < until + 100; index += 1) {
          project.write("a.txt", `${round} ${index}\n`);
          try {
            acknowledged.push((await project.ok("POST", "/api/checkpoints", {})).checkpoint.id);
          } catch {
            break;
          }
        }
        await killing;
        await project.serve();
      }
      expect(acknowledged.length).toBeGreaterThan(0);
      const { checkpoints } = await project.ok("GET", "/api/checkpoints?limit=10000");
      const ids = new Set(checkpoints.map(({ id }: { id: string }) => id));
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
      expect(project.belay("verify", "--full").status).toBe(0);
    }),
  );

  test(
    "a dead process's leftovers, and one of another build, prevent no start",
    served(async (project) => {
      await project.kill("SIGKILL");
      const facts = join(project.home, "run", "resident.json");
      expect(existsSync(facts)).toBe(true);
      const first = JSON.parse(project.belay("start", "--json").stdout);
      const said = JSON.parse(readFileSync(facts, "utf8"));
      writeFileSync(facts, JSON.stringify({ ...said, version: "0.0.1" }));
      const second = JSON.parse(project.belay("start", "--json").stdout);
      expect(second.pid).not.toBe(first.pid);
      project.belay("stop");
    }),
  );

  test(
    "a second server in the foreground is refused and names the first",
    served(async (project) => {
      const second = project.belay("serve", "--json");
      expect(second.status).toBe(3);
      expect(JSON.parse(second.stdout).error).toMatchObject({ code: "RESIDENT_RUNNING" });
    }),
  );

  test(
    "a token of an earlier start is worth nothing",
    served(async (project) => {
      const { token } = project;
      await project.kill("SIGTERM");
      await project.serve();
      project.token = token;
      expect((await project.call("GET", "/api/workspaces")).status).toBe(401);
    }),
  );

  test(
    "[N1] a thread that may be in a store that cannot be read is not simply said to be missing",
    served(async (project) => {
      const { thread } = await project.ok("POST", "/api/threads", {});
      await project.kill("SIGTERM");
      writeFileSync(project.store(), "not a database at all");
      await project.serve();
      const { status, body } = await project.call("GET", `/api/threads/${thread.id}`);
      expect(status).toBe(404);
      expect(body.error.message).toMatch(/that can be read; [k-z]{16} cannot be/);
    }),
  );

  test("a process whose home was deleted ends by itself", async () => {
    const home = mkdtempSync(join(tmpdir(), "belay-home-"));
    const command = () => Promise.resolve({});
    const options = { home, version: "1", ports: [0], foreground: true, command, idleMs: 50 };
    const resident = (await startResident(options))!;
    expect(await startResident(options)).toBeUndefined();
    rmSync(home, { recursive: true });
    await resident.ended;
    expect(existsSync(join(home, "run", "resident.json"))).toBe(false);
  });

  test("one process serves many workspaces and finds a thread wherever it is", async () => {
    await using first = await ServedProject.start();
    await using second = new ServedProject();
    spawnSync("mkdir", ["-p", second.project]);
    second.write("b.txt", "b\n");
    spawnSync(
      process.execPath,
      [LAUNCHER, "--home", first.home, "-C", second.project, "init", "--no-agents"],
      {
        env: { ...process.env, BELAY_RESIDENT: "off" },
      },
    );
    const where = encodeURIComponent(second.project);
    await first.ok("GET", "/api/status");
    const { thread } = await first.ok("POST", `/api/threads?workspace=${where}`, {});
    const { checkpoint } = await first.ok("POST", `/api/threads/${thread.id}/checkpoints`, {});
    expect(checkpoint.files).toBe(1);
    const { workspaces } = await first.ok("GET", "/api/resident");
    expect(workspaces).toHaveLength(2);
  });
});

const CLIENTS = Number(process.env["BELAY_LOAD_CLIENTS"] ?? 40);
const SECONDS = Number(process.env["BELAY_LOAD_SECONDS"] ?? 3);

test(
  `${CLIENTS} clients create, list and compare for ${SECONDS} s: no error, nothing lost`,
  { timeout: SECONDS * 1000 + 60_000 },
  served(async (project) => {
    const { thread } = await project.ok("POST", "/api/threads", {});
    const at = `/api/threads/${thread.id}/checkpoints`;
    const until = performance.now() + SECONDS * 1000;
    const times: Record<string, number[]> = { create: [], list: [], diff: [] };
    const made: string[] = [];
    const timed = async <Result>(kind: string, work: () => Promise<Result>): Promise<Result> => {
      const start = performance.now();
      const result = await work();
      times[kind]!.push(performance.now() - start);
      return result;
    };
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        while (performance.now() < until) {
          project.write(`client-${client}.txt`, `${performance.now()}\n`);
          const { checkpoint } = await timed("create", () => project.ok("POST", at, {}));
          made.push(checkpoint.id);
          await timed("list", () => project.ok("GET", `${at}?limit=20`));
          await timed("diff", () => project.ok("GET", `${at}/${checkpoint.id}/diff`));
        }
      }),
    );
    const { checkpoints } = await project.ok("GET", `${at}?limit=10000`);
    const ids = new Set(checkpoints.map(({ id }: { id: string }) => id));
    expect(made.filter((id) => !ids.has(id))).toEqual([]);
    const at95 = (values: number[]) =>
      values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)]?.toFixed(0);
    console.log(
      `${made.length} checkpoints by ${CLIENTS} clients;`,
      Object.entries(times)
        .map(([kind, values]) => `${kind} p95 ${at95(values)} ms`)
        .join(", "),
    );
  }),
);
