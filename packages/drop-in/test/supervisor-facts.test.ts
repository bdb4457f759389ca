/** What the supervisor's interceptor captures by its tools' inputs, and what its storage keeps. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  CheckpointInterceptor,
  CheckpointManager,
  CheckpointStorage,
  RollbackEngine,
  type Checkpoint,
} from "../src/supervisor.ts";
import { makePlace } from "./support/place.ts";

const S1 = { id: "s1" };

function supervised(files: Readonly<Record<string, string>>) {
  const place = makePlace(files);
  const options = { projectDir: place.root, ...place.options };
  return { ...place, manager: new CheckpointManager(options), engine: new RollbackEngine(options) };
}

test.each([
  ["Edit", "file_path"],
  ["Write", "file_path"],
  ["NotebookEdit", "notebook_path"],
])("[Y46] [Y47] the path that %s names is captured although it is left out by default", async (tool, key) => {
  const { manager, engine, root, write, read } = supervised({
    "dist/named.js": "old\n",
    "dist/other.js": "o\n",
  });
  const interceptor = new CheckpointInterceptor(manager);
  await interceptor.beforeToolExecution(S1, tool, { [key]: join(root, "dist/named.js") });
  write("dist/named.js", "new\n");
  write("dist/other.js", "mine\n");
  await interceptor.afterToolExecution(S1, tool, {});
  const [before] = await manager.listCheckpoints("s1");
  expect(before!.files).toMatchObject([{ path: "dist/named.js", content: "old\n" }]);
  await engine.executeRollback(await engine.createRollbackPlan(S1, before!));
  expect([read("dist/named.js"), read("dist/other.js")]).toEqual(["old\n", "mine\n"]);
});

test("[Y32] the storage keeps files compressed, and git's state beside them", async () => {
  const text = Array.from({ length: 200_000 }, (_, at) => `line ${at} of many\n`).join("");
  const { manager, root, look } = supervised({ "long.txt": text });
  execFileSync("git", ["init", "-q", "-b", "topic"], { cwd: root, timeout: 20_000 });
  const { git, sizeBytes } = await manager.createManualCheckpoint(S1);
  expect([git?.branch, sizeBytes]).toEqual(["topic", text.length]);
  expect(look((workspace) => workspace.upkeep.stats().diskBytes)).toBeLessThan(text.length / 2);
});

test("[Y32] [Y43] two checkpoints are compared with each other, not with the disk", async () => {
  const { manager, write } = supervised({ "a.ts": "x\n" });
  const first = await manager.createManualCheckpoint(S1);
  write("a.ts", "y\n");
  const second = await manager.createManualCheckpoint(S1);
  write("a.ts", "z\n");
  const [between] = (await manager.diff("s1", first.id, second.id)).files;
  expect(between!.diff).toMatch(/-x\n\+y\n$/);
  const [present] = (await manager.diff("s1", second.id)).files;
  expect(present!.diff).toMatch(/-y\n\+z\n$/);
});

function storedAs(id: string, content: string): Checkpoint {
  return {
    id,
    sessionId: "s1",
    type: "auto",
    messageIndex: 0,
    files: [{ path: "a.ts", content, encoding: "utf-8", mode: 0o644, hash: "" }],
    createdAt: "2026-05-01T10:00:00Z",
    sizeBytes: 2,
  };
}

test.each(["1", "cp", "1714557600000", "@1", "kkkk"])(
  "[R2491] [Y43] what a caller stores as %s is loaded by that id, in each session its own, and never replaced",
  async (id) => {
    const { root, options, engine, manager, read, write } = supervised({ "a.ts": "now\n" });
    const storage = (session: string) => new CheckpointStorage(session, { projectDir: root, ...options });
    await storage("s1").storeCheckpoint(storedAs(id, "1\n"));
    await storage("s2").storeCheckpoint(storedAs(id, "2\n"));
    for (const [session, content] of [
      ["s1", "1\n"],
      ["s2", "2\n"],
    ] as const) {
      const loaded = await storage(session).loadCheckpoint(id);
      expect(loaded).toMatchObject({ id, sessionId: session, files: [{ path: "a.ts", content }] });
      const plan = await engine.createRollbackPlan({ id: session }, loaded);
      expect(plan.checkpointId).toBe(id);
      await engine.executeRollback(plan);
      expect([read("a.ts"), await engine.verify(plan)]).toEqual([content, { ok: true, problems: [] }]);
    }
    await storage("s1").storeCheckpoint(storedAs(id, "1\n"));
    await expect(storage("s1").storeCheckpoint(storedAs(id, "other\n"))).rejects.toThrow("other contents");
    expect(await manager.listCheckpoints("s1")).toMatchObject([{ id, files: [{ content: "1\n" }] }]);
    // one that was captured here is stored already, whatever the files are by now
    const taken = JSON.parse(JSON.stringify(await manager.createManualCheckpoint(S1))) as Checkpoint;
    write("a.ts", "later\n");
    await storage("s1").storeCheckpoint(taken);
    expect(await manager.listCheckpoints("s1")).toHaveLength(2);
  },
);
