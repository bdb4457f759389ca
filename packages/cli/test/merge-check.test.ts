/** `belay merge --check`, lock files that npm writes again, generators of the settings, and the queue of `agents run`. */
import { writeFileSync } from "node:fs";
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

test("[R794] npm writes the lock file again from both manifests, in a copy, without scripts", async () => {
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
  // without a terminal and without an agreement it is left to be decided
  expect(sandbox.json(["merge", "f"], 3).conflicts).toMatchObject([
    { kind: "lock", path: "package-lock.json" },
  ]);
  const done = sandbox.json(["resolve", "--regenerate"]);
  expect(done).toMatchObject({ merges: [{ outcome: "applied", state: "applied" }] });
  const made = JSON.parse(sandbox.read("package-lock.json")!);
  expect(Object.keys(made.packages[""].dependencies)).toEqual(["a", "m", "x", "z"]);
  expect([sandbox.read("owned"), sandbox.read("node_modules")]).toEqual([undefined, undefined]);
  sandbox.ok("undo", "--yes");
  // and at once, where the user said so
  expect(sandbox.json(["merge", "f", "--dry-run"], 3).merge.conflicts).toMatchObject([{ kind: "lock" }]);
  configure({ merge: { regenerate: "always" } });
  expect(sandbox.json(["merge", "f", "--dry-run"]).merge.conflicts).toEqual([]);
  expect(sandbox.json(["merge", "f", "--yes"])).toMatchObject({
    outcome: "applied",
    merged: expect.arrayContaining([expect.objectContaining({ path: "package-lock.json", how: "lock" })]),
  });
  expect(JSON.parse(sandbox.read("package-lock.json")!)).toEqual(made);
});

test("[R794] a generated file is written again by the command of the settings", () => {
  const made = (...names: string[]) => `// @generated\nexport default ${JSON.stringify(names)};\n`;
  const gather = `const fs = require("fs"); const names = fs.readdirSync("src").sort(); fs.writeFileSync("gen/list.ts", "// @generated\\nexport default " + JSON.stringify(names) + ";\\n")`;
  configure({
    merge: { generators: [{ paths: ["gen/**"], command: [process.execPath, "-e", gather] }] },
  });
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
  expect(sandbox.json(["merge", "f", "--yes"])).toMatchObject({
    outcome: "applied",
    merged: [{ path: "gen/list.ts", how: "generated" }],
  });
  expect(sandbox.read("gen/list.ts")).toBe(made("a", "f", "m"));
});
