/** The compiled hook that agents run, with a resident process that this file plays and a command that says it was called. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findClient } from "../src/hooks/client-process.ts";
import { writeHook } from "../src/hooks/write-hook.ts";

const CLIENT_PROCESS = join(import.meta.dirname, "../src/hooks/client-process.ts");
const PROGRAM = join(import.meta.dirname, "../dist/belay-hook");
const CLOSERS: (() => void)[] = [];

afterEach(() => {
  for (const close of CLOSERS.splice(0)) close();
});

interface Asked {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Play = (asked: Asked) => { status?: number; answer?: string; length?: number } | undefined;

/** The hook in a home of its own. The command prints what it was given, as JSON. */
function setUp() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "belay-script-")));
  CLOSERS.push(() => rmSync(top, { recursive: true, force: true }));
  const belayHome = join(top, "home");
  const build = join(top, "build.js");
  const cli = join(top, "cli.cjs");
  mkdirSync(belayHome);
  mkdirSync(join(belayHome, "run"), { mode: 0o700 });
  writeFileSync(build, "");
  utimesSync(build, 1, 1);
  writeFileSync(
    cli,
    `if (process.env.NOISY) require("node:fs").writeSync(2, "noise");
    let read = ""; process.stdin.on("data", (d) => (read += d)).on("end", () => process.stdout.write(JSON.stringify({
      args: process.argv.slice(2), read, event: process.env.BELAY_EVENT, wait: process.env.BELAY_WAIT_MS, client: process.env.BELAY_CLIENT })));`,
  );
  const environment = ["CLAUDE", "BELAY"];
  const hook = { belayHome, node: process.execPath, cli, build, environment };
  const script = writeHook({ ...hook, program: PROGRAM });
  return { top, belayHome, build, script, hook };
}

type Setting = ReturnType<typeof setUp>;

async function playResident({ belayHome }: Setting, play: Play): Promise<Asked[]> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { url, headers } = request;
      asked.push({ url, headers, body: Buffer.concat(pieces).toString("utf8").trimEnd() });
      const said = play(asked.at(-1)!);
      if (said === undefined) return;
      const { status = 200, answer = "", length = Buffer.byteLength(answer) } = said;
      const lengths = length < 0 ? {} : { "content-length": length };
      response.writeHead(status, { connection: "close", ...lengths });
      response.end(answer);
    });
  });
  const socket = join(belayHome, "run", "resident.sock");
  await new Promise<void>((listening) => server.listen(socket, listening));
  CLOSERS.push(() => {
    server.closeAllConnections();
    server.close();
  });
  writeFileSync(join(belayHome, "run", "resident.json"), "{}");
  return asked;
}

interface Run {
  readonly output: string;
  readonly errors: string;
  readonly code: number | null;
  readonly ms: number;
}

async function run(
  { top, script }: Setting,
  input: string,
  {
    cwd = top,
    agent = "claude-code",
    env = {},
  }: { cwd?: string; agent?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Run> {
  const start = performance.now();
  const child = spawn(script, [agent], { cwd, env: { PATH: process.env["PATH"], ...env } });
  const said = { output: "", errors: "" };
  child.stdout.on("data", (piece: Buffer) => (said.output += piece.toString("utf8")));
  child.stderr.on("data", (piece: Buffer) => (said.errors += piece.toString("utf8")));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((ended) => child.on("close", ended));
  return { ...said, code, ms: performance.now() - start };
}

/** What the command says when it was called: the long way. */
function longWay({ output, errors, code }: Run): {
  read: string;
  event?: string;
  wait?: string;
  client?: string;
} {
  expect({ errors, code }).toEqual({ errors: "", code: 0 });
  const said = JSON.parse(output) as { args: string[]; read: string };
  expect(said.args[0]).toBe("hook");
  return said;
}

const EVENT = `{"text":"100% \\\\ \\"quoted\\" \${x} \`y\` ü → 漢","tool":"Bash"}`;

describe.runIf(existsSync(PROGRAM))("[R60] the hook asks the resident process itself", () => {
  test("and prints its answer, byte for byte", async () => {
    const setting = setUp();
    const answer = `{"systemMessage":"ü 100% \\\\n \\" {}"}`;
    const asked = await playResident(setting, () => ({ answer }));
    const env = { CLAUDE_X: "a = b", OTHER: "no" };
    expect(await run(setting, EVENT, { env })).toMatchObject({ output: answer, errors: "", code: 0 });
    const [{ url, headers, body }] = asked as [Asked];
    expect({ url, body }).toEqual({ url: "/api/hooks/claude-code/event", body: EVENT });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-belay-cwd": setting.top,
      "x-belay-wait": expect.stringMatching(/^\d{13}-\d+$/) as string,
      "x-belay-environment": expect.stringMatching(/^CLAUDE_X=a = b\t(?:.*\t)?BELAY_HOME=/) as string,
    });
    expect(headers["x-belay-environment"]).not.toContain("OTHER");
  });

  test.skipIf(!existsSync("/proc/self/stat"))(
    "[R121] and says which process the agent is, shells in between left out",
    async () => {
      const setting = setUp();
      const asked = await playResident(setting, () => ({ answer: "{}" }));
      const sayClient = (headers: Asked["headers"]) =>
        /BELAY_CLIENT=([^\t]*)/.exec(String(headers["x-belay-environment"]))?.[1];
      await run(setting, EVENT, { env: { BELAY_CLIENT: "1 1" } });
      const shells = join(setting.top, "sh");
      writeFileSync(shells, `#!/bin/sh\nbash -c '${setting.script} codex; true'; true\n`, { mode: 0o755 });
      await run({ ...setting, script: shells }, EVENT);
      const own = findClient(process.pid);
      expect(own).toMatch(new RegExp(`^${process.pid} \\d+$`));
      expect(asked.map(({ headers }) => sayClient(headers))).toEqual([own, own]);
    },
  );

  test("also with an event of many bytes", async () => {
    const setting = setUp();
    const asked = await playResident(setting, () => ({ answer: "{}" }));
    const event = JSON.stringify({ text: "ü".repeat(150_000) });
    expect(await run(setting, event)).toMatchObject({ output: "{}", errors: "", code: 0 });
    expect(asked[0]!.body === event).toBe(true);
  });

  test("and no longer than the agent may be held up: then it hands on the event under its name", async () => {
    const setting = setUp();
    const asked = await playResident(setting, () => undefined);
    const done = await run(setting, EVENT);
    const { read, event, wait } = longWay(done);
    expect({ read, event }).toEqual({ read: EVENT, event: asked[0]!.headers["x-belay-wait"] });
    expect(Number(wait)).toBeLessThan(500);
    expect(asked).toHaveLength(1);
  });
});

const GRANT = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`;

describe.runIf(existsSync(PROGRAM))("[R143] the hook", () => {
  test.each<[string, (run: string) => void]>([
    ["a directory that others may enter", (run) => chmodSync(run, 0o755)],
    ["a link to a directory", (run) => (renameSync(run, `${run}-2`), symlinkSync(`${run}-2`, run))],
    ["no socket", (run) => (rmSync(`${run}/resident.sock`), writeFileSync(`${run}/resident.sock`, ""))],
    [
      "a link to a socket",
      (run) => {
        renameSync(`${run}/resident.sock`, `${run}/other.sock`);
        symlinkSync(`${run}/other.sock`, `${run}/resident.sock`);
      },
    ],
  ])("sends nothing where there is %s", async (_, spoil) => {
    const setting = setUp();
    const asked = await playResident(setting, () => ({ answer: "{}" }));
    spoil(join(setting.belayHome, "run"));
    const done = longWay(await run(setting, EVENT));
    expect(done).toMatchObject({ read: EVENT });
    expect(done.event).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)("sends nothing to a socket of another user's", async () => {
    const setting = setUp();
    const asked = await playResident(setting, () => ({ answer: "{}" }));
    chownSync(join(setting.belayHome, "run", "resident.sock"), 12_345, 12_345);
    expect(longWay(await run(setting, EVENT)).read).toBe(EVENT);
    expect(asked).toEqual([]);
  });

  test.each([
    ["a permission", GRANT],
    ["a permission beside news", `{"systemMessage":"x","permissionDecision":"allow"}`],
    ["an approval", `{"decision":"approve","reason":"x"}`],
    ["a permission in a doubled key", `{"systemMessage":"x"},"permission":"allow"}`],
    ["words around it", `ok {}`],
    ["nothing", ""],
  ])("never prints %s, whichever process answered", async (_, answer) => {
    const setting = setUp();
    await playResident(setting, () => ({ answer }));
    expect(await run(setting, EVENT)).toMatchObject({ output: "{}", errors: "", code: 0 });
    const log = readFileSync(join(setting.belayHome, "agents", "trouble.log"), "utf8");
    expect(JSON.parse(log)).toMatchObject({ agent: "claude-code", problem: expect.any(String) as string });
  });
});

describe.runIf(existsSync(PROGRAM))("[R60] the hook goes the long way", () => {
  test.runIf(process.platform === "linux")("[R197] and names the agent's process on it too", async () => {
    const setting = setUp();
    const { client } = longWay(await run(setting, EVENT, { env: { BELAY_CLIENT: "1 1" } }));
    expect(client).toBe(findClient(process.pid));
  });

  test.runIf(process.platform === "linux")("[R197] whose parents are scripts of any name", () => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), "belay-client-")));
    CLOSERS.push(() => rmSync(top, { recursive: true, force: true }));
    const found = `import { findClient } from ${JSON.stringify(CLIENT_PROCESS)}; console.log(findClient(process.ppid));`;
    for (const name of ["belay-hook", "sh"]) {
      const script = join(top, name);
      writeFileSync(script, `#!/bin/sh\n'${process.execPath}' --input-type=module -e '${found}'\n:\n`, {
        mode: 0o755,
      });
      expect(execFileSync(script, { encoding: "utf8" }).trim()).toBe(findClient(process.pid));
    }
  });

  test.each<[string, Play]>([
    ["when it is refused", () => ({ status: 401, answer: "{}" })],
    ["when the answer is cut off", () => ({ answer: "{}", length: 20 })],
    ["when the answer has no length", () => ({ answer: "{}", length: -1 })],
  ])("%s", async (_, play) => {
    const setting = setUp();
    await playResident(setting, play);
    expect(longWay(await run(setting, EVENT)).read).toBe(EVENT);
  });

  test("when there is no resident process, or none any more", async () => {
    const setting = setUp();
    expect(longWay(await run(setting, EVENT))).toMatchObject({ args: ["hook", "claude-code"], read: EVENT });
    await playResident(setting, () => ({ answer: "{}" }));
    CLOSERS.splice(-1)[0]!();
    expect(longWay(await run(setting, EVENT))).toMatchObject({ args: ["hook", "claude-code"], read: EVENT });
  });

  test("when the process is of another build, or something is overdue", async () => {
    const setting = setUp();
    const asked = await playResident(setting, () => ({ answer: "{}" }));
    utimesSync(setting.build, 4e9, 4e9);
    longWay(await run(setting, EVENT));
    utimesSync(setting.build, 1, 1);
    mkdirSync(join(setting.belayHome, "agents", "overdue"), { recursive: true });
    longWay(await run(setting, EVENT));
    expect(asked).toEqual([]);
  });

  test("with what does not fit into a line", async () => {
    const setting = setUp();
    const asked = await playResident(setting, () => ({ answer: "{}" }));
    const cwd = join(setting.top, "ü dir");
    mkdirSync(cwd);
    longWay(await run(setting, EVENT, { cwd }));
    longWay(await run(setting, EVENT, { env: { CLAUDE_X: "two\nlines" } }));
    longWay(await run(setting, EVENT, { agent: "../x" }));
    expect(longWay(await run(setting, "")).read).toBe("");
    const giant = JSON.stringify({ text: "x".repeat(900_000) });
    expect(longWay(await run(setting, giant)).read.length).toBe(giant.length);
    expect(asked).toEqual([]);
  });

  test.each([
    ["no file may be written to", "ulimit -f 0;"],
    ["there is nowhere to put errors", "NOISY=1; export NOISY; exec 2>&-;"],
  ])("where %s", async (_, before) => {
    const setting = setUp();
    const noisy = join(setting.top, "noisy");
    writeFileSync(noisy, `#!/bin/sh\n${before} exec '${setting.script}' "$@"\n`, { mode: 0o755 });
    const event = JSON.stringify({ text: "x".repeat(100_000) });
    expect(longWay(await run({ ...setting, script: noisy }, event)).read).toBe(event);
  });

  test("when the agent's end of the pipe does not wait", async () => {
    const setting = setUp();
    const late = join(setting.top, "late.py");
    writeFileSync(
      late,
      `import os, subprocess, sys, time
reading, writing = os.pipe()
os.set_blocking(reading, False)
hook = subprocess.Popen([sys.argv[1], "claude-code"], stdin=reading)
time.sleep(0.2)
os.write(writing, b'{"late":1}')
os.close(writing)
hook.wait()
`,
    );
    const { stdout } = spawnSync("python3", [late, setting.script], { encoding: "utf8", cwd: setting.top });
    expect((JSON.parse(stdout) as { read: string }).read).toBe('{"late":1}');
  });

  test("where its facts are of another build, or the program was not compiled", async () => {
    const setting = setUp();
    const asked = await playResident(setting, () => ({ answer: "{}" }));
    const facts = `${setting.script}.facts`;
    writeFileSync(facts, readFileSync(facts, "utf8").replace("ask-ms=", "other="));
    expect(longWay(await run(setting, EVENT)).read).toBe(EVENT);
    expect(asked).toEqual([]);
    expect(writeHook({ ...setting.hook, program: PROGRAM })).toBe(setting.script);
    expect(await run(setting, EVENT)).toMatchObject({ output: "{}", errors: "", code: 0 });
    // as for another kind of machine
    const foreign = join(setting.top, "foreign");
    const bytes = readFileSync(PROGRAM);
    bytes.writeUInt16LE(0xffff, 18);
    writeFileSync(foreign, bytes, { mode: 0o755 });
    writeHook({ ...setting.hook, program: foreign });
    const { read, client } = longWay(await run(setting, EVENT, { env: { BELAY_CLIENT: "1 1" } }));
    expect({ read, client }).toEqual({ read: EVENT, client: "" });
    expect(asked).toHaveLength(1);
  });
});

/** The list of roots, as the engine writes it. */
function writeRoots(
  { belayHome }: Setting,
  roots: readonly (readonly [inode: bigint, path: string])[],
): void {
  writeFileSync(join(belayHome, "roots"), roots.map(([inode, path]) => `${inode} ${path}\0`).join(""));
}

describe.runIf(existsSync(PROGRAM))(
  "[R170] in a directory that is not protected the hook starts nothing",
  () => {
    function setUpPlaces() {
      const setting = setUp();
      const [project, elsewhere] = [join(setting.top, "project"), join(setting.top, "elsewhere")];
      for (const place of [join(project, "deep"), join(elsewhere, "deep")])
        mkdirSync(place, { recursive: true });
      writeRoots(setting, [[statSync(project, { bigint: true }).ino, project]]);
      return { setting, project, elsewhere };
    }

    const about = (cwd: string, more: object = {}) =>
      JSON.stringify({ session_id: "s", cwd, hook_event_name: "PreToolUse", ...more });

    test("and answers at once, whatever is protected elsewhere", async () => {
      const { setting, elsewhere } = setUpPlaces();
      for (const cwd of [elsewhere, join(elsewhere, "deep")]) {
        const event = about(cwd, { tool_input: { content: "x".repeat(100_000) } });
        expect(await run(setting, event, { cwd })).toMatchObject({ output: "{}", errors: "", code: 0 });
      }
      expect(await run(setting, EVENT, { cwd: elsewhere })).toMatchObject({ output: "{}" });
      writeRoots(setting, []);
      expect(await run(setting, about("/"), { cwd: "/" })).toMatchObject({ output: "{}" });
    });

    test("a neighbour whose name begins alike is none of the protected ones", async () => {
      const { setting, project } = setUpPlaces();
      mkdirSync(`${project}-2`);
      expect(await run(setting, EVENT, { cwd: `${project}-2` })).toMatchObject({ output: "{}" });
    });

    test("but asks when the hook, or the event, is in a protected one, by whatever name", async () => {
      const { setting, project, elsewhere } = setUpPlaces();
      const link = join(setting.top, "link");
      symlinkSync(join(project, "deep"), link);
      for (const cwd of [project, join(project, "deep"), link]) {
        longWay(await run(setting, about(elsewhere), { cwd }));
        longWay(await run(setting, about(cwd), { cwd: elsewhere }));
        const event = JSON.stringify({ directory: cwd });
        expect(longWay(await run(setting, event, { cwd: elsewhere })).read).toBe(event);
      }
    });

    test("and when it cannot know", async () => {
      const { setting, project, elsewhere } = setUpPlaces();
      const there = { cwd: elsewhere };
      longWay(await run(setting, about(join(elsewhere, "gone")), there));
      longWay(await run(setting, about(`${elsewhere}/\u0001`), there));
      longWay(
        await run(setting, `{"cwd":"${project}/\\u00f6","tool_input":{"directory":"${elsewhere}"}}`, there),
      );
      longWay(await run(setting, JSON.stringify({ text: "x".repeat(9000), cwd: elsewhere }), there));
      longWay(await run(setting, about(elsewhere, { hook_event_name: "UserPromptExpansion" }), there));
      longWay(await run(setting, about(elsewhere), { ...there, agent: "cursor" }));
      writeFileSync(join(elsewhere, ".git"), "gitdir: /x/.git/worktrees/elsewhere\n");
      longWay(await run(setting, about(elsewhere), there));
      rmSync(join(elsewhere, ".git"));
      expect(await run(setting, about(elsewhere), there)).toMatchObject({ output: "{}" });
      // a protected directory was moved: here, or to somewhere else
      const moved = join(setting.top, "moved");
      renameSync(project, moved);
      expect(await run(setting, about(elsewhere), there)).toMatchObject({ output: "{}" });
      longWay(await run(setting, about(join(moved, "deep")), { cwd: moved }));
      rmSync(join(setting.belayHome, "roots"));
      longWay(await run(setting, about(elsewhere), there));
    });
  },
);
