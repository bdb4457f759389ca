/** `belay branch` and `belay switch`. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkspace } from "@belay/engine";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("[R103] a branch is made, switched to and undone; the list and the tree say where the files are", () => {
  expect(sandbox.ok("branch", "idea", "--note", "another way")).toContain(
    "Branch idea begins with checkpoint 2; no file was touched.",
  );
  sandbox.write("a.txt", "on main\n");
  expect(sandbox.ok("switch", "idea")).toContain("Switched to idea (1 changed;");
  expect(sandbox.read("a.txt")).toBe("one\n");
  expect(sandbox.ok("branch")).toMatch(/^ {3}main .*\n\* {2}idea .* behind main; 1 file; another way\n$/);
  expect(sandbox.ok("branch", "--tree")).toMatch(/^main {2}1 file\n└─ idea \* .*another way\n$/);
  expect(sandbox.json(["branch"]).branches).toMatchObject([
    { name: "main", current: false, parent: null, workingCopy: null },
    { name: "idea", current: true, parent: "main", workingCopy: sandbox.project, state: "open" },
  ]);
  expect(sandbox.ok("undo")).toContain("Switched to idea");
  expect(sandbox.read("a.txt")).toBe("on main\n");
  expect(sandbox.ok("diff", "branch/idea", "branch/main", "--name-only")).toBe("a.txt\n");
  expect(sandbox.json(["list", "--branch", "idea"]).checkpoints[0]).toMatchObject({
    branch: "idea",
    fork: null,
    kind: "safety",
  });
});

test("[R103] a dry run shows the files and changes nothing; several files are asked about", () => {
  sandbox.ok("branch", "idea");
  sandbox.write("a.txt", "two\n");
  sandbox.write("b.txt", "two\n");
  const { plan, steps } = sandbox.json(["switch", "idea", "--dry-run"]);
  expect(plan.operations).toHaveLength(2);
  expect(steps).toMatchObject([{ kind: "switch", description: "Switched to idea" }]);
  expect(sandbox.belay(["switch", "idea"]).status).toBe(3);
  expect(sandbox.read("b.txt")).toBe("two\n");
  expect(sandbox.json(["switch", "idea", "--yes"])).toMatchObject({ outcome: "applied", deleted: 1 });
  expect(sandbox.json(["switch", "idea", "--yes"])).toMatchObject({ outcome: "unchanged" });
  expect(sandbox.json(["switch", "main", "--keep-files"])).toMatchObject({ outcome: "applied", modified: 0 });
  expect(sandbox.read("a.txt")).toBe("one\n");
});

test("[R103] renamed, deleted and brought back; what cannot be says so with its exit code", () => {
  sandbox.ok("branch", "idea");
  sandbox.ok("branch", "-m", "idea", "plan");
  expect(sandbox.belay(["switch", "idea"])).toMatchObject({ status: 4 });
  expect(sandbox.belay(["branch", "-d", "main"])).toMatchObject({ status: 3 });
  expect(sandbox.belay(["branch", "a b"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["branch", "plan"])).toMatchObject({ status: 3 });
  expect(sandbox.belay(["branch", "-d", "-m", "plan"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["branch", "x", "y"])).toMatchObject({ status: 2 });
  expect(sandbox.ok("branch", "-d", "plan")).toContain("belay branch --restore plan");
  expect(sandbox.json(["branch"]).branches).toHaveLength(1);
  expect(sandbox.json(["branch", "--deleted"]).branches).toMatchObject([{}, { state: "discarded" }]);
  sandbox.ok("branch", "--restore", "plan");
  expect(sandbox.json(["switch", "plan"])).toMatchObject({ outcome: "applied" });
});

test("[R103] while an agent's tool runs a switch is refused, unless --yes says so", async () => {
  sandbox.ok("branch", "idea");
  {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { id } = await workspace.threads.open({ agent: "codex", externalId: "t" });
    await workspace.turns.prompt(id, { content: "go" });
    await workspace.turns.beginTool(id, { tool: "Edit", toolUseId: "u-1", nature: "edit" });
  }
  expect(sandbox.belay(["switch", "idea"])).toMatchObject({ status: 3 });
  expect(sandbox.json(["switch", "idea", "--yes"])).toMatchObject({ outcome: "applied" });
});
