/** What is printed is whole, and true where there is nothing to look at. */
import { renameSync, rmSync } from "node:fs";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected();
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("[R183] lists in JSON and in pipes are whole", async () => {
  const files = Array.from({ length: 250 }, (_, index) => `many/${index}.txt`);
  for (const file of files) sandbox.write(file, `${file}\n`);
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const { id: thread } = await workspace.threads.open({ agent: "tester", externalId: "t" });
  for (let index = 0; index < 230; index += 1) await workspace.turns.prompt(thread, { content: `${index}` });
  const lines = (...args: string[]) => sandbox.ok(...args).split("\n").length - 1;
  const { checkpoints, checkpointsTotal } = sandbox.json(["list"]);
  expect(checkpoints).toHaveLength(checkpointsTotal);
  expect(lines("list")).toBe(checkpointsTotal);
  expect(checkpointsTotal).toBeGreaterThan(230);
  expect(sandbox.json(["search", "many/"]).checkpoints).toHaveLength(lines("search", "many/"));
  expect(sandbox.json(["thread", thread]).messages).toHaveLength(230);
  expect(sandbox.ok("thread", thread)).not.toContain("earlier message");
  expect(sandbox.json(["diff", "1"]).files).toHaveLength(250);
  expect(sandbox.ok("diff", "1", "--stat").match(/many\//g)).toHaveLength(250);
  expect(sandbox.json(["show", "2"]).files).toHaveLength(250);
  expect(sandbox.ok("show", "2").match(/many\//g)).toHaveLength(250);
  expect(sandbox.json(["restore", "1", "--dry-run"]).plan.affectedFiles).toHaveLength(250);
  expect(sandbox.ok("restore", "1", "--dry-run").match(/delete {2}many\/\d/g)).toHaveLength(250);
  expect(lines("list", "--limit", "7")).toBe(7);
});

test("[R181] run, list, show, the preview and the outcome tell the same numbers", () => {
  const ran = sandbox.belay(["run", "--", "sh", "-c", "mv a.txt moved.txt; mkdir empty; echo > src/b.txt"]);
  expect(ran.stderr).toBe("belay: 3 files changed (+1 ~1 -1), undo with: belay undo\n");
  expect(sandbox.ok("list", "--limit", "1")).toMatch(/\+1 ~1 -1$/m);
  expect(sandbox.ok("show", "@")).toMatch(/changes +\+1 ~1 -1$/m);
  expect(sandbox.ok("diff", "@-1", "@", "--stat")).toContain("3 files changed (+1 ~1 -1)");
  expect(sandbox.ok("approve", "--dry-run")).toContain("Would approve 3 files");
  expect(sandbox.ok("undo", "--dry-run")).toContain("Would change 3 files: 1 created, 1 changed, 1 deleted.");
  expect(sandbox.json(["undo", "--dry-run"]).plan.affectedFilesTotal).toBe(3);
  expect(sandbox.ok("undo", "--yes")).toContain("(1 created, 1 changed, 1 deleted;");
  expect(sandbox.ok("list", "--limit", "1")).toMatch(/\+1 ~1 -1$/m);
});

test("[R181] only directories are no files", () => {
  sandbox.belay(["run", "--", "mkdir", "one", "two"]);
  expect(sandbox.ok("undo", "--dry-run")).toContain("Would change only directories.");
  expect(sandbox.ok("undo")).toContain("(only directories;");
});

test("[R186] a project directory that is gone is not one without changes", async () => {
  {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { id } = await workspace.threads.open({ agent: "tester", externalId: "t" });
    await workspace.turns.prompt(id, { content: "hello" });
  }
  const away = `${sandbox.project}.away`;
  renameSync(sandbox.project, away);
  const at = (...args: string[]) => sandbox.belay(["-C", sandbox.project, ...args], { cwd: sandbox.base });
  for (const args of [
    ["diff"],
    ["diff", "1"],
    ["checkpoint"],
    ["list", "--fresh"],
    ["approve"],
    ["approve", "--dry-run"],
    ["reset", "--yes"],
    ["undo"],
    ["undo", "--dry-run"],
    ["revert", "1"],
  ]) {
    const ran = at(...args);
    expect({ args, status: ran.status }).toEqual({ args, status: 3 });
    expect(ran.stderr).toContain("no longer exists");
  }
  const status = at("status");
  expect(status.stdout).toMatch(/^✗ This directory is gone; its checkpoints are not\.\n/);
  expect(status.stdout).toMatch(/since then +the whole directory is gone/);
  const json = JSON.parse(at("status", "--json").stdout);
  expect(json).toMatchObject({ exists: false, changes: null, changedFiles: [] });
  expect(at("restore", "@", "--yes").status).toBe(0);
  expect(JSON.parse(at("status", "--json").stdout)).toMatchObject({ exists: true });
  rmSync(sandbox.project, { recursive: true });
  renameSync(away, sandbox.project);
});
