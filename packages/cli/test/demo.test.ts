import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

/** Where a tour makes its directory: a place of the test's own, where no other tour is on its way. */
function placeOf(sandbox: Sandbox): string {
  const place = join(sandbox.base, "place");
  mkdirSync(place);
  return place;
}

test("the tour works without a terminal, and cleans up", () => {
  using sandbox = new Sandbox();
  const place = placeOf(sandbox);
  const { status, stdout: text } = sandbox.belay(["demo"], { env: { TMPDIR: place } });
  expect(status).toBe(0);
  for (const verb of ["init", "run", "list", "diff", "undo", "redo", "restore", "verify"])
    expect(text).toContain(`$ belay ${verb}`);
  expect(text).toMatch(/is protected/);
  expect(text).toMatch(/✓ Undone: turn of agent/);
  expect(text).toMatch(/The store is sound/);
  expect(readdirSync(place)).toEqual([]);
  expect(readdirSync(sandbox.base)).toEqual(["place", "project"]);
});

test("--json has every command with its exit code, and no process outlives the tour", () => {
  using sandbox = new Sandbox();
  const place = placeOf(sandbox);
  const { ok, scenes } = sandbox.json(["demo", "--fast"], 0, { env: { BELAY_RESIDENT: "", TMPDIR: place } });
  const { stdout } = spawnSync("ps", ["-eo", "args"], { encoding: "utf8" });
  expect(stdout.split("\n").filter((line) => line.includes(place))).toEqual([]);
  expect(ok).toBe(true);
  expect(scenes.length).toBeGreaterThanOrEqual(9);
  for (const scene of scenes)
    expect(scene).toMatchObject({ command: expect.stringMatching(/^belay /), exitCode: 0 });
});

test("--keep leaves the project, and its last line opens the page on it", () => {
  using sandbox = new Sandbox();
  const text = sandbox.ok("demo", "--fast", "--keep");
  const line = text.trim().split("\n").at(-1)!;
  const [, home, directory] = /belay --home (\S+) -C (\S+) ui$/.exec(line)!;
  try {
    expect(existsSync(`${directory!}/src/farewell.js`)).toBe(true);
    const { url } = sandbox.json(["--home", home!, "-C", directory!, "ui", "--no-open"], 0);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/w\/\w+\/#/);
  } finally {
    sandbox.belay(["--home", home!, "stop"]);
    rmSync(dirname(directory!), { recursive: true, force: true });
  }
});
