/** Long output on a terminal goes through a pager, as git's does; colours follow the user's choice. */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setTimeout as pause } from "node:timers/promises";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;
const hasLess = hasTmux && spawnSync("less", ["--version"]).status === 0;

/** Tells which lines came through it. */
const MARKING = "sed s/^/paged:/";
const CSI = "\u001b[";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.protected();
  for (let each = 1; each <= 30; each += 1) await sandbox.checkpoint({ name: `number ${each}` });
  sandbox.write("a.txt", "changed\n");
});
afterAll(async () => {
  sandbox.belay(["stop"]);
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const words = (args: readonly string[]) =>
  [process.execPath, LAUNCHER, ...args].map((word) => `'${word}'`).join(" ");

const environment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const { PAGER: _, BELAY_PAGER: __, LESS: ___, FORCE_COLOR: ____, ...rest } = sandbox.environment;
  return { ...rest, TERM: "xterm", BELAY_RESIDENT: "off", ...env };
};

/** Runs on a terminal of 80 columns and 24 rows. */
function onTerminal(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const ran = spawnSync("script", ["-qec", `stty cols 80 rows 24; ${words(args)}`, "/dev/null"], {
    cwd: sandbox.project,
    env: environment(env),
    encoding: "utf8",
  });
  return { status: ran.status, screen: ran.stdout.replaceAll("\r\n", "\n") };
}

describe.skipIf(!hasScript)("[R260] the pager", () => {
  test("gets output that is longer than the window, and nothing that fits", () => {
    const long = onTerminal(["list", "--all"], { PAGER: MARKING });
    expect(long.screen.match(/^paged:/gm)).toHaveLength(31);
    expect(onTerminal(["list", "--limit", "5"], { PAGER: MARKING }).screen).not.toContain("paged:");
    expect(onTerminal(["--help"], { PAGER: MARKING }).screen).toContain("paged:");
  });

  test("gets warnings in their place", () => {
    const { screen } = onTerminal(["list", "--limit", "25"], { PAGER: MARKING });
    expect(screen.trimEnd().split("\n").at(-1)).toMatch(/^paged:.*… and more/);
  });

  test.each([
    ["BELAY_PAGER comes before PAGER", { BELAY_PAGER: MARKING, PAGER: "false" }, true],
    ["PAGER is used without it", { PAGER: MARKING }, true],
    ["an empty BELAY_PAGER is none", { BELAY_PAGER: "", PAGER: MARKING }, false],
    ["cat is none", { BELAY_PAGER: "cat", PAGER: MARKING }, false],
  ])("%s", (_, env, paged) => {
    const { status, screen } = onTerminal(["list", "--all"], env);
    expect({ status, paged: screen.includes("paged:") }).toEqual({ status: 0, paged });
    expect(screen).toContain("number 1");
  });

  test("is not used with --no-pager, --json, or without a terminal", () => {
    for (const option of ["--no-pager", "--json"])
      expect(onTerminal(["list", "--all", option], { PAGER: MARKING }).screen).not.toContain("paged:");
    const piped = sandbox.belay(["list", "--all"], { env: environment({ PAGER: MARKING }) });
    expect(piped.stdout).not.toContain("paged:");
  });

  test("that cannot be started or ends early costs neither output nor exit code", () => {
    const missing = onTerminal(["list", "--all"], { PAGER: "no-such-pager" });
    expect(missing.status).toBe(0);
    expect(missing.screen).toMatch(/number 30[^]*number 1\b/);
    expect(onTerminal(["list", "--all"], { PAGER: "head -1" })).toMatchObject({ status: 0 });
    expect(onTerminal(["list", "--all"], { PAGER: "exit 3" })).toEqual({ status: 0, screen: "" });
  });

  test("the exit code is the command's; an error comes after the pager", () => {
    const { status, screen } = onTerminal(["list", "--kind", "nonsense"], { PAGER: MARKING });
    expect(status).toBe(2);
    expect(screen).toMatch(/belay:.* Unknown kind/);
  });

  test("a command that the resident process runs is paged by its caller", async () => {
    sandbox.json(["start"]);
    await expect.poll(() => sandbox.json(["status"]).resident.watching).toBe(true);
    const { screen } = onTerminal(["list", "--all"], { PAGER: MARKING });
    expect(screen.match(/^paged:/gm)).toHaveLength(31);
    expect(onTerminal(["status"], { PAGER: MARKING }).screen).not.toContain("paged:");
  });
});

describe.skipIf(!hasScript)("[R261] colours", () => {
  test.each([
    ["--color=never", {}, ["--color=never"], false],
    ["--no-color", {}, ["--no-color"], false],
    ["--color=always, before NO_COLOR", { NO_COLOR: "1" }, ["--color=always"], true],
    ["NO_COLOR, before FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, [], false],
    ["CLICOLOR=0", { CLICOLOR: "0" }, [], false],
    ["FORCE_COLOR=0", { FORCE_COLOR: "0" }, [], false],
    ["nothing", {}, [], true],
    ["--color=auto", {}, ["--color=auto"], true],
  ])("on a terminal: %s", (_, env, options, coloured) => {
    expect(onTerminal(["list", ...options], env).screen.includes(CSI)).toBe(coloured);
  });

  test.each([
    ["--color=always", {}, ["--color=always"], true],
    ["FORCE_COLOR", { FORCE_COLOR: "1" }, [], true],
    ["CLICOLOR_FORCE", { CLICOLOR_FORCE: "1" }, [], true],
    ["nothing", {}, [], false],
  ])("in a pipe: %s", (_, env, options, coloured) => {
    for (const command of ["list", "diff"]) {
      const { stdout } = sandbox.belay([command, ...options], { env: environment(env) });
      expect({ command, coloured: stdout.includes(CSI) }).toEqual({ command, coloured });
    }
  });

  test("go through the pager", () => {
    const [first] = onTerminal(["list", "--all"], { PAGER: MARKING }).screen.split("\n");
    expect(first).toContain("paged:");
    expect(first).toContain(CSI);
  });

  test("another choice is refused", () => {
    expect(sandbox.error(["list", "--color=sometimes"], 2).message).toContain("auto, always or never");
  });
});

describe.skipIf(!hasLess)("[R260] less, in a window of 80 × 24", () => {
  test("shows colours; Ctrl-C leaves it running; q ends it, the text stays and the exit code is 0", async () => {
    using window = new TmuxWindow(["sh"], { cwd: sandbox.project, env: environment({}) });
    window.type(`${words(["list", "--all"])}; echo code $?`, "Enter");
    await expect.poll(() => window.screen()).toMatch(/number 10[^]*\n:$/);
    window.type("C-c");
    await pause(200);
    window.type("G");
    await expect.poll(() => window.screen()).toMatch(/Before|initial|\(END\)/i);
    window.type("q");
    await expect.poll(() => window.screen()).toMatch(/code 0/);
    expect(window.screen()).toContain("number 3");
  });

  test("what fits is printed and the prompt is back at once", async () => {
    using window = new TmuxWindow(["sh"], { cwd: sandbox.project, env: environment({}) });
    window.type(`clear; ${words(["list", "--limit", "3"])}; echo code $?`, "Enter");
    await expect.poll(() => window.screen()).toMatch(/number 30[^]*code 0/);
  });
});
