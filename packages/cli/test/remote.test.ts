/** `belay remote`, `push` and `clone` as a user types them, against a real server. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingCeph, startCeph, type TestServer } from "../../remote/test/support/ceph-server.ts";
import { createBucket } from "../../remote/test/support/create-bucket.ts";
import { FaultProxy } from "../../remote/test/support/fault-proxy.ts";
import { missingPostgres, startPostgres } from "../../remote/test/support/postgres-server.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const missing = missingCeph();
if (missing !== undefined) console.warn(`The tests of remotes are skipped: ${missing}`);
const missingDatabase = missingPostgres();
if (missingDatabase !== undefined)
  console.warn(`The test of remotes in PostgreSQL is skipped: ${missingDatabase}`);

const json = (text: string) => JSON.parse(text) as Record<string, never>;

describe("without a remote", () => {
  test("[T13] list is empty, push and verify say what to do, and nothing is asked of any server", async () => {
    using sandbox = await Sandbox.protected();
    expect(sandbox.belay(["remote"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("no remote"),
    });
    expect(json(sandbox.belay(["remote", "list", "--json"]).stdout)).toEqual({ remotes: [] });
    for (const words of [
      ["push"],
      ["remote", "verify"],
      ["remote", "remove", "team"],
      ["clone", "team", "x"],
    ])
      expect(sandbox.belay([...words, "--json"])).toMatchObject({ status: 4 });
    expect(sandbox.belay(["remote", "nonsense"])).toMatchObject({ status: 2 });
    expect(sandbox.belay(["remote", "add", "team"])).toMatchObject({ status: 2 });
    expect(sandbox.belay(["remote", "list", "--full"])).toMatchObject({ status: 2 });
  });

  test("[T17] an address with access keys, without a bucket or over plain http is refused", async () => {
    using sandbox = await Sandbox.protected();
    for (const url of [
      "s3://",
      "ftp://host/x",
      "s3://bucket/x?endpoint=http://server.example",
      "s3://bucket/x?endpoint=https://key:topsecret@server.example",
      "s3://bucket/../x",
      "postgres://ana:topsecret@db.example/belay",
      "postgres://db.example",
    ]) {
      const ran = sandbox.belay(["remote", "add", "team", url, "--recovery-file", "r.txt"], { env: ACCESS });
      expect({ url, status: ran.status }, ran.stderr).toEqual({ url, status: 2 });
      expect(ran.stderr).not.toContain("topsecret");
    }
    expect(existsSync(sandbox.path("r.txt"))).toBe(false);
  });

  test("a server that is not there: exit 8, and nothing is changed", async () => {
    using sandbox = await Sandbox.protected();
    const words = [
      "remote",
      "add",
      "team",
      "s3://bucket/x?endpoint=http://127.0.0.1:1",
      "--recovery-file",
      "r.txt",
    ];
    const ran = sandbox.belay([...words, "--json"], { env: ACCESS });
    expect(ran).toMatchObject({ status: 8 });
    expect(json(ran.stdout || ran.stderr)).toMatchObject({ error: { code: "REMOTE_UNREACHABLE" } });
    expect(json(sandbox.belay(["remote", "list", "--json"]).stdout)).toEqual({ remotes: [] });
  });
});

const ACCESS = { AWS_ACCESS_KEY_ID: "some", AWS_SECRET_ACCESS_KEY: "some-secret" };

describe.skipIf(missing !== undefined)("with Ceph", () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let endpoint: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    server = await startCeph();
    await createBucket(server, "belay");
    proxy = new FaultProxy(server.endpoint);
    endpoint = await proxy.start();
    const { accessKeyId, secretAccessKey } = server.access;
    env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  }, 120_000);
  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  const place = () => `s3://belay/${randomBytes(4).toString("hex")}?endpoint=${endpoint}`;

  /** Runs beside this process: the proxy is in this one. */
  function run(
    sandbox: Sandbox,
    words: readonly string[],
    options: { home?: string; cwd?: string; input?: "later" } = {},
  ) {
    const home = options.home ?? sandbox.home;
    const child = spawn(process.execPath, [LAUNCHER, "--home", home, ...words], {
      cwd: options.cwd ?? sandbox.project,
      env: { ...process.env, BELAY_RESIDENT: "off", ...env },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: 60_000,
    });
    // a hook gets its event there
    if (options.input !== "later") child.stdin.end();
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (part: Buffer) => (stdout += String(part)));
    child.stderr.on("data", (part: Buffer) => (stderr += String(part)));
    const ended = new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
      child.on("close", (status) => resolve({ status, stdout, stderr }));
    });
    return { child, ended };
  }

  test("[R890, R2262, R2267] add, push, verify, clone: the same files, history and exit codes; the recovery key is private", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.txt": "two\n" });
    const url = place();
    const adding = (file: string) =>
      run(sandbox, ["remote", "add", "team", url, "--recovery-file", file]).ended;
    // [R890] refused before there is a space: the next call makes it
    symlinkSync(sandbox.project, join(sandbox.base, "link"));
    for (const [file, why] of [
      ["key.txt", "which is captured"],
      ["../link/key.txt", "which is captured"],
      ["../nowhere/key.txt", "does not exist"],
    ] as const) {
      const refused = await adding(file);
      expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining(why) });
      expect(refused.stderr).toContain("Nothing was changed");
    }
    expect(existsSync(sandbox.path("key.txt"))).toBe(false);
    const added = await adding("../key.txt");
    expect(added, added.stderr).toMatchObject({ status: 0 });
    // [R2267] the policy for this prefix, which cannot delete
    const needed = JSON.parse(
      added.stdout.slice(added.stdout.indexOf("{"), added.stdout.lastIndexOf("}") + 1),
    ) as {
      Statement: { Resource: string }[];
    };
    const prefix = /s3:\/\/belay\/([0-9a-f]+)/.exec(url)![1];
    expect(needed.Statement.map(({ Resource }) => Resource)).toEqual([
      `arn:aws:s3:::belay/${prefix}/*`,
      "arn:aws:s3:::belay",
    ]);
    expect(added.stdout).not.toContain("Delete");
    const key = join(sandbox.base, "key.txt");
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(key, "utf8")).toMatch(/^([0-9a-z]{4}-){12}[0-9a-z]{4}\n$/);
    expect(statSync(join(sandbox.home, "identity")).mode & 0o777).toBe(0o600);
    const again = await run(sandbox, ["remote", "add", "team", url, "--json"]).ended;
    expect(again).toMatchObject({ status: 3 });
    const pushed = await run(sandbox, ["push", "--remote", "team", "--wait", "2m", "--limit", "2M", "--json"])
      .ended;
    expect(pushed.status, pushed.stderr).toBe(0);
    expect(Object.keys(json(pushed.stdout)).toSorted()).toEqual(
      "borrowed bytes checkpoints durationMs objects outcome remote requests segment withheld".split(" "),
    );
    expect(json(pushed.stdout)).toMatchObject({ outcome: "pushed", remote: "team", segment: 1, requests: 2 });
    expect(json((await run(sandbox, ["push", "--json"]).ended).stdout)).toMatchObject({
      outcome: "unchanged",
    });
    const listed = json((await run(sandbox, ["remote", "list", "--json"]).ended).stdout);
    expect(listed).toMatchObject({
      remotes: [{ name: "team", role: "admin", recoveryKey: true, problem: null }],
    });
    expect(JSON.stringify(listed)).not.toContain(env["AWS_SECRET_ACCESS_KEY"]!);
    const verified = await run(sandbox, ["remote", "verify", "--full", "--json"]).ended;
    expect(json(verified.stdout)).toMatchObject({ ok: true, lines: 1, segments: 1, problems: [] });
    const swept = await run(sandbox, ["remote", "gc", "--dry-run", "--json"]).ended;
    expect(json(swept.stdout)).toEqual({
      sweep: 0,
      condemned: 0,
      pardoned: 0,
      deleted: 0,
      bytesFreed: 0,
      hurried: 0,
      dryRun: true,
    });
    expect(await run(sandbox, ["remote", "gc"]).ended).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("not switched on"),
    });
    // [R1815, R1816]
    const policy = await run(sandbox, ["remote", "policy", "--keep", "3d", "--quota", "1M", "--json"]).ended;
    expect(json(policy.stdout)).toMatchObject({
      policy: { allDays: 3, turnDays: 30, quotaBytes: 1024 ** 2 },
      usage: { bytes: expect.any(Number), members: [{ bytes: expect.any(Number) }] },
      warnings: [],
    });
    const home = join(sandbox.base, "other-home");
    const without = await run(sandbox, ["clone", url, "../clone"], { home }).ended;
    expect(without).toMatchObject({ status: 3 });
    expect(existsSync(join(sandbox.base, "clone"))).toBe(false);
    const cloned = await run(sandbox, ["clone", url, "../clone", "--recovery-file", "../key.txt", "--json"], {
      home,
    }).ended;
    expect(cloned.status, cloned.stderr).toBe(0);
    expect(json(cloned.stdout)).toMatchObject({
      checkpoints: 1,
      files: 2,
      withheld: [],
      from: { remote: "origin" },
    });
    expect(readFileSync(join(sandbox.base, "clone/src/b.txt"), "utf8")).toBe("two\n");
    // on the same machine the key is known, and the remote has a name
    const beside = await run(sandbox, ["clone", "team", "../beside", "--no-restore"]).ended;
    expect(beside.status, beside.stderr).toBe(0);
    expect(beside.stdout).not.toMatch(/files? of checkpoint/);
    expect(readdirSync(join(sandbox.base, "beside"))).toEqual([]);
    // [R1841] one checkpoint goes alone; --wait needs no time, and takes seconds
    for (const text of ["three\n", "four\n"]) {
      sandbox.write("a.txt", text);
      expect((await run(sandbox, ["checkpoint"]).ended).status).toBe(0);
    }
    const partly = await run(sandbox, ["push", "@-1", "--wait", "--json"]).ended;
    expect(json(partly.stdout), partly.stderr).toMatchObject({ outcome: "partial", checkpoints: 1 });
    const unknown = await run(sandbox, ["push", "--thread", "kkkk", "--wait", "90", "--json"]).ended;
    expect(unknown).toMatchObject({ status: 4 });
    expect(await run(sandbox, ["push", "@", "--thread", "kkkk"]).ended).toMatchObject({ status: 2 });
    // [R2026] the quota of above
    sandbox.write("big.txt", randomBytes(1_200_000).toString("base64"));
    await run(sandbox, ["checkpoint"]).ended;
    const full = await run(sandbox, ["push", "--json"]).ended;
    expect(full).toMatchObject({ status: 8 });
    expect(json(full.stdout || full.stderr)).toMatchObject({ error: { code: "REMOTE_FULL" } });
    expect((await run(sandbox, ["status", "--json"]).ended).stdout).toContain("REMOTE_FULL");
    await run(sandbox, ["remote", "policy", "--quota", "none"]).ended;
    expect(json((await run(sandbox, ["push", "--json"]).ended).stdout)).toMatchObject({ outcome: "pushed" });
    expect(await run(sandbox, ["remote", "remove", "team"]).ended).toMatchObject({ status: 0 });
    expect(await run(sandbox, ["push"]).ended).toMatchObject({ status: 4 });
    // [R2262] joined again, and deleted for good
    expect(await adding("../key.txt")).toMatchObject({ status: 0 });
    const asked = await run(sandbox, ["remote", "remove", "team", "--delete", "--json"]).ended;
    expect(asked, asked.stdout).toMatchObject({ status: 3 });
    expect(json(asked.stdout)).toMatchObject({ error: { code: "CONFIRMATION_REQUIRED" } });
    expect((await run(sandbox, ["remote", "list", "--yes"]).ended).status).toBe(2);
    const removed = await run(sandbox, ["remote", "remove", "team", "--delete", "--yes", "--json"]).ended;
    expect(json(removed.stdout), removed.stderr).toMatchObject({
      removed: "team",
      deleted: { objects: expect.any(Number), bytes: expect.any(Number) },
    });
    const gone = await run(sandbox, ["clone", url, "../gone", "--recovery-file", "../key.txt"]).ended;
    expect(gone).toMatchObject({ status: 4, stderr: expect.stringContaining("no space at that address") });
    expect(await run(sandbox, ["restore", "@", "--yes"]).ended).toMatchObject({ status: 0 });
  });

  test("[R2265, T13] without a resident process the end of a turn has what waits sent, once a minute at most", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    const waiting = async () => {
      const listed = json((await run(sandbox, ["remote", "list", "--json"]).ended).stdout);
      return (listed["remotes"] as unknown as { queued: { checkpoints: number } }[])[0]!.queued.checkpoints;
    };
    const turn = (text: string) => run(sandbox, ["run", "--", "sh", "-c", `echo ${text} > a.txt`]).ended;
    const hook = (event: object) => {
      const hooked = run(sandbox, ["hook", "claude-code"], { input: "later" });
      hooked.child.stdin.end(JSON.stringify({ session_id: "s1", cwd: sandbox.project, ...event }));
      return hooked.ended;
    };
    await run(sandbox, ["remote", "add", "team", place(), "--recovery-file", "../key.txt"]).ended;
    const { space, line } = (
      json((await run(sandbox, ["remote", "list", "--json"]).ended).stdout)["remotes"] as unknown as {
        space: string;
        line: string;
      }[]
    )[0]!;
    const mark = join(sandbox.home, "spaces", space, `synced-${line}`);
    // the first push is a person's
    await turn("two");
    expect(existsSync(mark)).toBe(false);
    expect(await run(sandbox, ["push", "--yes"]).ended).toMatchObject({ status: 0 });
    await hook({ hook_event_name: "UserPromptSubmit", prompt: "go" });
    sandbox.write("a.txt", "three\n");
    expect(existsSync(mark)).toBe(false);
    await hook({ hook_event_name: "Stop" });
    await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
    expect((await run(sandbox, ["remote", "verify", "--full"]).ended).status).toBe(0);
    // within the minute, and where it is switched off, nothing is started
    const first = statSync(mark).mtimeMs;
    await turn("four");
    await run(sandbox, ["config", "sync.automatic", "off"]).ended;
    rmSync(mark);
    await turn("five");
    expect(existsSync(mark)).toBe(false);
    await run(sandbox, ["config", "sync.automatic", "on"]).ended;
    await turn("six");
    expect(statSync(mark).mtimeMs).toBeGreaterThan(first);
    await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
  });

  test.skipIf(missingDatabase !== undefined)(
    "[R730, R734] a database, alone and for the records beside content on S3, keeps a history that can be cloned",
    async () => {
      const database = await startPostgres();
      try {
        const records = `postgres://belay@127.0.0.1:${database.port}/postgres`;
        for (const [kind, ...address] of [
          ["postgres", `${records}/alone`],
          ["mixed", place(), "--records", `${records}/mixed`],
        ]) {
          using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
          sandbox.write("big.bin", randomBytes(1_300_000).toString("base64"));
          await run(sandbox, ["checkpoint"]).ended;
          const words = ["remote", "add", "team", ...address, "--recovery-file", "../key.txt"];
          const added = await run(sandbox, words).ended;
          expect(added.status, added.stderr).toBe(0);
          const listed = json((await run(sandbox, ["remote", "list", "--json"]).ended).stdout);
          expect(listed).toMatchObject({ remotes: [{ engine: { kind, createOnly: true } }] });
          const pushed = await run(sandbox, ["push", "--json"]).ended;
          expect(pushed.status, pushed.stderr).toBe(0);
          expect(json(pushed.stdout)).toMatchObject({ outcome: "pushed", requests: 3 });
          const [remote] = listed["remotes"] as unknown as { url: string }[];
          const home = join(sandbox.base, "other-home");
          const from = ["clone", remote!.url, "../clone", "--recovery-file", "../key.txt"];
          const cloned = await run(sandbox, from, { home }).ended;
          expect(cloned.status, cloned.stderr).toBe(0);
          expect(readFileSync(join(sandbox.base, "clone/big.bin"))).toEqual(
            readFileSync(sandbox.path("big.bin")),
          );
        }
        const held = "SELECT count(*) FROM belay_object WHERE key ~ '/b/' AND space =";
        expect(Number(database.sql(`${held} 'alone'`))).toBeGreaterThan(0);
        expect(Number(database.sql(`${held} 'mixed'`))).toBe(0);
      } finally {
        database.stop();
      }
    },
  );

  test("[R1506] the first push asks about what looks like a secret", { timeout: 180_000 }, async () => {
    using sandbox = await Sandbox.protected({ ".env": "TOKEN=x\n", "a.txt": "one\n" });
    // [R1506] also what was there once
    sandbox.write("old.txt", `key = "${["ghp", "0123456789abcdefghijABCDEFGHIJ012345"].join("_")}"\n`);
    await run(sandbox, ["checkpoint"]).ended;
    sandbox.write("old.txt", "nothing\n");
    await run(sandbox, ["checkpoint"]).ended;
    const url = place();
    await run(sandbox, ["remote", "add", "team", url, "--recovery-file", "../key.txt"]).ended;
    const refusal = async (places: string[], in_: Parameters<typeof run>[2] = {}) => {
      const asked = await run(sandbox, ["push", "--json"], in_).ended;
      expect(asked).toMatchObject({ status: 3 });
      expect(json(asked.stdout || asked.stderr)).toMatchObject({ error: { code: "SECRETS_FOUND", places } });
    };
    await refusal(["old.txt in checkpoint 2", ".env"]);
    const listed = json((await run(sandbox, ["remote", "list", "--json"]).ended).stdout);
    expect(listed).toMatchObject({ remotes: [{ problem: expect.stringContaining("SECRETS_FOUND") }] });
    // [R1511] `doctor` repeats it
    const checked = (await run(sandbox, ["doctor", "--json"]).ended).stdout;
    expect(checked).toMatch(/"detail": "SECRETS_FOUND/);
    expect(await run(sandbox, ["push", "--yes"]).ended).toMatchObject({ status: 0 });
    // and what a clone adds to what came from there
    const home = join(sandbox.base, "other-home");
    const from = ["clone", url, "../clone", "--recovery-file", "../key.txt"];
    expect(await run(sandbox, from, { home }).ended).toMatchObject({ status: 0 });
    const clone = join(sandbox.base, "clone");
    writeFileSync(join(clone, "id_rsa"), "x\n");
    await run(sandbox, ["checkpoint"], { home, cwd: clone }).ended;
    await refusal(["id_rsa"], { home, cwd: clone });
  });

  test("[R2020, R2022] what sync.withhold names stays at home, and a clone says so", async () => {
    const secret = "PLANTED-SECRET-5d20";
    using sandbox = await Sandbox.protected({ ".env": `KEY=${secret}\n`, "a.txt": "one\n" });
    await run(sandbox, ["config", "sync.withhold", '[".env*"]']).ended;
    const url = place();
    await run(sandbox, ["remote", "add", "team", url, "--recovery-file", "../key.txt"]).ended;
    // it does not leave: there is no secret to ask about
    const pushed = await run(sandbox, ["push", "--json"]).ended;
    expect(pushed.status, pushed.stderr).toBe(0);
    expect(json(pushed.stdout)).toMatchObject({ outcome: "pushed", withheld: [".env"] });
    const home = join(sandbox.base, "other-home");
    const from = ["clone", url, "../clone", "--recovery-file", "../key.txt"];
    const cloned = await run(sandbox, [...from, "--json"], { home }).ended;
    expect(json(cloned.stdout)).toMatchObject({ withheld: [".env"], files: 1 });
    const clone = join(sandbox.base, "clone");
    expect(readdirSync(clone)).toEqual(["a.txt"]);
    const shown = await run(sandbox, ["show", "@"], { home, cwd: clone }).ended;
    expect(shown.stdout).toContain("its owner keeps it at home");
    const changed = await run(sandbox, ["diff", "--json"], { home, cwd: clone }).ended;
    expect(json(changed.stdout), changed.stderr).toMatchObject({ files: [] });
    for (const store of readdirSync(join(home, "workspaces")))
      expect(readFileSync(join(home, "workspaces", store, "store.db")).includes(secret)).toBe(false);
    const verified = await run(sandbox, ["verify", "--full", "--json"], { home, cwd: clone }).ended;
    expect(verified.status, verified.stdout).toBe(0);
    // what it would have been sent before is named once it is withheld
    await run(sandbox, ["config", "sync.withhold", '["a.txt"]']).ended;
    const more = await run(sandbox, ["push"]).ended;
    expect(more.stdout).toContain("Sent before they were to be kept at home");
    expect(more.stdout).toContain("a.txt");
    const verifiedThere = await run(sandbox, ["remote", "verify", "--full", "--json"]).ended;
    expect(json(verifiedThere.stdout)).toMatchObject({ ok: true, problems: [] });
  });

  test("[T1, T2] killed at every request of a push, the next one goes on and the remote is sound", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    await run(sandbox, ["remote", "add", "team", place(), "--recovery-file", "../key.txt"]).ended;
    await run(sandbox, ["push"]).ended;
    for (const at of [1, 2, 3])
      for (const when of ["before", "after"] as const) {
        sandbox.write("big.txt", randomBytes(1_200_000).toString("base64"));
        await run(sandbox, ["checkpoint"]).ended;
        proxy.strike(undefined);
        const { child, ended } = run(sandbox, ["push"]);
        proxy.watch = (now, count) => {
          if (now === when && count === at) child.kill("SIGKILL");
        };
        expect((await ended).status, `${at} ${when}`).toBeNull();
        proxy.watch = undefined;
        const next = await run(sandbox, ["push", "--json"]).ended;
        expect(next.status, next.stderr).toBe(0);
        expect(json(next.stdout), `${at} ${when}`).toMatchObject({ outcome: "pushed" });
      }
    const verified = await run(sandbox, ["remote", "verify", "--full", "--json"]).ended;
    expect(json(verified.stdout)).toMatchObject({ ok: true, lines: 1, problems: [] });
    mkdirSync(join(sandbox.base, "clone"));
    const cloned = await run(sandbox, ["clone", "team", "../clone"]).ended;
    expect(cloned.status, cloned.stderr).toBe(0);
    expect(readFileSync(join(sandbox.base, "clone/big.txt"))).toEqual(readFileSync(sandbox.path("big.txt")));
  });
});
