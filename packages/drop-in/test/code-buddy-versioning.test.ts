/** Code Buddy's versions, over Belay's branches and tags. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  CheckpointVersioning,
  getCheckpointVersioning,
  PersistentCheckpointManager,
  resetCheckpointVersioning,
  type VersioningConfig,
} from "../src/code-buddy.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

function manage(config: VersioningConfig = {}) {
  const place = makePlace({ a: "one\n", b: "same\n" });
  place.enter();
  const checkpoints = new PersistentCheckpointManager({}, place.options);
  const versioning = new CheckpointVersioning(config, place.options);
  const version = (description: string, text: string) => {
    place.write("a", text);
    return versioning.createVersion(checkpoints.createCheckpoint(description));
  };
  return { ...place, checkpoints, versioning, version };
}

test("[C40] [C41] a version has its parent, its branch and what is kept with it; it is there at once", () => {
  const { versioning, checkpoints, look } = manage();
  const checkpoint = checkpoints.createCheckpoint("Initial project setup");
  const v1 = versioning.createVersion(checkpoint, {
    name: "v1.0",
    description: "First stable version",
    metadata: { author: "ann", tags: ["stable"], custom: { ticket: 7 } },
  });
  expect(v1).toMatchObject({
    id: expect.stringMatching(/^v_[0-9a-f]{12}$/),
    name: "v1.0",
    description: "First stable version",
    parentId: null,
    branchName: "main",
    checkpoint: { id: checkpoint.id },
    metadata: { author: "ann", tags: ["stable"], custom: { ticket: 7 } },
    createdAt: expect.any(Date),
  });
  const v2 = versioning.createVersion(checkpoint);
  expect(v2).toMatchObject({ parentId: v1.id, description: "Initial project setup" });
  expect(v2.id).not.toBe(v1.id);
  closeDropIn();
  expect(versioning.getVersion(v1.id)).toMatchObject({ name: "v1.0" });
  expect(look((workspace) => workspace.resolve(v1.id).description)).toBe("Initial project setup");
  expect(versioning.formatVersion(v1)).toContain(
    `${v1.id.slice(0, 10)} (v1.0) - First stable version [stable] (`,
  );
});

test("[C42] [C43] [C50] branches begin with a version; switching moves no file; the history shows where it comes from", () => {
  const { versioning, version, read, look } = manage();
  const v1 = version("first", "one\n");
  expect(versioning.createBranch("feature/new-ui", v1.id, "a try")).toMatchObject({
    name: "feature/new-ui",
    headVersionId: v1.id,
    description: "a try",
  });
  expect(() => versioning.createBranch("feature/new-ui")).toThrow("Branch already exists: feature/new-ui");
  expect(() => versioning.createBranch("x", "v_nothing")).toThrow("Version not found: v_nothing");
  const v2 = version("on main", "two\n");
  versioning.switchBranch("feature/new-ui");
  expect([versioning.getCurrentBranch(), read("a")]).toEqual(["feature/new-ui", "two\n"]);
  expect(() => versioning.switchBranch("nowhere")).toThrow("Branch not found: nowhere");
  const v3 = version("on the feature", "three\n");
  expect(v3).toMatchObject({ parentId: v1.id, branchName: "feature/new-ui" });
  expect(versioning.getVersionHistory().map(({ id }) => id)).toEqual([v3.id, v1.id]);
  expect(versioning.getVersionHistory({ branch: "main" }).map(({ id }) => id)).toEqual([v2.id, v1.id]);
  expect(versioning.getVersionHistory({ limit: 1 })).toHaveLength(1);
  expect(versioning.getCurrentVersion()?.id).toBe(v3.id);
  expect(look((workspace) => workspace.branches().map(({ name }) => name))).toEqual([
    "main",
    "feature/new-ui",
  ]);
  expect(() => versioning.deleteBranch("main")).toThrow("Cannot delete default branch");
  expect(() => versioning.deleteBranch("feature/new-ui")).toThrow("Cannot delete current branch");
  versioning.switchBranch("main");
  expect([versioning.deleteBranch("feature/new-ui"), versioning.deleteBranch("feature/new-ui")]).toEqual([
    true,
    false,
  ]);
  expect(versioning.getVersion(v3.id)?.id).toBe(v3.id);
  expect(versioning.getStats()).toEqual({
    totalVersions: 3,
    totalBranches: 1,
    totalTags: 0,
    versionsPerBranch: { main: 2, "feature/new-ui": 1 },
  });
});

test("[C44] tags are unique, saved at once, and Belay's own", () => {
  const { versioning, version, look } = manage();
  const v1 = version("first", "one\n");
  versioning.createTag(v1.id, "release-1.0");
  expect(() => versioning.createTag(v1.id, "release-1.0")).toThrow("Tag already exists: release-1.0");
  expect(() => versioning.createTag("v_nothing", "x")).toThrow("Version not found: v_nothing");
  closeDropIn();
  expect(versioning.getVersionByTag("release-1.0")?.id).toBe(v1.id);
  expect(versioning.getTags()).toEqual(new Map([["release-1.0", v1.id]]));
  expect(look((workspace) => workspace.resolve("release-1.0").tags)).toEqual(["release-1.0"]);
  expect([versioning.deleteTag("release-1.0"), versioning.deleteTag("release-1.0")]).toEqual([true, false]);
  expect(versioning.getVersionByTag("release-1.0")).toBeUndefined();
});

test("[R354] [C45] original 28: a comparison has real hunks: one line that was put in front shifts nothing", () => {
  const { versioning, version, root, write, remove } = manage();
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  write("gone", "x\n");
  const v1 = version("first", `${lines.join("\n")}\n`);
  write("new", "n\n");
  remove("gone");
  const v2 = version(
    "second",
    `${["put in front", ...lines.slice(0, 10), "other", ...lines.slice(11)].join("\n")}\n`,
  );
  const diff = versioning.diff(v1.id, v2.id);
  expect(diff).toMatchObject({
    added: [join(root, "new")],
    modified: [join(root, "a")],
    deleted: [join(root, "gone")],
    unchanged: [join(root, "b")],
  });
  expect(diff.details.find(({ type }) => type === "modified")?.hunks).toEqual([
    { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: ["+ put in front"] },
    { oldStart: 11, oldLines: 1, newStart: 12, newLines: 1, lines: ["- line 10", "+ other"] },
  ]);
  expect(diff.details.find(({ type }) => type === "added")).toMatchObject({ newContent: "n\n" });
  expect(diff.details.find(({ type }) => type === "deleted")).toMatchObject({ oldContent: "x\n" });
  expect(() => versioning.diff(v1.id, "v_nothing")).toThrow("One or both versions not found");
});

test("[C46] [C51] a checkout is exact and can be undone", async () => {
  const { versioning, version, root, read, write, exists, look } = manage();
  const events: unknown[] = [];
  for (const name of ["version-created", "tag-created", "branch-created", "branch-switched", "checkout"])
    versioning.on(name, () => events.push(name));
  const v1 = version("first", "one\n");
  versioning.createTag(v1.id, "t");
  versioning.createBranch("x");
  versioning.switchBranch("x");
  version("second", "two\n");
  write("later", "x\n");
  expect(await versioning.checkout(v1.id)).toMatchObject({
    success: true,
    restored: [join(root, "a"), `Deleted: ${join(root, "later")}`],
    errors: [],
  });
  expect([read("a"), exists("later")]).toEqual(["one\n", false]);
  look((workspace) => workspace.undo());
  expect([read("a"), read("later")]).toEqual(["two\n", "x\n"]);
  expect(await versioning.checkout("v_nothing")).toEqual({
    success: false,
    restored: [],
    errors: ["Version not found: v_nothing"],
  });
  expect(events).toEqual([
    "version-created",
    "tag-created",
    "branch-created",
    "branch-switched",
    "version-created",
    "checkout",
  ]);
});

test("[R354] [C46] original 27: a checkout that cannot be done whole is taken back, and deletes nothing", async () => {
  const { versioning, version, root, read, write } = manage();
  const v1 = version("first", "one\n");
  write("later", "x\n");
  version("second", "two\n");
  execFileSync("chattr", ["+i", join(root, "later")]);
  try {
    const outcome = await versioning.checkout(v1.id);
    expect(outcome).toMatchObject({ success: false, restored: [] });
    expect(outcome.errors.at(-1)).toBe("Rolled back due to failure");
    expect([read("a"), read("later")]).toEqual(["two\n", "x\n"]);
  } finally {
    execFileSync("chattr", ["-i", join(root, "later")]);
  }
});

test("[C47] [C51] [R356] the list is written for other tools, without contents and never captured; the store is the truth", async () => {
  const { versioning, version, root, checkpoints } = manage();
  const v1 = version("first", "one\n");
  await versioning.save();
  const file = join(root, ".codebuddy/versions/versions.json");
  const state = JSON.parse(readFileSync(file, "utf8"));
  expect(state).toMatchObject({
    currentBranch: "main",
    branches: [["main", { headVersionId: v1.id }]],
    tags: [],
  });
  expect(state.versions[0]).toMatchObject([v1.id, { checkpoint: { id: v1.checkpoint.id, files: [] } }]);
  expect(checkpoints.createCheckpoint("later").files.map(({ path }) => path)).toEqual([
    join(root, "a"),
    join(root, "b"),
  ]);
  writeFileSync(file, "{ broken");
  const errors: unknown[] = [];
  versioning.on("load-error", (error) => errors.push(error));
  await versioning.load();
  expect([errors.length, versioning.getVersion(v1.id)?.id]).toEqual([1, v1.id]);
});

test("[C48] [R356] the oldest go, parents are linked again; tagged ones and heads stay, and so do their checkpoints", () => {
  const { versioning, version, checkpoints } = manage({ maxVersionsPerBranch: 3 });
  const v1 = version("1", "1\n");
  versioning.createTag(v1.id, "kept");
  const [v2, v3, v4, v5] = ["2", "3", "4", "5"].map((name) => version(name, `${name}\n`));
  expect([v1, v2!, v3!, v4!, v5!].map(({ id }) => versioning.getVersion(id) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
    true,
  ]);
  expect(versioning.getVersionHistory().map(({ id }) => id)).toEqual([v5!.id, v4!.id, v3!.id, v1.id]);
  expect(versioning.prune(1)).toBe(2);
  expect(versioning.getVersionHistory().map(({ id }) => id)).toEqual([v5!.id, v1.id]);
  expect(checkpoints.deleteCheckpoint(v5!.checkpoint.id)).toBe(false);
  checkpoints.clearCheckpoints();
  expect(checkpoints.getCheckpoints().map(({ description }) => description)).toEqual(["1", "5"]);
});

test("[C49] the nearest version that two come from", () => {
  const { versioning, version } = manage();
  const v1 = version("first", "1\n");
  const v2 = version("second", "2\n");
  versioning.createBranch("x");
  const v3 = version("on main", "3\n");
  versioning.switchBranch("x");
  const v4 = version("on x", "4\n");
  expect(versioning.findCommonAncestor(v3.id, v4.id)?.id).toBe(v2.id);
  expect(versioning.findCommonAncestor(v1.id, v4.id)?.id).toBe(v1.id);
  expect(versioning.findCommonAncestor(v1.id, "v_nothing")).toBeUndefined();
});

test("[C54] [R353] one versioning a process; a checkpoint object made elsewhere is taken over", () => {
  const { options, root, write, enter } = makePlace({ a: "now\n" });
  enter();
  const versioning = getCheckpointVersioning({ defaultBranch: "trunk" }, options);
  expect(getCheckpointVersioning()).toBe(versioning);
  const version = versioning.createVersion({
    id: "cp_old_1a2b3c4d",
    timestamp: new Date("2026-01-01T00:00:00Z"),
    description: "by other code",
    files: [{ path: join(root, "a"), content: "then\n", existed: true }],
    workingDirectory: root,
  });
  expect(version).toMatchObject({ branchName: "trunk", description: "by other code" });
  expect(version.checkpoint.files).toMatchObject([{ path: join(root, "a"), content: "then\n" }]);
  write("a", "later\n");
  expect(versioning.getBranches().map(({ name }) => name)).toEqual(["trunk"]);
  resetCheckpointVersioning();
});

test("[C52] a merge brings a branch's work in as a version, and a conflict changes nothing", async () => {
  const { versioning, version, checkpoints, root, write, read, exists, look } = manage();
  version("first", "one\n");
  versioning.createBranch("feature");
  versioning.switchBranch("feature");
  write("new", "by the feature\n");
  versioning.createVersion(checkpoints.createCheckpoint("on the feature"));
  const state = () => [read("a"), exists("new")];
  look((workspace) => workspace.restore(workspace.planSwitch("main")));
  expect(state()).toEqual(["one\n", false]);
  const merged = await versioning.merge("feature", { message: "bring it in" });
  expect(merged).toMatchObject({
    success: true,
    merged: [join(root, "new")],
    conflicts: [],
    version: { description: "bring it in", branchName: "main" },
  });
  expect(state()).toEqual(["one\n", true]);
  expect(await versioning.merge("nowhere")).toMatchObject({
    success: false,
    errors: ["Branch not found: nowhere"],
  });
  versioning.createBranch("other");
  version("on main", "main's\n");
  look((workspace) => workspace.restore(workspace.planSwitch("other")));
  version("on the other", "the other's\n");
  look((workspace) => workspace.restore(workspace.planSwitch("main")));
  expect(await versioning.merge("other")).toMatchObject({
    success: false,
    merged: [],
    conflicts: [join(root, "a")],
  });
  expect(read("a")).toBe("main's\n");
});

test("[C52] [R2601] after a checkout of an older version a branch is still what its newest one has", async () => {
  const { versioning, version, checkpoints, root, write, exists } = manage();
  const first = version("first", "one\n");
  versioning.createBranch("feature", first.id);
  versioning.switchBranch("feature");
  write("new", "by the feature\n");
  const second = versioning.createVersion(checkpoints.createCheckpoint("on the feature"));
  await versioning.checkout(first.id);
  versioning.switchBranch("main");
  expect(exists("new")).toBe(false);
  const merged = await versioning.merge("feature");
  expect(merged).toMatchObject({
    success: true,
    merged: [join(root, "new")],
    version: { branchName: "main" },
  });
  expect(exists("new")).toBe(true);
  expect(versioning.diff(second.id, merged.version!.id)).toMatchObject({
    added: [],
    modified: [],
    deleted: [],
  });
  // what was merged is not taken out again by a second time
  expect(await versioning.merge("feature")).toEqual({ success: true, merged: [], conflicts: [], errors: [] });
  expect(exists("new")).toBe(true);
});

test("[C52] [R2601] what was merged with work that is in no version is not taken out by the newest version", async () => {
  const { versioning, version, checkpoints, write, exists, look } = manage();
  const first = version("first", "one\n");
  versioning.createBranch("feature", first.id);
  versioning.switchBranch("feature");
  write("new", "by the feature\n");
  versioning.createVersion(checkpoints.createCheckpoint("on the feature"));
  write("later", "in no version\n");
  look((workspace) => workspace.restore(workspace.planSwitch("main")));
  look((workspace) => workspace.merge(workspace.planMerge(["feature"])));
  expect(exists("later")).toBe(true);
  expect(await versioning.merge("feature")).toMatchObject({ success: true, merged: [] });
  expect(exists("later")).toBe(true);
});

test("[C52] [R2601] a merge of what the files have already makes a version of it", async () => {
  const { versioning, version, checkpoints, write } = manage();
  const first = version("first", "one\n");
  versioning.createBranch("feature", first.id);
  versioning.switchBranch("feature");
  write("new", "by the feature\n");
  const second = versioning.createVersion(checkpoints.createCheckpoint("on the feature"));
  versioning.switchBranch("main");
  const merged = await versioning.merge("feature");
  expect(merged).toMatchObject({
    success: true,
    merged: [],
    version: { branchName: "main", parentId: first.id },
  });
  expect(versioning.diff(second.id, merged.version!.id)).toMatchObject({ added: [], deleted: [] });
});
