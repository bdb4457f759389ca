/** [R168] Secrets in what people and agents said are shown by no command; files are shown as they are. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(() => sandbox[Symbol.dispose]());

const SECRET = "hunter2-and-more";

async function converse(): Promise<string> {
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const { id } = await workspace.threads.open({ agent: "a", externalId: "one" });
  await workspace.turns.prompt(id, { content: `Log in with --password ${SECRET} and go on` });
  await workspace.turns.beginTool(id, {
    tool: "Bash",
    toolUseId: "t",
    summary: `mysql -u root -p${SECRET} app`,
  });
  sandbox.write("settings.env", `PASSWORD=${SECRET}\n`);
  sandbox.write("b.txt", "b\n");
  await workspace.turns.endTool(id, { toolUseId: "t" });
  await workspace.threads.addMessage(id, { role: "assistant", content: `Done, TOKEN=${SECRET} works` });
  await workspace.turns.end(id);
  return id;
}

test("[R168] every command that shows words, as text and as JSON", async () => {
  const thread = await converse();
  sandbox.ok("note", "@", `the PASSWORD=${SECRET}`);
  for (const json of [[], ["--json"]]) {
    const ran = sandbox.belay([
      ...json,
      "run",
      "--",
      "sh",
      "-c",
      `true --password ${SECRET}; echo x >> a.txt`,
    ]);
    expect(`${ran.stdout}${ran.stderr}`).not.toContain(SECRET);
    expect(ran.stderr).toMatch(json.length === 0 ? /changed/ : /--password \[redacted\]/);
  }
  const commands = [
    [],
    ["list", "--all"],
    ["log"],
    ["log", "--all"],
    ["show", "T1"],
    ["status", "--short"],
    ["threads"],
    ["thread", thread],
    ["status"],
    ["show", "@"],
    ["show", "2"],
    ["search", "Bash"],
    ["undo", "--dry-run"],
    ["undo", "2", "--dry-run"],
    ["restore", "2", "--dry-run"],
    ["prune", "--dry-run"],
    ["doctor"],
  ];
  for (const command of commands) {
    const [text, json] = [sandbox.belay(command), sandbox.belay(["--json", ...command])];
    const shown = [text, json].map(({ stdout, stderr }) => `${stdout}${stderr}`).join("");
    expect([command, shown.includes(SECRET)]).toEqual([command, false]);
    expect(shown.length).toBeGreaterThan(10);
  }
  expect(sandbox.ok("thread", thread)).toMatch(/--password \[redacted\] and go on/);
  expect(sandbox.json(["search", SECRET]).checkpoints.length).toBeGreaterThan(0);
  await sandbox.verify();
});

test("[R168] an exported repository is without them, a diff and a patch are whole", async () => {
  const thread = await converse();
  sandbox.ok("approve", "--thread", thread, "-m", `works with PASSWORD=${SECRET}`, "--yes");
  const repository = join(sandbox.base, "exported");
  sandbox.ok("export", "--thread", thread, "--git", repository);
  const log = execFileSync("git", ["-C", repository, "log", "--all", "--format=%B"], { encoding: "utf8" });
  expect(log).not.toContain(SECRET);
  expect(log).toContain("works with PASSWORD=[redacted]");
  expect(log).toContain("--password [redacted]");
  expect(sandbox.ok("diff", "1", "@")).toContain(`+PASSWORD=${SECRET}`);
  expect(JSON.stringify(sandbox.json(["diff", "1", "@"]))).toContain(`+PASSWORD=${SECRET}`);
  expect(sandbox.ok("export", "4", "--patch")).toContain(`PASSWORD=${SECRET}`);
});

test("[R168] a bundle is without them: title, messages, approvals, names, notes and tags; its files are whole", async () => {
  const thread = await converse();
  sandbox.ok("checkpoint", "--thread", thread, "-m", `PASSWORD=${SECRET}`);
  sandbox.ok("note", "@", `the PASSWORD=${SECRET}`);
  sandbox.ok("tag", "@", `PASSWORD=${SECRET}`);
  sandbox.ok("approve", "--thread", thread, "-m", `works with PASSWORD=${SECRET}`, "--yes");
  const bundle = join(sandbox.base, "bundle.tar");
  sandbox.ok("export", "--thread", thread, "--bundle", bundle);
  const read = (member: string) => execFileSync("tar", ["-xOf", bundle, member], { encoding: "utf8" });
  const words = read("thread.json");
  expect(words).not.toContain(SECRET);
  expect(words.split("PASSWORD=[redacted]").length).toBeGreaterThan(4);
  expect(words.split("--password [redacted]").length).toBeGreaterThan(2);
  const members = execFileSync("tar", ["-tf", bundle], { encoding: "utf8" }).trim().split("\n");
  const contents = members.filter((member) => member !== "thread.json").map(read);
  expect(contents).toContain(`PASSWORD=${SECRET}\n`);
  await sandbox.verify();
});

test("[R168] what is watched is without them", async () => {
  await converse();
  for (const json of [[], ["--json"]]) {
    const child = spawn(process.execPath, [LAUNCHER, "log", "--watch", ...json], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    const ended = once(child, "close");
    try {
      await expect.poll(() => text).toContain("Log in with");
    } finally {
      child.kill("SIGINT");
      await ended;
    }
    expect(text).toContain("--password [redacted]");
    expect(text).not.toContain(SECRET);
  }
});

test("[R168] what an agent printed is shown without them, also where the pieces of a reader meet", async () => {
  const before = `${"x".repeat(65_530)}\n`;
  writeFileSync(join(sandbox.base, "printed"), `${before}PASSWORD=${SECRET}\n`);
  const agents = { stub: { command: ["cat", join(sandbox.base, "printed")] } };
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify({ agents }));
  const { runs } = sandbox.json(["agents", "run", "--in-place", "--yes", "--agent", "stub", "-p", "print"]);
  const shown = [
    sandbox.ok("agents", "logs", runs[0].id),
    sandbox.json(["agents", "logs", runs[0].id]).text as string,
  ];
  expect(shown.map((text) => text === `${before}PASSWORD=[redacted]\n`)).toEqual([true, true]);
  await sandbox.verify();
});
