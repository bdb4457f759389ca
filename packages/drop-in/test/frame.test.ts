/** What all fronts share: one workspace for a directory, protected when something is first stored. */
import { symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findCheckpoint, findThread, openThread } from "../src/frame/references.ts";
import { Root } from "../src/frame/root.ts";
import { bytesAt, textOf, withLazy } from "../src/frame/contents.ts";
import {
  CheckpointVersioning,
  GhostSnapshotManager,
  PersistentCheckpointManager,
} from "../src/code-buddy.ts";
import { rollbackAppliedDiff } from "../src/code-buddy-review.ts";
import { RewindManager } from "../src/code-buddy-rewind.ts";
import { SessionTimeline } from "../src/code-buddy-timeline.ts";
import { SnapshotManager } from "../src/mimir.ts";
import { CheckpointManager as SupervisorManager, RollbackEngine } from "../src/supervisor.ts";
import { closeDropIn, configureDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

test("[R352] a directory is protected by the first call that stores something, and the log says so", () => {
  const { root, options, lines, look } = makePlace({ a: "0\n" });
  const front = new Root(root, options);
  expect(front.known).toBeUndefined();
  expect(lines).toEqual([]);
  front.workspace.checkpoint({ description: "first" });
  expect(lines).toMatchObject([{ level: "info", event: "protected", root }]);
  expect(look((workspace) => workspace.list().map(({ description }) => description))).toEqual([
    "first",
    "Initial checkpoint",
  ]);
});

test("[R352] the whole file system and home directories are refused, and the log says why", () => {
  const { options, lines } = makePlace();
  for (const root of ["/", homedir()])
    expect(() => new Root(root, options).workspace).toThrow(
      expect.objectContaining({ code: "WORKSPACE_REFUSED" }),
    );
  expect(lines).toMatchObject([
    { level: "error", event: "not_opened", root: "/", reason: expect.stringContaining("whole file system") },
    { level: "error", event: "not_opened", reason: expect.stringContaining("home directory") },
  ]);
});

test("[R1787] where no directory is named it is the one the process runs in, and the log is told before it is used", async () => {
  const { root, options, lines, enter } = makePlace({ a: "0\n" });
  enter();
  const managers = [
    new PersistentCheckpointManager({}, options),
    new CheckpointVersioning({}, options),
    new RewindManager(options),
    new GhostSnapshotManager(undefined, options),
    new SessionTimeline("s", options),
    new SupervisorManager(options),
    new RollbackEngine(options),
    new SnapshotManager(options),
  ];
  expect([managers.length, rollbackAppliedDiff("cp_x", options).success, lines]).toEqual([8, false, []]);
  (managers[0] as PersistentCheckpointManager).createCheckpoint("first");
  expect(lines).toMatchObject([
    { level: "info", event: "root_guessed", root },
    { level: "info", event: "protected", root },
  ]);
  closeDropIn();
  await new SupervisorManager({ ...options, projectDir: root }).createManualCheckpoint({ id: "s1" });
  expect(lines.map(({ event }) => event)).toEqual(["root_guessed", "protected"]);
});

test("[C55] all fronts of a process share one workspace, also through a link; it opens again after the end", () => {
  const { root, options } = makePlace({ a: "0\n" });
  const link = join(root, "..", "link");
  symlinkSync(root, link);
  const [one, two] = [new Root(root, options), new Root(link, options)];
  expect(two.workspace).toBe(one.workspace);
  const before = one.workspace;
  closeDropIn();
  expect(one.workspace).not.toBe(before);
  expect(two.known).toBe(one.workspace);
});

test("[R352] a directory inside another workspace needs `nested`", () => {
  const { root, options, write } = makePlace({ "inner/a": "0\n" });
  write("b", "0\n");
  new Root(root, options).workspace.checkpoint();
  const inner = join(root, "inner");
  expect(() => new Root(inner, options).workspace).toThrow(
    expect.objectContaining({ code: "WORKSPACE_REFUSED" }),
  );
  expect(new Root(inner, { ...options, nested: true }).workspace.root).toBe(inner);
});

test("[R352] defaults of the process: home and log", () => {
  const { root, home, lines } = makePlace({ a: "0\n" });
  onTestFinished(() => configureDropIn({}));
  configureDropIn({ home, log: (line) => void lines.push(line) });
  expect(new Root(root).workspace.store).toContain(home);
  expect(lines).toHaveLength(1);
});

test("[R353] checkpoints are named by their id, its beginning, the forms of the fronts and aliases; not by numbers", () => {
  const { root, options } = makePlace({ a: "0\n" });
  const { workspace } = new Root(root, options);
  const { id } = workspace.checkpoint();
  workspace.addAlias(id, { origin: "old", name: "cp-old-17" });
  for (const text of [id, id.slice(0, 6), `snap-${id}`, `cp_mb3k2x1c_${id}`, "cp-old-17"])
    expect(findCheckpoint(workspace, text).id, text).toBe(id);
  for (const text of ["1", "@", id.slice(0, 3), "T1", "snap-", "nothing here"])
    expect(() => findCheckpoint(workspace, text), text).toThrow(
      expect.objectContaining({ code: "CHECKPOINT_NOT_FOUND" }),
    );
});

test("[R353] conversations are named by the caller's id or by Belay's", () => {
  const { root, options } = makePlace({ a: "0\n" });
  const { workspace } = new Root(root, options);
  const id = openThread(workspace, "dialogs", "01J");
  expect(openThread(workspace, "dialogs", "01J")).toBe(id);
  for (const text of ["01J", id, id.slice(0, 8)]) expect(findThread(workspace, "dialogs", text)?.id).toBe(id);
  expect(findThread(workspace, "dialogs", "01K")).toBeUndefined();
});

test("[R353] contents are read when they are looked at; what is not UTF-8 is base64", () => {
  const { root, options, write } = makePlace({ a: "0\n" });
  write("b", Buffer.from([0xff, 0xfe]));
  const { workspace } = new Root(root, options);
  const { id } = workspace.checkpoint();
  let reads = 0;
  const file = withLazy(
    { path: "a" },
    {
      content: () => {
        reads += 1;
        return textOf(bytesAt(workspace, id, "a")!).content;
      },
    },
  );
  expect([reads, file.content, file.content, reads]).toEqual([0, "0\n", "0\n", 1]);
  expect(JSON.parse(JSON.stringify(file))).toEqual({ path: "a", content: "0\n" });
  expect(textOf(bytesAt(workspace, id, "b")!)).toEqual({ content: "//4=", encoding: "base64" });
  expect(bytesAt(workspace, id, "c")).toBeNull();
});

test("[R353] paths may be absolute or relative, through a link too; outside is outside", () => {
  const { root, options } = makePlace({ "src/a": "0\n" });
  const link = join(root, "..", "link");
  symlinkSync(root, link);
  const front = new Root(root, options);
  for (const path of ["src/a", join(root, "src/a"), join(link, "src/a"), "src/../src/a"])
    expect(front.inside(path), path).toBe("src/a");
  expect(front.inside("new/deep/file")).toBe("new/deep/file");
  for (const path of ["../a", "/etc/passwd"]) expect(front.inside(path), path).toBeUndefined();
  expect(() => front.insideAll(["../a"])).toThrow(expect.objectContaining({ code: "PATH_OUTSIDE" }));
});
