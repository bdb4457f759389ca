/** What a command loads before it works: its start costs what it loads, and every hook and prompt waits for it. */
import { basename, join } from "node:path";
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

/** Loaded before the command; writes down what was loaded when the process ends. */
const WITNESS = `
process.on("exit", () => {
  const own = Object.keys(require.cache).filter((file) => file.includes("/cli/dist/"));
  const builtin = process.moduleLoadList.map((name) => name.replace("NativeModule ", ""));
  require("node:fs").writeFileSync(process.env.LOADED, JSON.stringify({ own, builtin }));
});
`;

/** Parts of Node that take milliseconds to load and that a short command does not need. */
const SLOW = ["crypto", "http", "https", "child_process", "worker_threads", "zlib", "readline", "sqlite"];

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));

afterEach(async () => {
  sandbox.belay(["stop"]);
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("--version and a mistake load two files, and none of Node's slow parts", () => {
  for (const words of [["--version"], ["lst"]]) {
    const { own, slow } = loadedBy(...words);
    expect(own).toEqual(["alone", "main"]);
    expect(slow).toEqual([]);
  }
});

test("a command that the resident process runs loads one", async () => {
  sandbox.json(["start"]);
  for (const words of [["list"], ["status"], ["checkpoint"], []]) {
    await expect.poll(() => loadedBy(...words).own).toEqual(["main"]);
    expect(loadedBy(...words).slow).toEqual([]);
  }
});

test("a command on its own loads its code and the engine, and neither the server nor MCP", () => {
  for (const words of [["list"], ["show", "1"], ["undo", "--dry-run"], ["status"]]) {
    const { own } = loadedBy(...words);
    expect(own).toContain("engine");
    expect(["alone", "commands", "engine", "main", "with-engine"]).toEqual(expect.arrayContaining(own));
  }
});

/** The names of the bundle's files, without their hashes, and of Node's slow parts. */
function loadedBy(...words: string[]): { own: string[]; slow: string[] } {
  const [witness, report] = [join(sandbox.base, "witness.cjs"), join(sandbox.base, "loaded.json")];
  writeFileSync(witness, WITNESS);
  sandbox.belay(words, { env: { NODE_OPTIONS: `--require ${witness}`, LOADED: report } });
  const loaded = JSON.parse(readFileSync(report, "utf8")) as { own: string[]; builtin: string[] };
  const names = loaded.own.map((file) => basename(file, ".js").replace(/-[\w-]{8}$/, ""));
  return {
    own: names.filter((name) => name !== "rolldown-runtime").toSorted((a, b) => (a < b ? -1 : 1)),
    slow: SLOW.filter((name) => loaded.builtin.includes(name)),
  };
}
