/** Notices on the desktop, shown by a program of that name that writes down what it was told. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { noticeCommand } from "../src/notices/notice-command.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let bin: string;

beforeEach(() => {
  sandbox = new Sandbox({ "a.txt": "one\n" });
  bin = join(sandbox.base, "bin");
  mkdirSync(bin);
});
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

/** Puts a program in the place of `notify-send`. */
function notifySend(script: string): void {
  writeFileSync(join(bin, "notify-send"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "notify-send"), 0o755);
}

const told = () => join(sandbox.base, "told");
/** Writes its words down, one a line, then an empty line; the file appears whole. */
const WRITES_DOWN = () => `printf '%s\\n' "$@" '' >>'${told()}'`;

/** The words of every notice so far. */
function notices(): string[][] {
  if (!existsSync(told())) return [];
  return readFileSync(told(), "utf8")
    .split("\n\n")
    .filter((each) => each !== "")
    .map((each) => each.trim().split("\n"));
}

const env = () => ({ PATH: `${bin}:/usr/bin:/bin`, BELAY_WAIT_MS: "30000" });

function hook(name: string, more: Record<string, unknown> = {}): { systemMessage?: string } {
  const input = JSON.stringify({ hook_event_name: name, session_id: "s1", cwd: sandbox.project, ...more });
  const ran = sandbox.belay(["hook", "claude-code"], { input, env: env() });
  expect(ran.status).toBe(0);
  return JSON.parse(ran.stdout) as { systemMessage?: string };
}

function write(id: string, content: string): { systemMessage?: string } {
  const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: id };
  hook("PreToolUse", call);
  sandbox.write("a.txt", content);
  return hook("PostToolUse", call);
}

async function started(): Promise<void> {
  await sandbox.protect();
  expect(sandbox.belay(["start"], { env: env() }).status).toBe(0);
}

async function shown(number: number): Promise<void> {
  await expect.poll(() => notices().length, { message: `${number} notices` }).toBeGreaterThanOrEqual(number);
}

describe.skipIf(process.platform !== "linux")("[R312] with the resident process", () => {
  test("off: none; switched on while it runs: the end of a turn, without its prompt", async () => {
    notifySend(WRITES_DOWN());
    await started();
    hook("UserPromptSubmit", { prompt: "the secret plan", prompt_id: "p1" });
    write("t1", "two\n");
    hook("Stop");
    expect(sandbox.ok("config", "notices.desktop", "on")).toContain("on");
    await new Promise((done) => setTimeout(done, 4000));
    expect(notices()).toEqual([]);
    hook("UserPromptSubmit", { prompt: "the secret plan", prompt_id: "p2" });
    write("t2", "three\n");
    hook("Stop");
    await shown(1);
    expect(notices()[0]).toEqual([
      "--app-name=Belay",
      "--urgency=normal",
      "--",
      "Belay: project",
      "claude-code finished a turn: 1 file changed.",
    ]);
    expect(readFileSync(told(), "utf8")).not.toMatch(/secret|a\.txt/);
    await sandbox.verify();
  });

  test("a capture that failed is told at once, and once; a late one too; the directory's name is no option and no markup", async () => {
    const hostile = join(sandbox.base, "--help <b>&amp; x");
    renameSync(sandbox.project, hostile);
    Object.defineProperty(sandbox, "project", { value: hostile });
    notifySend(WRITES_DOWN());
    await sandbox.protect();
    sandbox.ok("config", "notices.desktop", "on");
    expect(sandbox.belay(["start"], { env: env() }).status).toBe(0);
    hook("UserPromptSubmit", { prompt: "one", prompt_id: "p1" });
    sandbox.ok("config", "disk.capBytes", "1");
    expect(write("t1", "x".repeat(100_000)).systemMessage).toContain("may not be captured");
    await shown(1);
    const failed = notices()[0]!;
    expect(failed.slice(1)).toEqual([
      "--urgency=critical",
      "--",
      "Belay: --help <b>&amp; x",
      "A step of claude-code was not captured. `belay doctor` says why.",
    ]);
    write("t2", "y".repeat(100_000));
    sandbox.ok("config", "disk.capBytes", "--unset");
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { id } = await workspace.threads.open({ agent: "<i>agent</i>", externalId: "late" });
    await workspace.turns.prompt(id, { content: "late" });
    await workspace.turns.beginTool(id, { tool: "Bash", toolUseId: "late" });
    const deadline = { at: Date.now() - 60_000, reason: "late" as const };
    sandbox.write("late.txt", "late\n");
    await workspace.turns.endTool(id, { toolUseId: "late", deadline });
    const texts = () => notices().map((words) => words.at(-1));
    const late = /^A checkpoint of &lt;i&gt;agent&lt;\/i&gt; came late: \d files? marked in it\.$/m;
    await expect.poll(() => texts().join("\n")).toMatch(late);
    expect(texts().filter((text) => text!.includes("not captured"))).toHaveLength(1);
  });

  test.each([
    ["missing", undefined],
    ["failing", "exit 1"],
    ["hanging", "sleep 600"],
  ])("a notice program that is %s delays no capture and fails none", async (_, script) => {
    if (script !== undefined) notifySend(script);
    await sandbox.protect();
    sandbox.ok("config", "notices.desktop", "on");
    expect(sandbox.belay(["start"], { env: env() }).status).toBe(0);
    for (const turn of ["1", "2"]) {
      expect(hook("UserPromptSubmit", { prompt: "go", prompt_id: turn }).systemMessage).toBeUndefined();
      expect(write(turn, `${turn}\n`).systemMessage).toBeUndefined();
      expect(hook("Stop").systemMessage).toBeUndefined();
    }
    expect(sandbox.json(["log"]).rows.filter(({ kind }: { kind: string }) => kind === "turn")).toHaveLength(
      2,
    );
    await sandbox.verify();
  });
});

describe("[R312] the words of a notice", () => {
  const notice = { title: "Belay: -x\u001b]0;t\u0007", text: "<b>-e</b> & \u202e", isUrgent: false };

  test("are arguments of a script on macOS, never a part of it", () => {
    const { program, words } = noticeCommand(notice, "darwin")!;
    expect(program).toBe("osascript");
    const end = words.indexOf("--");
    expect(
      words
        .slice(0, end)
        .filter((_, at) => at % 2 === 1)
        .join("\n"),
    ).not.toContain("-x");
    expect(words.slice(end)).toHaveLength(3);
  });

  test("have no control or direction characters and no markup on Linux; other systems have no program", () => {
    const { words } = noticeCommand(notice, "linux")!;
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(words.join("")).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(words.at(-1)).toMatch(/^&lt;b&gt;-e&lt;\/b&gt; &amp; /);
    expect(noticeCommand(notice, "win32")).toBeUndefined();
  });
});
