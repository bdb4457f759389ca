/** `belay fork`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("[R90, R92] a fork is made, listed, worked in, removed and brought back; undo there stays there", () => {
  sandbox.write("a.txt", "not captured\n");
  expect(sandbox.ok("fork", "idea")).toMatch(
    /Fork idea is ready in .*: 1 files?, .* on the disk\.\n→ .*idea\n$/,
  );
  const path = sandbox.ok("fork", "path", "idea").trim();
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("not captured\n");
  expect(sandbox.json(["fork", "list"]).forks).toMatchObject([
    { name: "idea", path, branch: "idea", state: "ready", run: null, dependencies: [], git: "none" },
  ]);
  expect(sandbox.json(["status"])).toMatchObject({
    branch: "main",
    forks: 1,
    disk: { forks: expect.any(Number) },
  });
  const there = (...words: string[]) => sandbox.ok("-C", path, ...words);
  expect(there("run", "--", "sh", "-c", "echo two > a.txt")).toBeDefined();
  expect(sandbox.read("a.txt")).toBe("not captured\n");
  expect(there("undo")).toContain("a.txt");
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("not captured\n");
  expect(sandbox.json(["-C", path, "status"])).toMatchObject({ branch: "idea" });
  writeFileSync(join(path, "only.txt"), "only here\n");
  expect(sandbox.ok("fork", "remove", "idea")).toMatch(
    /Fork idea is in the trash until .*; its branch idea stays\./,
  );
  expect(existsSync(path)).toBe(false);
  expect(sandbox.ok("cat", "branch/idea", "only.txt")).toBe("only here\n");
  expect(sandbox.ok("fork", "list")).toContain("No forks.");
  expect(sandbox.ok("fork", "list", "--removed")).toContain("in the trash");
  expect(sandbox.ok("fork", "restore", "idea")).toContain("Fork idea is back.");
  expect(readFileSync(join(path, "only.txt"), "utf8")).toBe("only here\n");
  expect(sandbox.ok("fork", "remove", "idea", "--now")).toContain(
    "Fork idea is deleted; its branch idea stays.",
  );
});

test("[R100] the set-up of the settings is asked about, prepares a fork and knows its port; one that fails is said", () => {
  sandbox.ok(
    "config",
    "forks.setup",
    JSON.stringify(["sh", "-c", "echo $BELAY_FORK $BELAY_PORT > set-up.txt"]),
  );
  expect(sandbox.error(["fork", "idea"], 3)).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
    question: expect.stringContaining("echo $BELAY_FORK"),
  });
  expect(sandbox.json(["fork", "list"]).forks).toEqual([]);
  sandbox.ok("fork", "first", "--yes");
  const { fork } = sandbox.json(["fork", "idea"]);
  expect(readFileSync(join(fork.path, "set-up.txt"), "utf8")).toBe(`idea ${fork.port}\n`);
  expect(sandbox.json(["-C", fork.path, "status"]).sinceNewest).toEqual([]);
  // nothing of the repository is run
  mkdirSync(join(sandbox.project, ".belay"));
  writeFileSync(join(sandbox.project, ".belay/config.json"), '{"forks.setup": ["touch", "pwned"]}');
  sandbox.ok("config", "forks.setup", JSON.stringify(["false"]));
  const second = sandbox.json(["fork", "second", "--yes"]);
  expect(second.warnings).toEqual(["forks.setup: false ended with exit code 1. The fork is kept as it is."]);
  expect(existsSync(join(second.fork.path, "pwned"))).toBe(false);
});

test("[R1755] a setting of this workspace alone holds here and in its forks, and nowhere else", () => {
  const { fork } = sandbox.json(["fork", "idea"]);
  const [{ id }] = sandbox.json(["workspaces"]).workspaces;
  const own = { key: "forks.limit", value: 1, source: `workspaces.${id}` };
  expect(sandbox.json(["config", "forks.limit", "1", "--here"], 0, { cwd: fork.path }).settings).toEqual([
    own,
  ]);
  expect(sandbox.error(["fork", "second"], 3).code).toBe("FORK_LIMIT");
  const elsewhere = { cwd: sandbox.base };
  expect(sandbox.json(["config", "forks.limit"], 0, elsewhere).settings).toMatchObject([
    { source: "default" },
  ]);
  expect(sandbox.json(["config", "forks.limit", "--unset", "--here"]).settings).toMatchObject([
    { value: 16 },
  ]);
  sandbox.ok("fork", "second");
  expect(sandbox.belay(["config", "forks.limit", "1", "--here"], elsewhere).status).toBe(4);
  expect(sandbox.belay(["config", "forks.limit", "--here"]).status).toBe(2);
});

test("[R1754] [R101] a set-up that takes too long is ended with every process of it, and the fork is kept", () => {
  const setup = ["sh", "-c", "setsid sleep 600 & sleep 600; echo late > late.txt"];
  const settings = { "forks.setup": setup, runs: { timeoutMinutes: 0.02 } };
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(settings));
  const { fork, warnings } = sandbox.json(["fork", "idea", "--yes"]);
  expect(warnings).toEqual([
    "forks.setup: sh was ended because it took longer than 0.02 minutes. The fork is kept as it is.",
  ]);
  expect([fork.state, existsSync(join(fork.path, "late.txt"))]).toEqual(["ready", false]);
  expect(processesIn(fork.path)).toEqual([]);
  expect(sandbox.json(["fork", "remove", "idea"]).fork.state).toBe("removing");
});

/** The processes whose current directory is this one. */
function processesIn(directory: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`) === directory;
    } catch {
      return false;
    }
  });
}

test("what does not go together is refused, and an unknown fork is not found", () => {
  for (const words of [
    ["fork", "a", "b"],
    ["fork", "list", "x"],
    ["fork", "remove"],
    ["fork", "list", "--now"],
    ["fork", "x", "--removed"],
  ])
    expect(sandbox.error(words, 2).code).toBe("USAGE");
  expect(sandbox.error(["fork", "remove", "none"], 4).code).toBe("FORK_NOT_FOUND");
  expect(sandbox.error(["fork", "a b"], 2).code).toBe("BRANCH_NAME_INVALID");
  expect(sandbox.error(["fork", "x", "--from", "99"], 4).code).toBe("CHECKPOINT_NOT_FOUND");
});
