/** `belay pull`, `sync`, `open` and references to other lines, as users type them, on two machines and a real server. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingCeph, startCeph, type TestServer } from "../../remote/test/support/ceph-server.ts";
import { createBucket } from "../../remote/test/support/create-bucket.ts";
import { FaultProxy } from "../../remote/test/support/fault-proxy.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const missing = missingCeph();
if (missing !== undefined) console.warn(`The tests of other lines are skipped: ${missing}`);

const json = (text: string) => JSON.parse(text) as Record<string, never>;

test("[T13] without a remote, and with one that is not there: exit 4, exit 8, and nothing else fails", async () => {
  using sandbox = await Sandbox.protected();
  for (const words of [["pull"], ["sync"]])
    expect(sandbox.belay([...words, "--json"])).toMatchObject({ status: 4 });
  expect(sandbox.belay(["open", "team/@", "--json"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["show", "team/@", "--json"])).toMatchObject({ status: 4 });
});

describe.skipIf(missing !== undefined)("two machines and Ceph", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startCeph();
    await createBucket(server, "belay");
  }, 120_000);
  afterAll(() => server?.stop());

  /** A home and a directory, and the commands that are typed there. */
  class Desk {
    readonly home: string;
    readonly root: string;

    constructor(home: string, root: string) {
      this.home = home;
      this.root = root;
    }

    write(files: Readonly<Record<string, string | Buffer>>): void {
      for (const [name, content] of Object.entries(files)) writeFileSync(join(this.root, name), content);
    }

    /** Beside this process, so that two of them run at once. */
    async run(...words: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
      const { accessKeyId, secretAccessKey } = server.access;
      const child = spawn(process.execPath, [LAUNCHER, "--home", this.home, ...words], {
        cwd: this.root,
        env: {
          ...process.env,
          BELAY_RESIDENT: "off",
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
        },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: 120_000,
      });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (part: Buffer) => (stdout += String(part)));
      child.stderr.on("data", (part: Buffer) => (stderr += String(part)));
      return new Promise((resolve) => {
        child.on("close", (status) => resolve({ status, stdout, stderr }));
      });
    }

    /** The JSON of a command that must be done. */
    async ask(...words: string[]): Promise<Record<string, never>> {
      const { status, stdout, stderr } = await this.run(...words, "--json");
      expect(status, `${words.join(" ")}\n${stdout}${stderr}`).toBe(0);
      return json(stdout);
    }
  }

  test(
    "[R705] [R704] two machines push and pull at once: nothing acknowledged is lost, and each opens, compares and restores what the other has",
    { timeout: 300_000 },
    async () => {
      using sandbox = await Sandbox.protected({ "a.txt": "one\n", "b.txt": "two\n" });
      const ana = new Desk(sandbox.home, sandbox.project);
      const url = `s3://belay/${randomBytes(4).toString("hex")}?endpoint=${server.endpoint}`;
      await ana.ask("remote", "add", "team", url, "--recovery-file", "../key.txt");
      await ana.ask("push");
      const bob = new Desk(join(sandbox.base, "bob-home"), join(sandbox.base, "bob"));
      mkdirSync(bob.root);
      const key = join(sandbox.base, "key.txt");
      await bob.ask("clone", url, ".", "--recovery-file", key);
      const acknowledged: string[] = [];
      const work = async (desk: Desk, name: string) => {
        for (let round = 1; round <= 3; round++) {
          desk.write({ [`${name}.txt`]: `${name} ${round}\n`, [`${name}.bin`]: randomBytes(40_000) });
          const taken: { checkpoint?: { id: string } } = await desk.ask(
            "checkpoint",
            "-m",
            `${name} ${round}`,
          );
          expect(await desk.ask("sync")).toMatchObject({ push: { outcome: "pushed" } });
          acknowledged.push(taken.checkpoint!.id);
        }
      };
      await Promise.all([work(ana, "ana"), work(bob, "bob")]);

      const pulled = await ana.ask("pull");
      expect(Object.keys(pulled).toSorted()).toEqual(
        "annotations durationMs lines outcome remote requests reviews".split(" "),
      );
      expect(await ana.ask("pull")).toMatchObject({ outcome: "unchanged", lines: [], requests: 1 });
      const { lines } = (await ana.ask("remote", "lines", "team")) as never as {
        lines: { name: string; line: string }[];
      };
      expect(lines).toMatchObject([{ newest: { name: "bob 3", synced: true, origin: { remote: "team" } } }]);
      const at = `team/${lines[0]!.name}`;
      const opened = await ana.ask("open", `${at}/@`);
      expect(opened).toMatchObject({
        checkpoint: { name: "bob 3", origin: { remote: "team" }, synced: true },
      });
      expect((await ana.run("cat", `${at}/@-1`, "bob.txt")).stdout).toBe("bob 2\n");
      expect((await ana.run("files", `${at}/@`)).stdout.trim().split("\n")).toEqual([
        "a.txt",
        "b.txt",
        "bob.bin",
        "bob.txt",
      ]);
      const names = async (...words: string[]) =>
        (await ana.run("diff", "--name-only", ...words)).stdout.trim().split("\n");
      expect(await names(`${at}/@-1`, `${at}/@`)).toEqual(["bob.bin", "bob.txt"]);
      expect(await names(`${at}/@`)).toEqual(["ana.bin", "ana.txt", "bob.bin", "bob.txt"]);
      expect(await ana.ask("restore", `${at}/@`, "bob.txt", "--yes")).toMatchObject({ outcome: "applied" });
      expect(readFileSync(join(ana.root, "bob.txt"), "utf8")).toBe("bob 3\n");
      expect(existsSync(join(ana.root, "ana.txt"))).toBe(true);
      expect(await ana.ask("undo", "--yes")).toMatchObject({ outcome: "applied" });

      // the lines of both are whole, and a machine that had nothing gets every acknowledged checkpoint
      expect(await ana.ask("remote", "verify", "--full")).toMatchObject({ ok: true, lines: 2, problems: [] });
      const eve = new Desk(join(sandbox.base, "eve-home"), join(sandbox.base, "eve"));
      mkdirSync(eve.root);
      const { remotes } = (await ana.ask("remote", "list")) as never as { remotes: { line: string }[] };
      await eve.ask("clone", url, ".", "--recovery-file", key, "--line", remotes[0]!.line);
      for (const id of acknowledged) await eve.ask("show", `origin/${id}`);
      expect(readFileSync(join(eve.root, "ana.bin"))).toEqual(readFileSync(join(ana.root, "ana.bin")));
      await eve.ask("restore", `origin/${lines[0]!.line}/@`, "--yes");
      expect(readFileSync(join(eve.root, "bob.bin"))).toEqual(readFileSync(join(bob.root, "bob.bin")));
    },
  );

  test(
    "[R706] [R707] [R1509] [R1843] [R1844] the resident process pushes by itself; a thread is reviewed, and taken over over HTTP",
    { timeout: 300_000 },
    async () => {
      using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
      const ana = new Desk(sandbox.home, sandbox.project);
      const url = `s3://belay/${randomBytes(4).toString("hex")}?endpoint=${server.endpoint}`;
      expect(await ana.ask("status")).toMatchObject({ sync: [], newest: { synced: null } });
      await ana.ask("remote", "add", "team", url, "--recovery-file", "../key.txt");
      expect(await ana.ask("status")).toMatchObject({
        sync: [{ remote: "team", state: "queued", queued: 1 }],
        newest: { synced: false },
      });
      await ana.ask("push");
      await ana.ask("config", "sync.intervalSeconds", "1");
      const proxy = new FaultProxy(server.endpoint);
      const { url: at, token } = (await ana.ask("start")) as never as { url: string; token: string };
      const send = async (method: string, path: string, body?: object) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const workspace = `workspace=${encodeURIComponent(ana.root)}`;
        const answer = await fetch(new URL(`${path}?${workspace}`, at), {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return (await answer.json()) as { job: { id: string; state: string } };
      };
      try {
        ana.write({ "a.txt": "two\n" });
        await ana.ask("checkpoint");
        const synced = async () => (await ana.ask("status"))["sync"];
        await expect
          .poll(synced, { timeout: 120_000, interval: 500 })
          .toMatchObject([{ state: "synced", queued: 0, problem: null }]);
        expect(await ana.ask("show", "@")).toMatchObject({ checkpoint: { synced: true } });
        // [R708] the same over HTTP
        expect(await send("GET", "/api/remotes")).toMatchObject({
          remotes: [{ name: "team", problem: null }],
        });
        const { job } = await send("POST", "/api/remotes/team/sync");
        await expect
          .poll(async () => (await send("GET", `/api/jobs/${job.id}`)).job, { timeout: 120_000 })
          .toMatchObject({ state: "done", result: { push: { outcome: "unchanged" }, pull: { lines: [] } } });
        // [R1509] a remote is added and forgotten over HTTP; a job that ended is not stopped
        expect(await send("DELETE", `/api/jobs/${job.id}`)).toMatchObject({ job: { state: "done" } });
        const second = { name: "second", url: `s3://belay/second?endpoint=${await proxy.start()}` };
        const recoveryFile = join(sandbox.base, "second-key.txt");
        expect(await send("POST", "/api/remotes", { ...second, recoveryFile })).toMatchObject({
          remote: { ...second, role: "admin" },
          created: true,
        });
        expect(readFileSync(recoveryFile, "utf8")).toMatch(/^[a-z0-9 -]{52,80}\n$/i);
        expect(await send("GET", "/api/remotes/second")).toMatchObject({ remote: second });
        proxy.hangs = true;
        const { job: hanging } = await send("POST", "/api/remotes/second/pull");
        expect(await send("DELETE", `/api/jobs/${hanging.id}`)).toMatchObject({ job: { state: "stopped" } });
        proxy.hangs = false;
        // its process has ended: the same work is begun again, and gets through
        const pulled = async () => {
          const { job: next } = await send("POST", "/api/remotes/second/pull");
          const state = async () => (await send("GET", `/api/jobs/${next.id}`)).job.state;
          await expect.poll(state, { timeout: 60_000 }).not.toBe("running");
          return state();
        };
        await expect.poll(pulled, { timeout: 120_000 }).toBe("done");
        expect((await send("GET", `/api/jobs/${hanging.id}`)).job.state).toBe("stopped");
        expect(await send("DELETE", "/api/remotes/second")).toEqual({ removed: "second" });
        // [R1510] shared and handed over: the link is in the answer that makes it, and nowhere else
        const made = await send("POST", "/api/shares", { checkpoint: "@", link: true, expires: "1h" });
        const { share } = made as never as { share: { id: string; link: string } };
        expect(share.link).toMatch(/^https?:.*#/);
        const shares = await send("GET", "/api/shares");
        expect(shares).toMatchObject({ shares: [{ id: share.id }] });
        expect(JSON.stringify(shares)).not.toContain(share.link.slice(share.link.indexOf("#") + 1));
        expect(await send("DELETE", `/api/shares/${share.id}`)).toEqual({ revoked: share.id });
        const begun = await send("POST", "/api/threads", { agent: "codex", externalId: "s-1" });
        const { thread } = begun as never as { thread: { id: string } };
        expect(await send("POST", `/api/threads/${thread.id}/handoff`, {})).toMatchObject({
          reference: `team/${thread.id}`,
          transcript: false,
        });
        expect(await send("GET", "/api/remotes")).toMatchObject({ remotes: [{ name: "team" }] });
        await takeAndReview(ana, { url, send });
      } finally {
        await ana.ask("stop");
        await proxy.stop();
      }
    },
  );

  /** Bob hands a thread over; Ana reviews it and takes it over, by HTTP; Bob's machine follows her review. */
  async function takeAndReview(
    ana: Desk,
    { url, send }: { url: string; send: (method: string, path: string, body?: object) => Promise<object> },
  ): Promise<void> {
    using theirs = await Sandbox.protected({ "a.txt": "of bob\n" });
    const bob = new Desk(theirs.home, theirs.project);
    await bob.ask("remote", "add", "team", url, "--recovery-file", join(ana.root, "../key.txt"));
    expect((await bob.run("run", "--", "sh", "-c", "echo better > a.txt")).status).toBe(0);
    await bob.ask("push");
    const [{ id }] = (await bob.ask("threads"))["threads"] as never as [{ id: string }];
    const { checkpoint } = await bob.ask("handoff", id);
    const take = (more: object) =>
      send("POST", `/api/threads/${id}/handoff`, { take: true, remote: "team", ...more });
    const preview = async () => (await take({})) as { plan: { id: string } };
    const first = await preview();
    expect(first).toMatchObject({
      handoff: { checkpoint, transcript: false },
      plan: { operations: [{ type: "restore", path: "a.txt" }] },
    });
    // [R1844] what a page saw some time ago is not done to other files
    ana.write({ "a.txt": "changed meanwhile\n" });
    expect(await take({ planId: first.plan.id })).toMatchObject({ error: { code: "PLAN_STALE" } });
    expect(readFileSync(join(ana.root, "a.txt"), "utf8")).toBe("changed meanwhile\n");
    const taken = await take({ planId: (await preview()).plan.id });
    expect(taken).toMatchObject({
      continues: { remote: "team", thread: id },
      restore: { outcome: "applied", modified: 1, restoredTo: checkpoint },
      conversation: "none",
    });
    expect(readFileSync(join(ana.root, "a.txt"), "utf8")).toBe("better\n");

    const review = await send("POST", `/api/threads/${id}/review`, { remote: "team", message: "fine" });
    expect(review).toMatchObject({ review: { thread: id, message: "fine" }, sent: true });
    const told = { thread: id, message: "fine", by: expect.stringMatching(/@/) };
    expect(await bob.ask("pull")).toMatchObject({ reviews: [{ ...told, applied: false }] });
    expect(await bob.ask("approve", "--thread", id, "--dry-run")).toMatchObject({ hasUnapproved: true });
    await bob.ask("config", "approvals.fromTeam", "ignore");
    expect(await bob.ask("pull")).toMatchObject({ reviews: [] });
    await bob.ask("config", "approvals.fromTeam", "apply");
    bob.write({ "a.txt": "after the review\n" });
    expect(await bob.ask("pull")).toMatchObject({ reviews: [{ applied: false }] });
    bob.write({ "a.txt": "better\n" });
    expect(await bob.ask("sync")).toMatchObject({ pull: { reviews: [{ ...told, applied: true }] } });
    expect(await bob.ask("approve", "--thread", id, "--dry-run")).toMatchObject({ hasUnapproved: false });
    expect(await bob.ask("pull")).toMatchObject({ reviews: [] });
  }
});
