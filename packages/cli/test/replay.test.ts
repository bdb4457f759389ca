/** `belay replay`: the turns of a thread, and the way back to where one began. */
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let thread: string;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "0\n" });
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const { id } = await workspace.threads.open({ agent: "claude-code", externalId: "x" });
  thread = id;
  for (const turn of [1, 2]) {
    await workspace.turns.prompt(id, { content: `Turn ${turn}: ${"word ".repeat(100)}` });
    const call = { tool: "Edit", toolUseId: `call-${turn}` };
    await workspace.turns.beginTool(id, { ...call, paths: ["a.txt"] });
    sandbox.write("a.txt", `${turn}\n`);
    sandbox.write(`made-${turn}.txt`, "made\n");
    await workspace.turns.endTool(id, call);
    await workspace.turns.end(id);
  }
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("[C63] the turns with a preview, tools, files and the checkpoint before each", () => {
  const { turns } = sandbox.json(["replay", thread]);
  expect(turns).toMatchObject([
    { turn: 1, tools: ["Edit"], filesTouched: ["a.txt", "made-1.txt"], rolledBack: false },
    { turn: 2, tools: ["Edit"], filesTouched: ["a.txt", "made-2.txt"] },
  ]);
  expect([turns[0].textPreview.length, turns[1].checkpoint]).toEqual([
    400,
    expect.stringMatching(/^[k-z]{16}$/),
  ]);
  expect(sandbox.ok("replay", thread.slice(0, 6))).toMatch(/tools: Edit\n +files: a\.txt, made-2\.txt/);
});

test("[C63] --at goes back to where a turn began, and undo takes that back; --fork begins a branch and touches nothing", () => {
  expect(sandbox.json(["replay", thread, "--at", "2", "--fork", "retry"])).toMatchObject({
    branch: { name: "retry" },
  });
  expect(sandbox.read("a.txt")).toBe("2\n");
  expect(sandbox.belay(["replay", thread, "--at", "2"]).status).toBe(3);
  expect(sandbox.json(["replay", thread, "--at", "2", "--yes"])).toMatchObject({ outcome: "applied" });
  expect([sandbox.read("a.txt"), sandbox.read("made-1.txt"), sandbox.read("made-2.txt")]).toEqual([
    "1\n",
    "made\n",
    undefined,
  ]);
  sandbox.ok("undo", "--yes");
  expect(sandbox.read("made-2.txt")).toBe("made\n");
  expect(sandbox.error(["replay", thread, "--at", "9"], 2).message).toContain("no turn 9");
  expect(sandbox.error(["replay", thread, "--fork", "x"], 2)).toMatchObject({ code: "USAGE" });
  expect(sandbox.error(["replay", "unknown"], 4)).toMatchObject({ code: "THREAD_NOT_FOUND" });
});
