/** `belay merge --check`, lock files that npm writes again, generators of the settings, and the queue of `agents run`. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];
let sandbox: Sandbox;
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
});

function configure(settings: object): void {
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(settings));
}

/** Branches that begin together, each with its own work. */
function work(branches: Readonly<Record<string, () => void>>): void {
  for (const name of Object.keys(branches)) sandbox.ok("branch", name);
  for (const [name, change] of Object.entries(branches)) {
    sandbox.ok("switch", name, "--yes");
    change();
  }
  sandbox.ok("switch", "main", "--yes");
}

const script = (text: string) => `'${process.execPath}' -e '${text}'`;
const WITHOUT_BAD = script(
  `if (require("fs").existsSync("bad.txt")) { console.log("bad is there"); process.exit(3); }`,
);

test("[R793] [M46] a branch that makes the check fail is held back, says so, and can be brought in all the same", () => {
  work({ good: () => sandbox.write("good.txt", "g\n"), bad: () => sandbox.write("bad.txt", "b\n") });
  const words = ["merge", "good", "bad", "--check", WITHOUT_BAD];
  expect(sandbox.error(words, 3)).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
  const done = sandbox.json([...words, "--yes"], 3);
  expect(done).toMatchObject({
    outcome: "partial",
    sources: [{ outcome: "merged" }, { outcome: "held" }],
    checks: [
      { source: "bad", exitCode: 3 },
      { source: null, exitCode: 0 },
    ],
    conflicts: [{ kind: "check", severity: "critical", path: "", options: ["theirs"] }],
  });
  expect([sandbox.read("good.txt"), sandbox.read("bad.txt")]).toEqual(["g\n", undefined]);
  expect(sandbox.ok("conflicts")).toMatch(
    /all of bad +\[critical\] .*ends with 3 once bad is merged: bad is there/,
  );
  const [{ id }] = done.conflicts;
  sandbox.ok("resolve", id.slice(0, 8), "--take", "theirs");
  expect(sandbox.read("bad.txt")).toBe("b\n");
  // a check that fails before anything is merged judges nothing
  work({ later: () => sandbox.write("later.txt", "l\n") });
  expect(sandbox.error(["merge", "later", "--check", WITHOUT_BAD, "--yes"], 3)).toMatchObject({
    code: "CHECK_FAILED",
  });
  expect(sandbox.read("later.txt")).toBeUndefined();
});

test("[R793] [R100] the check of the settings holds for every merge; the queue merges what finished first", () => {
  configure({
    agents: { stub: { command: STUB } },
    merge: { check: [process.execPath, "-e", `process.exit(require("fs").existsSync("bad.txt") ? 1 : 0)`] },
  });
  const run = ["agents", "run", "--yes", "--agent", "stub", "--jobs", "2"];
  const queue = ["--merge", "--order", "finished", "-p", "write bad.txt x", "-p", "write good.txt y"];
  const done = sandbox.json([...run, ...queue], 3);
  expect(done.merge).toMatchObject({ outcome: "partial", conflicts: [{ kind: "check" }] });
  expect([sandbox.read("good.txt"), sandbox.read("bad.txt")]).toEqual(["y\n", undefined]);
});

const packageJson = (middle: string) =>
  `${JSON.stringify({ name: "p", version: "1.0.0" }).slice(0, -1)},\n"dependencies": {\n"a": "file:./a",\n\n"m": "file:./m"${middle}\n}\n}\n`;

test("[R793] [R100] a check that is another one when the agents are done is asked about, and not gone around", () => {
  const check = (code: number) => ({
    agents: { stub: { command: STUB } },
    merge: { check: [process.execPath, "-e", `process.exit(${code})`] },
  });
  configure(check(0));
  const run = (...words: string[]) => ["agents", "run", "--agent", "stub", "--merge", ...words];
  sandbox.json(run("--yes", "-p", "write first.txt 1"));
  const settings = join(sandbox.home, "config.json");
  const prompt = `write good.txt y\nwrite ${settings} ${JSON.stringify(check(1))}`;
  const done = sandbox.json(run("-p", prompt), 3);
  expect([done.runs[0].status, done.merge]).toEqual(["done", undefined]);
  expect([sandbox.read("first.txt"), sandbox.read("good.txt")]).toEqual(["1\n", undefined]);
  expect(sandbox.error(["merge"], 3).code).toBe("CONFIRMATION_REQUIRED");
  configure(check(0));
  sandbox.ok("merge");
  expect(sandbox.read("good.txt")).toBe("y\n");
});

test("[R794] [R1450] npm writes the lock file again from both manifests, in a copy, without scripts, once it is agreed to", async () => {
  sandbox[Symbol.dispose]();
  const dep = (name: string) => [`${name}/package.json`, JSON.stringify({ name, version: "1.0.0" })] as const;
  const base = packageJson("");
  sandbox = await Sandbox.protected({
    "package.json": base,
    ...Object.fromEntries(["a", "m", "x", "z"].map(dep)),
  });
  const lock = (...names: string[]) => {
    const packages = names.map((name) => [name, { version: "1.0.0" }]);
    return `${JSON.stringify({ name: "p", version: "1.0.0", lockfileVersion: 3, requires: true, packages: Object.fromEntries(packages) })}\n`;
  };
  sandbox.write("package-lock.json", lock("a", "m"));
  const scripts = (text: string) =>
    text.replace('"version"', '"scripts":{"preinstall":"touch owned"},"version"');
  work({
    f: () => {
      sandbox.write(
        "package.json",
        scripts(base).replace('"a": "file:./a",', '"a": "file:./a",\n"x": "file:./x",'),
      );
      sandbox.write("package-lock.json", lock("a", "m", "x"));
    },
  });
  sandbox.write("package.json", packageJson(',\n"z": "file:./z"'));
  sandbox.write("package-lock.json", lock("a", "m", "z"));
  // --yes to a merge is no yes to a program that neither settings nor command line name: it is left to be decided
  expect(sandbox.json(["merge", "f", "--yes"], 3).conflicts).toMatchObject([
    { kind: "lock", path: "package-lock.json" },
  ]);
  expect(sandbox.error(["resolve", "--regenerate"], 3)).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
    question: expect.stringContaining("npm install --package-lock-only --ignore-scripts"),
  });
  const done = sandbox.json(["resolve", "--regenerate", "--yes"]);
  expect(done).toMatchObject({ merges: [{ outcome: "applied", state: "applied" }] });
  const made = JSON.parse(sandbox.read("package-lock.json")!);
  expect(Object.keys(made.packages[""].dependencies)).toEqual(["a", "m", "x", "z"]);
  expect([sandbox.read("owned"), sandbox.read("node_modules")]).toEqual([undefined, undefined]);
  sandbox.ok("undo", "--yes");
  // and at once, where the user said so: now, or in the settings
  expect(sandbox.json(["merge", "f", "--dry-run"]).merge.conflicts).toEqual([]);
  rmSync(join(sandbox.home, "known-commands.json"));
  expect(sandbox.json(["merge", "f", "--dry-run"], 3).merge.conflicts).toMatchObject([{ kind: "lock" }]);
  configure({ merge: { regenerate: "always" } });
  expect(sandbox.json(["merge", "f", "--dry-run"]).merge.conflicts).toEqual([]);
  expect(sandbox.json(["merge", "f", "--yes"])).toMatchObject({
    outcome: "applied",
    merged: expect.arrayContaining([expect.objectContaining({ path: "package-lock.json", how: "lock" })]),
  });
  expect(JSON.parse(sandbox.read("package-lock.json")!)).toEqual(made);
});

test("[R794] [R100] a generated file is written again by the command of the settings, which is asked about, like the check, before its first use", () => {
  const made = (...names: string[]) => `// @generated\nexport default ${JSON.stringify(names)};\n`;
  const gather = `const fs = require("fs"); const names = fs.readdirSync("src").sort(); fs.writeFileSync("gen/list.ts", "// @generated\\nexport default " + JSON.stringify(names) + ";\\n")`;
  const generators = [{ paths: ["gen/**"], command: [process.execPath, "-e", gather] }];
  configure({ merge: { generators } });
  sandbox.write("src/a", "");
  sandbox.write("gen/list.ts", made("a"));
  work({
    f: () => {
      sandbox.write("src/f", "");
      sandbox.write("gen/list.ts", made("a", "f"));
    },
  });
  sandbox.write("src/m", "");
  sandbox.write("gen/list.ts", made("a", "m"));
  expect(sandbox.json(["merge", "f"], 3).conflicts).toMatchObject([{ kind: "generated" }]);
  const ran = join(sandbox.base, "check-ran");
  const check = [process.execPath, "-e", `require("fs").writeFileSync(${JSON.stringify(ran)}, "")`];
  configure({ merge: { generators, check } });
  const [{ id }] = sandbox.json(["workspaces"]).workspaces;
  const known = { [id]: [JSON.stringify(generators[0]!.command)] };
  writeFileSync(join(sandbox.home, "known-commands.json"), JSON.stringify(known));
  // the file is decided; that the check may run is another question
  expect(sandbox.error(["resolve", "--regenerate"], 3)).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
    question: expect.stringContaining("check-ran"),
  });
  expect(existsSync(ran)).toBe(false);
  sandbox.ok("merge", "--continue", "--yes");
  expect([sandbox.read("gen/list.ts"), existsSync(ran)]).toEqual([made("a", "f", "m"), true]);
  sandbox.ok("undo", "--yes");
  rmSync(join(sandbox.home, "known-commands.json"));
  expect(sandbox.json(["merge", "f", "--yes"])).toMatchObject({
    outcome: "applied",
    merged: [{ path: "gen/list.ts", how: "generated" }],
  });
});
