/** What `belay stats` says about how Belay was used. */
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(() => sandbox[Symbol.dispose]());

test("[Y80] rollbacks and manual checkpoints are counted, also after a prune; nothing leaves the machine", async () => {
  expect(sandbox.ok("stats")).toMatch(/rolled back +never/);
  {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { id: thread } = await workspace.threads.open({ agent: "test", externalId: "one" });
    await workspace.threads.open({ agent: "test", externalId: "two" });
    await workspace.checkpoint({ thread });
    sandbox.write("a.txt", "changed\n");
    await workspace.restoreTo("1", { thread });
    await workspace.undo();
  }
  const counted = {
    threads: 2,
    rollbacks: 2,
    undos: 1,
    redos: 0,
    reverts: 0,
    resets: 0,
    approvals: 0,
    manualCheckpoints: 1,
    threadsWithRollback: 1,
    threadsWithManual: 1,
    rollbackShare: 0.5,
    manualShare: 0.5,
  };
  expect(sandbox.json(["stats"]).usage).toEqual(counted);
  expect(sandbox.ok("stats")).toMatch(/rolled back +2 times, 1 of them by undo, in 1 of 2 threads/);
  expect(sandbox.ok("stats")).toMatch(/manual +1 checkpoint, in 1 of 2 threads/);
  sandbox.ok("prune", "--keep-last", "1", "--yes");
  sandbox.ok("gc", "--yes");
  expect(sandbox.json(["stats"]).usage).toEqual(counted);
});
