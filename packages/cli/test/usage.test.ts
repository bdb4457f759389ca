/** The command line itself: help, version, mistakes. Nothing here needs a workspace. */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Sandbox, LAUNCHER } from "./sandbox.ts";

let sandbox: Sandbox;

beforeAll(() => void (sandbox = new Sandbox()));
afterAll(() => sandbox[Symbol.dispose]());

test("--version", () => {
  expect(sandbox.ok("--version")).toMatch(/^belay \d+\.\d+\.\d+\n$/);
  expect(sandbox.json(["--version"])).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
});

test("help lists every command; a command's help names its options", () => {
  const help = sandbox.ok("--help");
  for (const name of ["init", "undo", "restore", "run", "forget", "doctor", "demo"])
    expect(help).toMatch(new RegExp(`^  ${name} `, "m"));
  expect(sandbox.ok("restore", "--help")).toMatch(/^Usage: belay restore <checkpoint>[^]*--keep-new/);
  expect(sandbox.ok("help", "restore")).toBe(sandbox.ok("restore", "--help"));
  expect(sandbox.ok("help", "--help")).toBe(sandbox.ok("--help"));
});

test("[R1602] the help says how turns and times are written, wherever one can be named", () => {
  const NAMES = /T3 as `belay log`[^]*@turn-1[^]*@10m, @14:30/;
  expect(sandbox.ok("--help")).toMatch(NAMES);
  for (const name of ["show", "diff", "cat", "files", "restore", "revert", "note", "export"])
    expect(sandbox.ok(name, "--help"), name).toMatch(NAMES);
  for (const name of ["checkpoint", "undo"]) expect(sandbox.ok(name, "--help"), name).not.toMatch(NAMES);
});

test("[R264] a command's help has its exit codes and fits 80 columns where there is no terminal", () => {
  const help = sandbox.ok("restore", "--help");
  expect(help).toMatch(/^Exit codes\n {2}0 +done[^]*^ {2}3 +refused, declined[^]*^ {2}130 +interrupted/m);
  for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("[R264] st, ls and version are short for status, list and --version", async () => {
  using own = await Sandbox.protected();
  expect(own.ok("ls")).toBe(own.ok("list"));
  expect(own.ok("st", "-s")).toBe(own.ok("status", "-s"));
  expect(own.ok("version")).toBe(own.ok("--version"));
  expect(own.ok("st", "--help")).toBe(own.ok("status", "--help"));
  expect(own.ok("status", "--help")).toMatch(/^Also: belay st$/m);
});

test("without a command and outside a workspace there is help", () => {
  expect(sandbox.ok()).toBe(sandbox.ok("--help"));
});

test("help and mistakes do not load the engine", () => {
  for (const args of [["--version"], ["--help"], ["restore", "--help"], ["restor"], ["list", "--nope"]]) {
    expect(loadedModules(args)).not.toContain("/engine-");
  }
  // the proof that the question is asked in the right way
  expect(loadedModules(["status"])).toContain("/engine-");
});

describe("mistakes end with exit 2, a suggestion, and code USAGE", () => {
  test.each([
    [["lst"], /belay list/],
    [["rollback", "3"], /belay restore/],
    [["frobnicate"], /--help/],
    [["constructor"], /--help/],
    [["list", "--limt", "3"], /--limit/],
    [["list", "--limit"], /--limit=<n>/],
    [["list", "--limit", "0"], /--limit 20/],
    [["list", "--kind", "nonsense"], /manual/],
    [["list", "extra"], /Usage: belay list/],
    [["restore"], /Usage: belay restore/],
    [["restore", "1", "--with-conversation", "--conversation-only"], /one of them/],
    [["thread"], /Usage: belay thread/],
    [["thread", "x", "--limit", "many"], /--limit/],
    [["approve", "extra"], /Usage: belay approve/],
    [["reset", "extra"], /Usage: belay reset/],
    [["note", "1"], /Usage: belay note/],
    [["rename", "1"], /Usage: belay rename/],
    [["tag", "1"], /Usage: belay tag/],
    [["untag"], /Usage: belay untag/],
    [["search"], /Usage: belay search/],
    [["search", " "], /Usage: belay search/],
    [["show", "1", "2"], /Usage: belay show/],
    [["log", "-p", "--stat"], /one of them/],
    [["log", "--since", "soon"], /14:30/],
    [["attach"], /Usage: belay attach/],
    [["export"], /Usage: belay export/],
    [["import"], /Usage: belay import/],
    [["import", "nonsense", "."], /moldable/],
    [["forget"], /Name a path or a checkpoint/],
    [["run"], /Usage: belay run/],
    [["diff", "1", "2", "3", "--", "a.txt"], /after --/],
    [["diff", "--stat", "--name-only"], /one of them/],
    [["prune", "--policy", "nonsense"], /code-buddy/],
    [["config", "no.such.key", "1"], /limits\.fileBytes/],
    [["config", "limits.fileByte"], /limits\.fileBytes/],
    [["export", "1", "--tar", "x", "--patch"], /one of them/],
    [["--nonsense", "list"], /--help/],
  ])("belay %j", (args, hint) => {
    expect(sandbox.error(args, 2)).toMatchObject({
      code: "USAGE",
      message: expect.any(String),
      hint: expect.stringMatching(hint),
    });
  });

  test("people get what happened and what to do, on stderr", () => {
    expect(sandbox.belay(["lst"])).toEqual({
      status: 2,
      stdout: "",
      stderr: 'belay: Unknown command "lst".\n→ Did you mean `belay list`?\n',
    });
    const told = sandbox.belay(["status"]);
    expect(told).toMatchObject({ status: 4, stdout: "" });
    expect(told.stderr).toMatch(/^belay: .+ Nothing was changed\.\n→ `belay init` .+\n$/);
  });

  test.each(["import"])("%s comes later and is unknown until then", (name) => {
    expect(sandbox.belay([name])).toMatchObject({ status: 2, stdout: "" });
  });
});

test.each([
  [["status"]],
  [["checkpoint"]],
  [["restore", "@"]],
  [["undo"]],
  [["note", "@", "x"]],
  [["forget", "x"]],
  [["export", "@", "--patch"]],
  [["run", "--", "true"]],
])("an unprotected directory: belay %j ends with exit 4 and says what to do", (args) => {
  const hint = expect.stringContaining("belay init");
  expect(sandbox.error(args, 4)).toMatchObject({ code: "WORKSPACE_NOT_FOUND", hint, candidates: [] });
});

/** The files that a command line loads, as Node reports them. */
function loadedModules(args: readonly string[]): string {
  const hook = `import { registerHooks } from "node:module"; registerHooks({ load(url, context, next) { process.stderr.write(url + "\\n"); return next(url, context); } });`;
  const imported = `data:text/javascript,${encodeURIComponent(hook)}`;
  const options = { cwd: sandbox.project, env: sandbox.environment, encoding: "utf8" } as const;
  return spawnSync(process.execPath, ["--import", imported, LAUNCHER, ...args], options).stderr;
}

test.skipIf(process.platform !== "linux")(
  "a home where nothing can be made is refused, not waited for",
  () => {
    const told = sandbox.belay(["--home", "/proc/nothing/here", "init", "--no-agents", "--yes"]);
    expect(told.status).toBe(1);
    expect(told.stderr).toContain("/proc/nothing");
    // a command that only looks makes no home, and so needs none
    expect(sandbox.belay(["--home", "/proc/nothing/here", "status"]).status).toBe(4);
  },
);
