/** A team, a job and a stranger with a link, as people run them, on a real server. Secrets appear nowhere [T17]. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingCeph, startCeph, type TestServer } from "../../remote/test/support/ceph-server.ts";
import { createBucket } from "../../remote/test/support/create-bucket.ts";
import { openWorkspace, type Workspace } from "@belay/engine";
import { openHookNotes } from "../../agents/src/state/hook-notes.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

/** Works with a workspace in this process, and closes it. */
async function inWorkspace<Result>(
  { project, home }: Sandbox,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  await using workspace = await openWorkspace(project, { home });
  return await work(workspace);
}

const missing = missingCeph();

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe.skipIf(missing !== undefined)("a team on Ceph", { timeout: 180_000 }, () => {
  let server: TestServer;
  /** Everything that any command printed, except where a secret is what was asked for. */
  const said: string[] = [];

  beforeAll(async () => {
    server = await startCeph();
    await createBucket(server, "belay");
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
  });

  /** Runs a command as one of the people; `secret`: its output is not to be searched. */
  async function run(
    words: readonly string[],
    {
      home,
      cwd,
      input = "",
      env = {},
      secret = false,
    }: { home: string; cwd: string; input?: string; env?: object; secret?: boolean },
  ): Promise<Ran> {
    const { accessKeyId, secretAccessKey } = server.access;
    const access = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    const child = spawn(process.execPath, [LAUNCHER, "--home", home, ...words], {
      cwd,
      env: { ...process.env, BELAY_RESIDENT: "off", ...access, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: 90_000,
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (part: Buffer) => (stdout += String(part)));
    child.stderr.on("data", (part: Buffer) => (stderr += String(part)));
    child.stdin.end(input);
    const status = await new Promise<number | null>((resolve) => {
      child.on("close", resolve);
    });
    said.push(stderr, ...(secret ? [] : [stdout]));
    return { status, stdout, stderr };
  }

  const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

  test("[R2240, R2241, R2245] a lost machine's line is adopted; it comes back as a line of its own; everything is encrypted again", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    const ana = { home: sandbox.home, cwd: sandbox.project };
    const url = `s3://belay/${randomBytes(4).toString("hex")}?endpoint=${server.endpoint}`;
    const added = await run(["remote", "add", "team", url, "--recovery-file", "../key.txt"], ana);
    expect(added.status, added.stderr).toBe(0);
    expect((await run(["push"], ana)).status).toBe(0);
    const invited = await run(["remote", "invite", "--expires", "1h"], { ...ana, secret: true });
    using theirs = await Sandbox.protected({ "b.txt": "two\n" });
    const bob = { home: theirs.home, cwd: theirs.project };
    expect((await run(["remote", "add", "team", "-"], { ...bob, input: invited.stdout })).status).toBe(0);
    expect((await run(["push"], bob)).status).toBe(0);
    const lineOf = async (who: typeof ana) =>
      (json((await run(["remote", "list", "--json"], who)).stdout)["remotes"] as { line: string }[])[0]!.line;
    const lost = await lineOf(bob);
    for (const [words, who, status, code] of [
      [["adopt", lost, "--json"], ana, 3, "CONFIRMATION_REQUIRED"],
      [["adopt", lost, "--yes", "--json"], bob, 3, "ROLE_REQUIRED"],
      [["adopt", await lineOf(ana), "--yes", "--json"], ana, 3, "LINE_TAKEN"],
      [["adopt", "eve@nowhere", "--yes", "--json"], ana, 4, "REMOTE_NOT_FOUND"],
      [["adopt"], ana, 2, "USAGE"],
      [["adopt", lost, "--full"], ana, 2, "USAGE"],
    ] as const)
      expect(await run(["remote", ...words], who), words.join(" ")).toMatchObject({
        status,
        ...(words.includes("--json" as never) && { stdout: expect.stringContaining(code) }),
      });
    const adopted = await run(["remote", "adopt", lost, "--yes", "--json"], ana);
    expect(json(adopted.stdout), adopted.stderr).toMatchObject({ remote: "team", adopted: { line: lost } });
    expect(await run(["remote", "adopt", lost, "--yes"], ana)).toMatchObject({ status: 3 });
    // ten minutes later
    const [space] = readdirSync(join(theirs.home, "spaces"));
    const kept = join(theirs.home, "spaces", space!, "space.json");
    writeFileSync(kept, JSON.stringify({ ...json(readFileSync(kept, "utf8")), lookedAt: 0 }));
    theirs.write("b.txt", "back again\n");
    expect((await run(["checkpoint"], bob)).status).toBe(0);
    const back = await run(["push", "--json"], bob);
    expect(json(back.stdout), back.stderr).toMatchObject({
      outcome: "pushed",
      adoptedBy: expect.any(String),
    });
    expect(back.stderr).toContain("adopted the line of this store while it was away");
    expect(await lineOf(bob)).not.toBe(lost);

    expect(await run(["remote", "keys", "rotate", "--rewrite", "--json"], ana)).toMatchObject({ status: 3 });
    expect(await run(["remote", "keys", "rotate", "--rewrite", "--yes"], bob)).toMatchObject({ status: 3 });
    const rotated = await run(["remote", "keys", "rotate", "--rewrite", "--yes", "--json"], ana);
    expect(json(rotated.stdout), rotated.stderr).toMatchObject({
      generation: 2,
      rewritten: { bytes: expect.any(Number) },
      otherLines: 2,
    });
    writeFileSync(kept, JSON.stringify({ ...json(readFileSync(kept, "utf8")), lookedAt: 0 }));
    const followed = await run(["push"], bob);
    expect(followed).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("asked every machine to encrypt its line again"),
    });
    expect(await run(["remote", "verify", "--full"], ana)).toMatchObject({ status: 0 });
    const cloned = await run(["clone", `team/${await lineOf(bob)}`, join(sandbox.base, "got"), "--yes"], ana);
    expect(cloned.status, cloned.stderr).toBe(0);
    expect(readFileSync(join(sandbox.base, "got/b.txt"), "utf8")).toBe("back again\n");
  });

  test("[R761, R763, R764, T17] invited, joined, a job with a token, a link; no secret in any output", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    const ana = { home: sandbox.home, cwd: sandbox.project };
    const url = `s3://belay/${randomBytes(4).toString("hex")}?endpoint=${server.endpoint}`;
    const added = await run(["remote", "add", "team", url, "--recovery-file", "../key.txt"], ana);
    expect(added.status, added.stderr).toBe(0);
    expect((await run(["push"], ana)).status).toBe(0);

    const invited = await run(["remote", "invite", "--expires", "1h"], { ...ana, secret: true });
    expect(invited.stdout).toMatch(/^belay-invitation-1\.[\w-]+\n$/);
    using theirs = await Sandbox.protected({ "b.txt": "two\n" });
    const bob = { home: theirs.home, cwd: theirs.project };
    const joined = await run(["remote", "add", "team", "-"], { ...bob, input: invited.stdout });
    expect(joined.status, joined.stderr).toBe(0);
    expect((await run(["push"], bob)).status).toBe(0);
    const again = await run(["remote", "add", "twice", invited.stdout.trim(), "--json"], {
      ...ana,
      home: join(sandbox.base, "third"),
    });
    expect(again.status).not.toBe(0);
    const listed = json((await run(["remote", "keys", "list", "--json"], ana)).stdout);
    expect(listed["members"]).toMatchObject([{ role: "admin" }, { isRecovery: true }, { role: "member" }]);
    expect(json((await run(["remote", "list", "--json"], bob)).stdout)).toMatchObject({
      remotes: [{ role: "member" }],
    });
    expect((await run(["remote", "invite", "--json"], bob)).status).toBe(3);

    // [R2027] the same secret on both machines
    for (const one of [sandbox, theirs]) one.write(".env", "PLANTED-SECRET\n");
    for (const who of [ana, bob]) {
      expect((await run(["checkpoint"], who)).status).toBe(0);
      expect((await run(["push"], who)).status).toBe(0);
    }
    expect(await run(["forget", "--everywhere", "--thread", "kkkk", "--yes"], ana)).toMatchObject({
      status: 2,
    });
    expect(await run(["forget", ".env", "--everywhere", "--yes"], bob)).toMatchObject({ status: 3 });
    const dry = await run(["forget", ".env", "--everywhere", "--dry-run"], ana);
    expect(dry).toMatchObject({ status: 0, stdout: expect.stringContaining("Would purge .env") });
    const forgot = await run(["forget", ".env", "--everywhere", "--yes"], ana);
    expect(forgot).toMatchObject({ status: 0, stdout: expect.stringContaining("Purged .env") });
    expect(forgot.stderr).toContain("other machines follow at their next push or pull");
    // ten minutes later
    const [space] = readdirSync(join(theirs.home, "spaces"));
    const kept = join(theirs.home, "spaces", space!, "space.json");
    writeFileSync(kept, JSON.stringify({ ...json(readFileSync(kept, "utf8")), lookedAt: 0 }));
    const followed = await run(["sync"], bob);
    expect(followed).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("purged from 1 checkpoint here"),
    });
    expect(readFileSync(join(theirs.project, ".env"), "utf8")).toBe("PLANTED-SECRET\n");
    expect(await run(["cat", ".env", "--at", "@"], bob)).not.toMatchObject({ status: 0 });
    rmSync(join(sandbox.project, ".env"));

    const made = await run(["remote", "token", "--role", "agent", "--ttl", "2h", "--name", "lint"], {
      ...ana,
      secret: true,
    });
    const token = made.stdout.trim();
    const line = (
      json((await run(["remote", "list", "--json"], ana)).stdout)["remotes"] as { line: string }[]
    )[0]!.line;
    const checkpoint = (
      json((await run(["list", "--json"], ana)).stdout)["checkpoints"] as { id: string }[]
    )[0]!.id;
    const runner = { home: join(sandbox.base, "runner"), cwd: sandbox.base, env: { BELAY_TOKEN: token } };
    const cloned = await run(["clone", `team/${line}/${checkpoint}`, "job", "--json"], runner);
    expect(cloned.status, cloned.stderr + cloned.stdout).toBe(0);
    expect(readFileSync(join(sandbox.base, "job/a.txt"), "utf8")).toBe("one\n");
    writeFileSync(join(sandbox.base, "job/report.txt"), "clean\n");
    const job = { ...runner, cwd: join(sandbox.base, "job") };
    expect((await run(["checkpoint", "-m", "report"], job)).status).toBe(0);
    const pushed = await run(["push", "--wait", "1m", "--json"], job);
    expect(pushed.status, pushed.stderr).toBe(0);
    expect((await run(["push", "--json"], { ...job, env: {} })).status).toBe(3);
    expect((await run(["push", "--json"], { ...job, env: { BELAY_TOKEN: token.slice(0, -5) } })).status).toBe(
      3,
    );

    symlinkSync("/etc/passwd", join(sandbox.project, "out"));
    expect((await run(["checkpoint"], ana)).status).toBe(0);
    const shared = await run(["share", "@", "--link", "--expires", "1h", "--json"], { ...ana, secret: true });
    expect(shared.status, shared.stderr).toBe(0);
    const { share } = json(shared.stdout) as { share: { id: string; link: string } };
    const stranger = {
      home: join(sandbox.base, "stranger"),
      cwd: sandbox.base,
      env: { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    };
    const asked = await run(["clone", share.link, "got", "--json"], stranger);
    expect(asked.status, asked.stderr).toBe(3);
    expect(existsSync(join(sandbox.base, "got"))).toBe(false);
    const got = await run(["clone", "-", "got", "--yes", "--json"], { ...stranger, input: share.link });
    expect(got.status, got.stderr + got.stdout).toBe(0);
    expect(json(got.stdout)).toMatchObject({
      files: 2,
      outside: ["out"],
      from: { checkpoint: expect.any(String) },
    });
    expect(readFileSync(join(sandbox.base, "got/a.txt"), "utf8")).toBe("one\n");
    const shares = await run(["share", "--list", "--json"], bob);
    expect(json(shares.stdout)).toMatchObject({ shares: [{ id: share.id }] });
    expect((await run(["share", "--revoke", share.id], bob)).status).toBe(0);
    expect((await run(["clone", share.link, "late", "--yes", "--json"], stranger)).status).toBe(8);
    writeFileSync(join(sandbox.project, ".env"), "PASSWORD=hunter2hunter2\n");
    expect((await run(["checkpoint"], ana)).status).toBe(0);
    const refused = await run(["share", "@", "--link", "--json"], ana);
    expect(refused.status, refused.stderr).toBe(3);
    // [R1506] its words are part of the link, whichever paths are shared
    expect((await run(["note", "@", "password: hunter2hunter2"], ana)).status).toBe(0);
    const words = await run(["share", "@", "--link", "--paths", "a.txt", "--json"], ana);
    expect(words.status, words.stderr).toBe(3);
    expect(words.stdout + words.stderr).toContain("name, note or description");

    const removed = await run(["remote", "keys", "remove", "lint", "--yes"], ana);
    expect(removed.status).toBe(4);
    // both are the same user of the same machine here, so only the id tells them apart
    const { id } = (listed["members"] as { id: string }[])[2]!;
    const gone = await run(["remote", "keys", "remove", id, "--yes", "--json"], ana);
    expect(gone.status, gone.stderr).toBe(0);
    expect(json(gone.stdout)).toMatchObject({ generation: 2 });
    expect((await run(["remote", "keys", "list", "--json"], bob)).status).toBe(3);
    for (const words of [
      ["status"],
      ["doctor"],
      ["remote"],
      ["remote", "verify"],
      ["list"],
      ["remote", "keys"],
    ]) {
      await run([...words, "--json"], ana);
      await run(words, ana);
    }

    const secrets = [
      server.access.secretAccessKey,
      token.slice(20, 80),
      token.slice(-40),
      invited.stdout.slice(20, 80),
      share.link.slice(share.link.lastIndexOf(".") + 1),
      readFileSync(join(sandbox.base, "key.txt"), "utf8").trim(),
    ];
    for (const text of said) for (const secret of secrets) expect(text).not.toContain(secret);
    for (const home of [ana.home, bob.home, runner.home, stranger.home])
      for (const file of readdirSync(home, { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) continue;
        const bytes = readFileSync(join(file.parentPath, file.name));
        for (const secret of secrets) expect(bytes.includes(secret), file.name).toBe(false);
      }
  });

  test("[R767, R768, R1845] a thread is handed over with files and conversation; a checkpoint goes over a checkout", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    const ana = { home: sandbox.home, cwd: sandbox.project };
    const url = `s3://belay/${randomBytes(4).toString("hex")}?endpoint=${server.endpoint}`;
    expect((await run(["remote", "add", "team", url, "--recovery-file", "../key.txt"], ana)).status).toBe(0);
    expect((await run(["push"], ana)).status).toBe(0);
    const transcript = join(sandbox.base, "s-1.jsonl");
    writeFileSync(transcript, `${JSON.stringify({ sessionId: "s-1", uuid: "a", cwd: sandbox.project })}\n`);
    openHookNotes(sandbox.home, "claude-code", "s-1").placeOfTranscript(
      { transcript, run: null },
      sandbox.project,
    );
    const thread = await inWorkspace(sandbox, async (workspace) => {
      const { id } = await workspace.threads.create({
        agent: "claude-code",
        externalId: "s-1",
        title: "Names",
      });
      await workspace.threads.addMessage(id, { role: "user", content: "better names, please" });
      return id;
    });
    writeFileSync(join(sandbox.project, "a.txt"), "better\n");
    await run(["config", "sync.transcripts", "never"], ana);
    const bare = await run(["handoff", thread, "--json"], ana);
    expect(json(bare.stdout)).toMatchObject({ thread, transcript: false });
    await run(["config", "sync.transcripts", "--unset"], ana);
    const handed = await run(["handoff", thread, "--json"], ana);
    expect(handed.status, handed.stderr + handed.stdout).toBe(0);
    const offer = json(handed.stdout);
    expect(offer).toMatchObject({ reference: `team/${thread}`, thread, transcript: true });

    const invited = await run(["remote", "invite"], { ...ana, secret: true });
    using theirs = await Sandbox.protected({ "a.txt": "mine\n", "b.txt": "two\n" });
    const claude = join(theirs.base, "claude");
    const bob = { home: theirs.home, cwd: theirs.project, env: { CLAUDE_CONFIG_DIR: claude } };
    expect((await run(["remote", "add", "team", "-"], { ...bob, input: invited.stdout })).status).toBe(0);
    const asked = await run(["handoff", "--take", `team/${thread}`, "--json"], bob);
    expect(asked.status, asked.stderr).toBe(3);
    expect(readFileSync(theirs.path("a.txt"), "utf8")).toBe("mine\n");
    const taken = await run(["handoff", "--take", `team/${thread}`, "--yes", "--json"], bob);
    expect(taken.status, taken.stderr + taken.stdout).toBe(0);
    const { resume, continues, conversation, thread: next } = json(taken.stdout) as Record<string, string[]>;
    expect({ continues, conversation }).toMatchObject({
      continues: { remote: "team", thread },
      conversation: "imported",
    });
    expect(readFileSync(theirs.path("a.txt"), "utf8")).toBe("better\n");
    const [directory] = readdirSync(join(claude, "projects"));
    const written = readFileSync(join(claude, "projects", directory!, `${resume![2]}.jsonl`), "utf8");
    expect(JSON.parse(written)).toEqual({
      sessionId: resume![2],
      uuid: "a",
      cwd: realpathSync(theirs.project),
    });
    const messages = await run(["thread", String(next), "--json"], bob);
    expect(messages.stdout).toContain("better names, please");
    expect((await run(["undo", "--yes", "--json"], bob)).status).toBe(0);
    expect(readFileSync(theirs.path("a.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(theirs.path("b.txt"), "utf8")).toBe("two\n");

    // [R1845] with `always` a push renews the offer: it can be taken over although it was not handed over again
    await run(["config", "sync.transcripts", "always"], ana);
    const offered = async () => {
      const seen = await run(["handoff", "--take", `team/${thread}`, "--dry-run", "--json"], bob);
      return json(seen.stdout)["handoff"];
    };
    writeFileSync(transcript, `${JSON.stringify({ sessionId: "s-1", uuid: "b", cwd: sandbox.project })}\n`);
    const renewed = json((await run(["checkpoint", "--thread", thread, "--json"], ana)).stdout);
    expect((await run(["push"], ana)).status).toBe(0);
    const { id: newest } = renewed["checkpoint"] as { id: string };
    expect(newest).not.toBe(offer["checkpoint"]);
    expect(await offered()).toMatchObject({ checkpoint: newest, transcript: true });

    // over a checkout that is not protected yet, as a job does it
    const token = (await run(["remote", "token"], { ...ana, secret: true })).stdout.trim();
    const checkout = join(sandbox.base, "checkout");
    mkdirSync(checkout);
    writeFileSync(join(checkout, "a.txt"), "of git\n");
    const runner = { home: join(sandbox.base, "runner"), cwd: checkout, env: { BELAY_TOKEN: token } };
    const reference = `team/${String(offer["checkpoint"])}`;
    expect((await run(["clone", reference, "--into", ".", "--json"], runner)).status).toBe(3);
    expect(readFileSync(join(checkout, "a.txt"), "utf8")).toBe("of git\n");
    const over = await run(["clone", reference, "--into", ".", "--yes", "--json"], runner);
    expect(over.status, over.stderr + over.stdout).toBe(0);
    expect(readFileSync(join(checkout, "a.txt"), "utf8")).toBe("better\n");
    expect(json(over.stdout)).toMatchObject({ outcome: "applied", safetyCheckpoint: expect.any(String) });
    expect((await run(["undo", "--yes"], runner)).status).toBe(0);
    expect(readFileSync(join(checkout, "a.txt"), "utf8")).toBe("of git\n");
    const shallow = await run(["clone", reference, "../shallow", "--shallow", "--json"], runner);
    expect(shallow.status, shallow.stderr + shallow.stdout).toBe(0);
    expect(readFileSync(join(sandbox.base, "shallow/a.txt"), "utf8")).toBe("better\n");
  });
});
