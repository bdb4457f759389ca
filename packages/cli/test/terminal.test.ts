/** What people see on a real terminal: questions, colours, widths. `script` provides the terminal. */
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { displayWidth } from "@belay/tui/text";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected();
  sandbox.write("a.txt", "changed\n");
  sandbox.write("src/b.txt", "changed\n");
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** Runs on a terminal of 60 columns, or as many as `COLUMNS` says, and types the given text. */
function onTerminal(
  args: string[],
  typed = "",
  { COLUMNS = "60", ...env }: NodeJS.ProcessEnv = {},
): { status: number | null; screen: string } {
  const words = [process.execPath, LAUNCHER, ...args].map((word) => `'${word}'`).join(" ");
  const ran = spawnSync("script", ["-qec", `stty cols ${COLUMNS}; ${words}`, "/dev/null"], {
    cwd: sandbox.project,
    // a pager would wait for a key
    env: { ...sandbox.environment, TERM: "xterm", PAGER: "cat", ...env },
    input: typed,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { status: ran.status, screen: ran.stdout.replaceAll("\r\n", "\n") };
}

describe.skipIf(!hasScript)("on a terminal", () => {
  test("a restore of several files shows the plan and asks; yes does it", () => {
    const { status, screen } = onTerminal(["restore", "1"], "y\n");
    expect(status).toBe(0);
    expect(screen).toMatch(/a\.txt[^]*src\/b\.txt[^]*Change 2 files: 2 changed\?[^]*\[y\/N\/d\][^]*Restored/);
    expect(sandbox.read("a.txt")).toBe("one\n");
  });

  test.each(["n\n", "\n", "\u0004", "what?\n"])("answering %j changes nothing: exit 3", (typed) => {
    const { status, screen } = onTerminal(["restore", "1"], typed);
    expect(status).toBe(3);
    expect(screen).toMatch(/Nothing was changed/);
    expect(sandbox.read("a.txt")).toBe("changed\n");
  });

  test("--json never asks, also on a terminal", () => {
    const { status, screen } = onTerminal(["restore", "1", "--json"], "y\n");
    expect(status).toBe(3);
    expect(screen).toMatch(/CONFIRMATION_REQUIRED/);
    expect(sandbox.read("a.txt")).toBe("changed\n");
  });

  test("colours, unless NO_COLOR or a dumb terminal says no", () => {
    expect(onTerminal(["diff"]).screen).toContain("\u001b[32m+changed\u001b[39m");
    expect(onTerminal(["diff"], "", { NO_COLOR: "1" }).screen).not.toContain("\u001b[");
    expect(onTerminal(["list"], "", { TERM: "dumb" }).screen).not.toContain("\u001b[");
  });

  test("rows stay on their line", () => {
    sandbox.ok("checkpoint", "-m", "a name that is much too long for a terminal of sixty columns");
    const lines = onTerminal(["list"], "", { NO_COLOR: "1" }).screen.trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines[0]).toContain("…");
  });

  test.each(["list", "search name", "config", "config limits.fileBytes", "workspaces", "threads"])(
    "so they do at 40 columns, with less in them: %s",
    (words) => {
      const args = words.split(" ");
      sandbox.ok("checkpoint", "-m", "a name that is much too long for a terminal of forty columns");
      sandbox.ok("run", "--", "sh", "-c", "echo something that does not fit into forty columns > a.txt");
      const env = { NO_COLOR: "1", COLUMNS: "40" };
      const lines = onTerminal(args, "", env).screen.trimEnd().split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
      const whole = sandbox
        .ok(...args)
        .trimEnd()
        .split("\n");
      expect(lines).toHaveLength(whole.length);
      expect(Math.max(...whole.map((line) => line.length))).toBeGreaterThan(40);
      expect(whole.join("")).not.toContain("…");
    },
  );

  test("so do threads", () => {
    sandbox.ok("run", "--", "sh", "-c", "echo something that does not fit into sixty columns > a.txt");
    const lines = onTerminal(["threads"], "", { NO_COLOR: "1" }).screen.trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines[0]).toMatch(/sh .*echo.*…/);
  });

  test("no escape sequence from a file reaches the terminal", () => {
    sandbox.write("evil\u001b]0;title\u0007.txt", "content \u001b[2J\u009b31m\n");
    const { screen } = onTerminal(["diff"]);
    expect(screen).toContain("\\x1b[2J");
    expect(screen).not.toContain("\u001b[2J");
    expect(screen).not.toContain("\u001b]0;");
  });

  test("[R264] what agents start says what it is for", () => {
    const mcp = onTerminal(["mcp"]);
    expect(mcp.status).toBe(2);
    expect(mcp.screen).toMatch(/is for agents[^]*`claude mcp add belay -- belay mcp`/);
    expect(onTerminal(["hook"]).screen).toContain("This command is for agents");
    const hook = onTerminal(["hook", "claude-code"]);
    expect(hook.status).toBe(0);
    expect(hook.screen).toMatch(/is for agents[^]*belay init/);
  });

  test("an archive is not poured onto a terminal", () => {
    const { status, screen } = onTerminal(["export", "1"]);
    expect(status).toBe(2);
    expect(screen).toMatch(/--tar <file>/);
  });

  test("[R262] a long restore shows how far it is, at what rate and when it ends, and leaves no trace of that", () => {
    const names = Array.from({ length: 2000 }, (_, number) => `many/${number}`);
    for (const name of names) sandbox.write(name, "0\n");
    sandbox.ok("checkpoint", "-m", "many");
    for (const name of names) sandbox.write(name, "1\n");
    const drawnBy = (args: string[], COLUMNS: string) => {
      const { status, screen } = onTerminal([...args, "--yes"], "", { COLUMNS });
      expect(status).toBe(0);
      const [, ...drawn] = screen.split("\r\u001b[K");
      expect(drawn.pop()).not.toMatch(/^(?:Saving|Preparing|Writing|Clearing)/);
      for (const line of drawn) expect(displayWidth(line)).toBeLessThan(Number(COLUMNS));
      return drawn.join("\n");
    };
    const restored = drawnBy(["restore", "many", "many/"], "100");
    expect(restored).toMatch(/^(?:Preparing|Writing) ━*─* [\d,]+ of 2,000 files, [\d,]+\/s, \d+ s left$/m);
    // it stays on the screen while the restore is recorded, and promises nothing for that
    expect(restored).toMatch(/^Writing ━+ 2,000 of 2,000 files, [\d,]+\/s$/m);
    expect(restored).toMatch(/^Clearing up ━+ 2,000 of 2,000 files, [\d,]+\/s$/m);
    expect(drawnBy(["undo"], "40")).toMatch(/^(?:Preparing|Writing) [\d,]+ of 2,000 files/m);
    expect(onTerminal(["redo", "--yes", "--quiet"]).screen).not.toMatch(/Saving|Preparing|Writing|Clearing/);
  });
});
