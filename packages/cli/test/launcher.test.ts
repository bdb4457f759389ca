/**
 * The launcher in a package of its own, with a command that only tells what it was started with. Old
 * Nodes are the real ones on the PATH, and one that always exists: this Node claiming to be version 20.
 */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const LAUNCHER = join(import.meta.dirname, "..", "bin", "belay.js");

const COMMAND = `
exports.main = async (argv) => {
  const [what, ...rest] = argv;
  if (what === "tell") {
    const ownVariables = Object.keys(process.env).filter((name) => name.startsWith("BELAY_SECOND"));
    console.log(JSON.stringify({ node: process.versions.node, rest, ownVariables }));
  }
  if (what === "exit") return Number(rest[0]);
  if (what === "say") process[rest[0]].write("x".repeat(Number(rest[1])));
  if (what === "linger") setInterval(() => {}, 1000);
  if (what === "die") process.kill(process.pid, rest[0]);
  if (what === "wait") {
    const got = new Promise((resolve) => process.on(rest[0], () => resolve(rest[0])));
    const timer = setInterval(() => {}, 1000);
    console.log("ready");
    console.log(await got);
    clearInterval(timer);
    return 9;
  }
  return 0;
};
`;

const CLAIM_20 = `
Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } });
`;

let directory: string;
let launcher: string;
let claiming20: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "belay-launcher-"));
  for (const name of ["bin", "dist", "cache"]) mkdirSync(join(directory, name));
  launcher = join(directory, "bin", "belay.js");
  copyFileSync(LAUNCHER, launcher);
  writeFileSync(join(directory, "package.json"), `{ "type": "commonjs" }`);
  writeFileSync(join(directory, "dist", "main.js"), COMMAND);
  writeFileSync(join(directory, "claim-20.mjs"), CLAIM_20);
  claiming20 = join(directory, "node-claiming-20");
  const script = `#!/bin/sh\nexec '${process.execPath}' --import '${join(directory, "claim-20.mjs")}' "$@"\n`;
  writeFileSync(claiming20, script, { mode: 0o755 });
});

afterEach(() => rmSync(directory, { recursive: true }));

describe("under Node 24", () => {
  test("passes arguments and the exit code", () => {
    const told = run(process.execPath, ["tell", "a b", "--c"]);
    expect(JSON.parse(told.stdout)).toEqual({
      node: process.versions.node,
      rest: ["a b", "--c"],
      ownVariables: [],
    });
    expect(told).toMatchObject({ status: 0, stderr: "" });
    expect(run(process.execPath, ["exit", "5"]).status).toBe(5);
  });

  test("ends when the command does, whatever is still open", () => {
    expect(run(process.execPath, ["linger"])).toMatchObject({ status: 0, signal: null });
  });

  test.each(["stdout", "stderr"] as const)("waits for a slow reader of %s", async (stream) => {
    const child = spawn(process.execPath, [launcher, "say", stream, "1000000"]);
    const [status, text] = await Promise.all([
      new Promise((resolve) => child.on("close", resolve)),
      pause(300).then(() =>
        child[stream].reduce((length: number, chunk: Buffer) => length + chunk.length, 0),
      ),
    ]);
    expect([status, text]).toEqual([0, 1_000_000]);
  });

  test("says in one line that it is not built", () => {
    rmSync(join(directory, "dist"), { recursive: true });
    expectOneLine(run(process.execPath, ["tell"]), /npm install.*npm run build/);
  });

  test("runs without a directory for the compile cache", () => {
    const told = run(process.execPath, ["tell"], { XDG_CACHE_HOME: join(directory, "package.json") });
    expect(told).toMatchObject({ status: 0, stderr: "" });
  });
});

const realOldNode = findOldNode();

describe("under a Node that claims to be version 20", () => {
  oldNodeTests(() => claiming20);
});

describe.skipIf(realOldNode === undefined)("under the older Node of this machine", () => {
  oldNodeTests(() => realOldNode!);
});

function oldNodeTests(oldNode: () => string): void {
  test("starts again under BELAY_NODE with the same arguments and exit code", () => {
    const newer = { BELAY_NODE: process.execPath };
    const told = run(oldNode(), ["tell", "a b", ""], newer);
    expect(JSON.parse(told.stdout)).toEqual({
      node: process.versions.node,
      rest: ["a b", ""],
      ownVariables: [],
    });
    expect(told).toMatchObject({ status: 0, stderr: "" });
    expect(run(oldNode(), ["exit", "5"], newer).status).toBe(5);
    expect(run(oldNode(), ["die", "SIGKILL"], newer).status).toBe(128 + 9);
  });

  test("finds the pinned Node above its real path", () => {
    pinNode();
    const link = join(directory, "cache", "belay");
    symlinkSync(launcher, link);
    const told = run(oldNode(), ["tell"], {}, link);
    expect(told.stderr).toBe("");
    expect(JSON.parse(told.stdout).node).toBe(process.versions.node);
  });

  test("says in one line what to install when there is no newer Node", () => {
    expectOneLine(run(oldNode(), ["tell"]), /needs Node 24.*install Node 24/);
  });

  test("does not start a third time when BELAY_NODE is too old or does not run", () => {
    expectOneLine(run(oldNode(), ["tell"], { BELAY_NODE: oldNode() }), /needs Node 24/);
    const missing = { BELAY_NODE: join(directory, "no-such-node") };
    expectOneLine(run(oldNode(), ["tell"], missing), /no-such-node \(ENOENT\): install Node 24/);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "passes on %s and waits for the end",
    async (signal) => {
      pinNode();
      const child = spawn(oldNode(), [launcher, "wait", signal], { env: environment(), stdio: "pipe" });
      let output = "";
      child.stdout.on("data", (piece: Buffer) => {
        output += piece.toString();
        if (output === "ready\n") child.kill(signal);
      });
      const status = await new Promise((resolve) => child.on("close", resolve));
      expect({ output, status }).toEqual({ output: `ready\n${signal}\n`, status: 9 });
    },
  );
}

function run(node: string, args: string[], variables = {}, script = launcher) {
  return spawnSync(node, [script, ...args], { encoding: "utf8", env: { ...environment(), ...variables } });
}

/** The caller's environment without what would change the answer. */
function environment(): NodeJS.ProcessEnv {
  const { BELAY_NODE: _, NODE_OPTIONS: __, ...rest } = process.env;
  return { ...rest, XDG_CACHE_HOME: join(directory, "cache") };
}

function expectOneLine(ended: ReturnType<typeof run>, line: RegExp): void {
  expect(ended).toMatchObject({ status: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^[^\n]+\n$/);
  expect(ended.stderr).toMatch(line);
}

function pinNode(): void {
  mkdirSync(join(directory, "node_modules", "node", "bin"), { recursive: true });
  symlinkSync(process.execPath, join(directory, "node_modules", "node", "bin", "node"));
}

/** A Node below 24 on the PATH. */
function findOldNode(): string | undefined {
  const candidates = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  return candidates.find((node) => {
    const { stdout } = spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" });
    return stdout !== null && Number.parseInt(stdout, 10) < 24;
  });
}
