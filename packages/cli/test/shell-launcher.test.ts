/**
 * `bin/belay`, which npm links: it finds the Node that runs the command and becomes it. The command here only reports
 * how it was started. The Nodes are scripts that name themselves, or this test's own Node.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const BIN = join(import.meta.dirname, "..", "bin");

/** Prints the process and its words; `exit <n>` ends with n, `wait` reports the signal it gets. */
const COMMAND = `
const [what, ...rest] = process.argv.slice(2);
if (what === "exit") process.exit(Number(rest[0]));
if (what === "wait") {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => { console.log(signal); process.exit(9); });
  setInterval(() => {}, 1000);
  console.log(process.pid);
} else console.log(JSON.stringify({ file: __filename, words: process.argv.slice(2) }));
`;

let place: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "belay-shell-launcher-")));
});

afterEach(() => rmSync(place, { recursive: true }));

describe("finds its own directory", () => {
  test.each([
    ["plain", "tool"],
    ["spaces", "my own tools"],
    ["a line break", "two\nlines"],
    ["a line break at the end", "line\n"],
    ["quotes and a dollar", `it's "$HOME"`],
    ["a leading dash", "-n"],
  ])("in a directory with %s", (_, name) => {
    const launcher = install(join(place, name));
    pinNode(join(place, name));
    expect(report(launcher, ["a b", "", "*"])).toEqual({
      file: join(dirname(launcher), "belay.js"),
      words: ["a b", "", "*"],
    });
  });

  test("through npm's link, without starting a process to read it", () => {
    const launcher = install(join(place, "node_modules/@belay/cli"));
    pinNode(place);
    const link = linkTo("../@belay/cli/bin/belay", join(place, "node_modules/.bin/belay"));
    // no `readlink` and no `node` on the PATH
    expect(report(link, [], { PATH: "" })).toMatchObject({ file: join(dirname(launcher), "belay.js") });
  });

  test("through the link of a global installation", () => {
    const launcher = install(join(place, "lib/node_modules/@belay/cli"));
    pinNode(join(place, "lib/node_modules/@belay/cli"));
    const link = linkTo("../lib/node_modules/@belay/cli/bin/belay", join(place, "bin/belay"));
    expect(report(link, [], { PATH: "" })).toMatchObject({ file: join(dirname(launcher), "belay.js") });
  });

  test("through a chain of links, relative and absolute, also of directories", () => {
    const launcher = install(join(place, "real place\n"));
    pinNode(join(place, "real place\n"));
    const first = linkTo(launcher, join(place, "a/first\n"));
    linkTo(join(place, "a"), join(place, "b/elsewhere"));
    const second = linkTo("elsewhere/first\n", join(place, "b/second link"));
    const third = linkTo("../b/second link", join(place, "c/belay"));
    for (const link of [first, second, third])
      expect(report(link)).toMatchObject({ file: join(dirname(launcher), "belay.js") });
  });

  test("through a linked directory whose neighbours are not where its name says", () => {
    const launcher = install(join(place, "real/node_modules/@belay/cli"));
    pinNode(join(place, "real"));
    linkTo("../@belay/cli/bin/belay", join(place, "real/node_modules/.bin/belay"));
    linkTo(join(place, "real/node_modules/.bin"), join(place, "programs/bin"));
    expect(report(join(place, "programs/bin/belay"))).toMatchObject({
      file: join(dirname(launcher), "belay.js"),
    });
    expect(report(join(place, "programs/bin") + "/../.bin/belay")).toMatchObject({ words: [] });
  });

  test("as `sh belay` in its own directory, and by a relative path", () => {
    const launcher = install(join(place, "tool"));
    pinNode(join(place, "tool"));
    const run = (file: string, cwd: string) =>
      spawnSync("sh", [file, "x"], { encoding: "utf8", cwd, env: environment() });
    for (const ran of [run("belay", dirname(launcher)), run("tool/bin/belay", place)])
      expect(JSON.parse(ran.stdout)).toMatchObject({ words: ["x"] });
  });

  test("says in one line that a link leads to nothing it can read", () => {
    const launcher = install(join(place, "tool"));
    const link = linkTo(launcher, join(place, "link"));
    expectOneLine(run(link, [], { PATH: "" }), /cannot follow the link .*link: `readlink` fails/);
  });
});

describe("chooses a Node", () => {
  test("BELAY_NODE before the pinned one, the pinned one before the PATH", () => {
    const launcher = install(join(place, "tool"));
    const [set, path] = [namedNode("set"), namedNode("bin/node")];
    const variables = { PATH: `${dirname(path)}:${process.env["PATH"]}` };
    const words = `--v8-pool-size=1 ${join(place, "tool/bin/belay.js")} x`;
    expect(run(launcher, ["x"], { ...variables, BELAY_NODE: set }).stdout).toBe(`set ${words}\n`);
    expect(run(launcher, ["x"], variables).stdout).toBe(`bin/node ${words}\n`);
    pinNode(place);
    expect(report(launcher, ["x"], variables)).toMatchObject({ words: ["x"] });
  });

  test("the nearest pinned one, and none that cannot be run", () => {
    const launcher = install(join(place, "node_modules/belay"));
    pinNode(place);
    const near = join(place, "node_modules/belay/node_modules/node/bin/node");
    mkdirSync(dirname(near), { recursive: true });
    writeFileSync(near, "#!/bin/sh\necho near\n");
    expect(report(launcher)).toMatchObject({ words: [] });
    chmodSync(near, 0o755);
    expect(run(launcher).stdout).toBe("near\n");
  });

  test("says in one line that there is none", () => {
    const launcher = install(join(place, "tool"));
    expectOneLine(run(launcher, [], { PATH: "" }), /^belay needs Node 24 or newer.*install Node 24/);
    expectOneLine(run(launcher, [], { PATH: place }), /^belay needs Node 24 or newer/);
  });

  test("says in one line that BELAY_NODE cannot be run", () => {
    const launcher = install(join(place, "tool"));
    const missing = run(launcher, [], { BELAY_NODE: join(place, "no-such-node") });
    expectOneLine(missing, /no-such-node: install Node 24/);
  });

  test("leaves it to the command to refuse a Node that is too old", () => {
    const launcher = install(join(place, "tool"));
    copyFileSync(join(BIN, "belay.js"), join(place, "tool/bin/belay.js"));
    const claim = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } });`;
    writeFileSync(join(place, "claim.mjs"), claim);
    const old = join(place, "bin/node");
    mkdirSync(dirname(old));
    writeFileSync(old, `#!/bin/sh\nexec '${process.execPath}' --import '${join(place, "claim.mjs")}' "$@"\n`);
    chmodSync(old, 0o755);
    expectOneLine(
      run(launcher, [], { PATH: `${dirname(old)}:/usr/bin:/bin` }),
      /needs Node 24 or newer and this is 20/,
    );
  });
});

describe("is the command's process", () => {
  test("exit codes are the command's", () => {
    const launcher = install(place);
    pinNode(place);
    expect(run(launcher, ["exit", "0"]).status).toBe(0);
    expect(run(launcher, ["exit", "7"]).status).toBe(7);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s reaches the command", async (signal) => {
    const launcher = install(place);
    pinNode(place);
    const child = spawn(launcher, ["wait"], { env: environment(), stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (piece: Buffer) => {
      if (output === "") child.kill(signal);
      output += piece.toString();
    });
    const status = await new Promise((resolve) => child.on("close", resolve));
    // the command has the process id that was started
    expect({ output, status }).toEqual({ output: `${child.pid}\n${signal}\n`, status: 9 });
  });
});

/** A package with the launcher, and a command in place of the real one. */
function install(directory: string): string {
  mkdirSync(join(directory, "bin"), { recursive: true });
  const launcher = join(directory, "bin/belay");
  copyFileSync(join(BIN, "belay"), launcher);
  writeFileSync(join(directory, "bin/belay.js"), COMMAND);
  writeFileSync(join(directory, "bin/package.json"), `{ "type": "commonjs" }`);
  return launcher;
}

function pinNode(directory: string): void {
  mkdirSync(join(directory, "node_modules/node/bin"), { recursive: true });
  symlinkSync(process.execPath, join(directory, "node_modules/node/bin/node"));
}

/** A program that says its name and what it was started with. */
function namedNode(name: string): string {
  const file = join(place, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho ${name} "$@"\n`, { mode: 0o755 });
  return file;
}

function linkTo(target: string, link: string): string {
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
  return link;
}

function run(launcher: string, words: string[] = [], variables: NodeJS.ProcessEnv = {}) {
  return spawnSync(launcher, words, { encoding: "utf8", env: { ...environment(), ...variables } });
}

function report(launcher: string, words: string[] = [], variables: NodeJS.ProcessEnv = {}): unknown {
  const ran = run(launcher, words, variables);
  expect(ran).toMatchObject({ status: 0, stderr: "" });
  return JSON.parse(ran.stdout);
}

function environment(): NodeJS.ProcessEnv {
  const { BELAY_NODE: _, NODE_OPTIONS: __, ...rest } = process.env;
  return rest;
}

function expectOneLine(ran: ReturnType<typeof run>, line: RegExp): void {
  expect(ran).toMatchObject({ status: 1, stdout: "" });
  expect(ran.stderr).toMatch(/^[^\n]+\n$/);
  expect(ran.stderr).toMatch(line);
}
