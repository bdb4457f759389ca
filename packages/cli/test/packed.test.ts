/**
 * The package as people get it: packed, installed into an empty directory by npm, and run there with the `node` that is
 * on the PATH outside of this repository. Only the package `node` comes from the registry, or from npm's cache.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const REPOSITORY = join(import.meta.dirname, "..", "..", "..");

let place: string;
let installed: string;

beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "belay-packed-")));
  installed = join(place, "empty directory");
  mkdirSync(installed);
  npm(REPOSITORY, "pack", "--workspace", "@belay/cli", "--pack-destination", place);
  const [tarball, ...others] = readdirSync(place).filter((name) => name.endsWith(".tgz"));
  expect(others).toEqual([]);
  npm(installed, "install", "--prefer-offline", "--no-audit", "--no-fund", join(place, tarball!));
}, 120_000);

afterAll(() => rmSync(place, { recursive: true, force: true }));

test("one package is installed, with the pinned Node and nothing else", () => {
  expect(readdirSync(join(installed, "node_modules", "@belay"))).toEqual(["cli"]);
  const others = readdirSync(join(installed, "node_modules")).filter((name) => !name.startsWith("."));
  expect(others.filter((name) => !name.startsWith("node"))).toEqual(["@belay"]);
  const files = readdirSync(join(installed, "node_modules/@belay/cli"));
  expect(files.toSorted()).toEqual(["LICENSE", "README.md", "bin", "dist", "package.json"]);
  const licences = readFileSync(join(installed, "node_modules/@belay/cli/dist/LICENSES.txt"), "utf8");
  for (const name of ["zod", "hono", "@modelcontextprotocol/server", "fast-myers-diff"])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
});

test("the tour works without this repository", () => {
  const { stdout, status } = belay("demo", "--json");
  expect(status).toBe(0);
  const { ok, scenes } = JSON.parse(stdout) as { ok: boolean; scenes: { exitCode: number }[] };
  expect(ok).toBe(true);
  expect(scenes.length).toBeGreaterThan(5);
  expect(scenes.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
});

test("a project is protected and brought back", () => {
  const project = join(place, "project");
  execFileSync("sh", ["-c", `mkdir '${project}' && echo one > '${project}/a'`]);
  expect(belay("-C", project, "init", "--no-agents").status).toBe(0);
  rmSync(join(project, "a"));
  expect(belay("-C", project, "restore", "@", "--yes").status).toBe(0);
  expect(readFileSync(join(project, "a"), "utf8")).toBe("one\n");
});

test("[R266] a global installation has the manual page", () => {
  const prefix = join(place, "prefix");
  const [tarball] = readdirSync(place).filter((name) => name.endsWith(".tgz"));
  npm(
    place,
    "install",
    "--global",
    "--prefix",
    prefix,
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    tarball!,
  );
  expect(readFileSync(join(prefix, "share/man/man1/belay.1"), "utf8")).toMatch(/^\.TH BELAY 1/);
});

test("the native look and the hook are there wherever they were compiled", () => {
  const hook = join(installed, "node_modules/@belay/cli/dist/belay-hook");
  expect(existsSync(hook)).toBe(existsSync(join(REPOSITORY, "packages/agents/dist/belay-hook")));
  const here = existsSync(join(REPOSITORY, "packages/engine/dist/look.node"));
  const file = join(installed, "node_modules/@belay/cli/dist/look.node");
  expect(existsSync(file)).toBe(here);
  if (here)
    expect(Object.keys(process.getBuiltinModule("node:module").createRequire(file)(file))).toContain("begin");
});

test("another program serves MCP and the API from it", () => {
  const { stdout, status } = belay("start", "--json");
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringMatching(/^http:/) });
  expect(belay("stop").status).toBe(0);
  expect(belay("mcp", "--help").status).toBe(0);
});

function belay(...words: string[]) {
  return spawnSync(join(installed, "node_modules/.bin/belay"), words, {
    encoding: "utf8",
    cwd: place,
    env: { ...outside(), HOME: place, BELAY_HOME: join(place, "home"), XDG_CACHE_HOME: join(place, "cache") },
  });
}

function npm(cwd: string, ...words: string[]): void {
  const { status, stdout, stderr } = spawnSync("npm", words, { encoding: "utf8", cwd, env: outside() });
  expect(status, `npm ${words.join(" ")}\n${stdout}${stderr}`).toBe(0);
}

/** A registry, a cache or a certificate that this machine needs stays. */
const OF_THIS_RUN =
  /^(BELAY_NODE|NODE_OPTIONS|NODE_PATH|npm_(command|execpath|lifecycle|node|package|config_(local_)?prefix))/i;

/** The environment without what `npm test` and this repository put into it. */
function outside(): NodeJS.ProcessEnv {
  const path = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"));
  const own = Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name));
  return { ...Object.fromEntries(own), PATH: path.join(delimiter) };
}
